//! The context of a rule besides its operands, and its record of the clauses and questions that an answer rests on.

use ptxsmith_syntax::Span;

use crate::{
    clause::{Clause, ClauseSet},
    reading::{Question, QuestionSet, Readings},
    refusal::{RefusalClass, Stop},
    value::{AddressValue, Value, ValueKind},
};

/// The clauses and questions that an answer rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The clauses used.
    pub clauses: ClauseSet,
    /// The open questions met.
    pub questions: QuestionSet,
}

impl Trace {
    /// Combines the traces of two evaluations.
    pub fn union(self, other: Trace) -> Trace {
        Trace { clauses: self.clauses.union(other.clauses), questions: self.questions.union(other.questions) }
    }
}

/// The context of a rule besides its operands: the chosen interpretations, the position, and the trace that it extends.
pub struct Step<'a> {
    /// The chosen interpretations of the open questions.
    pub readings: &'a Readings,
    /// The trace that the rule extends.
    pub trace: &'a mut Trace,
    /// The position of the operation.
    pub span: Span,
    /// The refusal behind the first [`Value::Undefined`], reported if the value matters.
    pub pending: &'a mut Option<Stop>,
}

impl Step<'_> {
    /// Records that the clause was used.
    pub fn uses(&mut self, clause: Clause) {
        self.trace.clauses.insert(clause);
    }

    /// Records the clause if `used`. Branch-free, because the condition is unpredictable.
    pub(crate) fn uses_if(&mut self, used: bool, clause: Clause) {
        self.trace.clauses.insert_if(used, clause);
    }

    /// Records that the open question was met.
    pub fn meets(&mut self, question: Question) {
        self.trace.questions.insert(question);
    }

    /// Refuses the current operation under this clause.
    ///
    /// # Errors
    /// Always.
    pub fn refuse<T>(&mut self, class: RefusalClass, clause: Clause) -> Result<T, Stop> {
        self.uses(clause);
        Err(Stop::refused(class, clause, self.span))
    }

    /// Returns an undefined value, which is refused only if it matters.
    pub(crate) fn undefined(&mut self, class: RefusalClass, clause: Clause, signed: bool) -> Value {
        self.uses(clause);
        self.pending.get_or_insert(Stop::refused(class, clause, self.span));
        Value::Undefined(ValueKind::integer(signed))
    }
}

/// The position in a list of initializers at which the next entry is placed.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// The start of the list, in scalars from the start of the variable.
    pub start: u64,
    /// The number of scalars in one entry of the list.
    pub stride: u64,
    /// The index of the entry in the list.
    pub index: u64,
    /// The number of scalars written before, in the whole variable.
    pub written: u64,
}

/// A scalar value in its stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The bits of a type of at most 64 bits. Only as many low bytes as the type has are stored.
    Bits(u64),
    /// The bits of a 128-bit type.
    Wide(u128),
    /// An address, or one byte of it.
    Address(AddressValue, Option<u8>),
}

/// The result of a rule.
pub type Ruled<T> = Result<T, Stop>;
