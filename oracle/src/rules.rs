//! The rules of 4.5, of value placement and of operands, one entry a rule, in tables whose entries can be changed.
//!
//! [`Rules::specification`] is what the text says. Another table, with an entry changed, is another language: a mutant that
//! tests must tell from the original, or the exact claim that a known deviation makes. A change is given the entry that it
//! replaces, so that two changes of one entry work together.

mod entry;
mod expressions;
mod layout;
mod operands;
mod specification;

pub use expressions::{Expressions, Grouping, Infix, Mask, Number, Prefix, Store, Ternary, WarpSize};
pub use layout::{AddressOf, Dimension, Layout, Numbered, Place, Size, SlotOf};
pub use operands::{
    ElementNamed, ElementOffset, FunctionOperand, Index, IndexOperator, Moved, Offset, OffsetFits, Operands,
    Outside, PartOfScalar, Predicate,
};

use crate::reading::Readings;

/// A table of rules. Every entry is a rule of the specification, under the changes that were made to it.
#[derive(Clone, Copy)]
pub struct Rules {
    /// The answers to the open questions.
    pub readings: Readings,
    /// The rules of constant expressions (4.5, 5.4.4).
    pub expressions: Expressions,
    /// The rules of declarations and initializers (5.4).
    pub layout: Layout,
    /// The rules of operands (6.4).
    pub operands: Operands,
}

impl Rules {
    /// The rules as the specification gives them, under a reading.
    pub const fn specification(readings: Readings) -> Rules {
        Rules {
            readings,
            expressions: Expressions::SPECIFICATION,
            layout: Layout::SPECIFICATION,
            operands: Operands::SPECIFICATION,
        }
    }

    /// These rules with a change.
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
