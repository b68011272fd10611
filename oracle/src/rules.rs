//! Tables of the rules of 4.5, of value placement and of operands: one entry per rule. Entries can be changed.
//!
//! [`Rules::specification`] is the table of the specification. A table with a changed entry describes another language:
//! a mutant that tests must tell from the original, or the exact claim of a known deviation. A change receives the
//! entry that it replaces, so that two changes of the same entry combine.

mod entry;
mod expressions;
mod layout;
mod operands;
mod specification;

pub use expressions::{ExpressionRules, Grouping, Infix, Mask, Number, Prefix, Store, Ternary, WarpSize};
pub use layout::{AddressOf, Dimension, LayoutRules, Numbered, Place, Size, SlotOf};
pub use operands::{
    ElementNamed, ElementOffset, FunctionOperand, Index, IndexOperator, Moved, Offset, OffsetFits,
    OperandRules, Outside, PartOfScalar, Predicate,
};

use crate::reading::{Question, QuestionSet, Readings};

/// A table of rules. Every entry is a rule of the specification with the changes made to it.
#[derive(Clone, Copy)]
pub struct Rules {
    /// The chosen interpretations of the open questions.
    pub readings: Readings,
    /// The questions whose answers are given: no other answer to them explains a difference.
    pub given: QuestionSet,
    /// The rules of constant expressions (4.5, 5.4.4).
    pub expressions: ExpressionRules,
    /// The rules of declarations and initializers (5.4).
    pub layout: LayoutRules,
    /// The rules of operands (6.4).
    pub operands: OperandRules,
}

impl Rules {
    /// Returns the rules of the specification under these interpretations.
    pub const fn specification(readings: Readings) -> Rules {
        Rules {
            readings,
            given: QuestionSet::EMPTY,
            expressions: ExpressionRules::SPECIFICATION,
            layout: LayoutRules::SPECIFICATION,
            operands: OperandRules::SPECIFICATION,
        }
    }

    /// Returns the rules of the specification with given answers to some questions.
    pub fn answered(answers: &[(Question, usize)]) -> Rules {
        let mut rules = Rules::default();
        for &(question, answer) in answers {
            rules.readings = rules.readings.with(question, answer).unwrap_or(rules.readings);
            rules.given.insert(question);
        }
        rules
    }

    /// Returns a copy of these rules with a change applied.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&mut Rules)) -> Rules {
        let mut changed = *self;
        change(&mut changed);
        changed
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::specification(Readings::default())
    }
}
