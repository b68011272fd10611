//! What a rule looks at besides its operands, and what it records: the clauses and questions that an answer rests on.

use ptxsmith_syntax::Span;

use crate::{
    clause::{Clause, ClauseSet},
    reading::{Question, QuestionSet, Readings},
    refusal::{RefusalClass, Stop},
    value::{Address, Kind, Value},
};

/// What an evaluation rested on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The clauses used.
    pub clauses: ClauseSet,
    /// The open questions met.
    pub questions: QuestionSet,
}

impl Trace {
    /// What either evaluation rested on.
    pub fn union(self, other: Trace) -> Trace {
        Trace { clauses: self.clauses.union(other.clauses), questions: self.questions.union(other.questions) }
    }
}

/// What a rule may look at besides its operands: the reading and the place, and the trace that it writes to.
pub struct Step<'a> {
    /// The answers to the open questions.
    pub readings: &'a Readings,
    /// What is recorded.
    pub trace: &'a mut Trace,
    /// The place of the operation.
    pub span: Span,
    /// The first refusal that an [`Value::Undefined`] stands for.
    pub pending: &'a mut Option<Stop>,
}

impl Step<'_> {
    /// Records that the clause was used.
    pub fn uses(&mut self, clause: Clause) {
        self.trace.clauses.insert(clause);
    }

    /// Records that the clause was used if it was. Branch-free: the condition is unpredictable.
    pub(crate) fn uses_if(&mut self, used: bool, clause: Clause) {
        self.trace.clauses.insert_if(used, clause);
    }

    /// Records that the open question was met.
    pub fn meets(&mut self, question: Question) {
        self.trace.questions.insert(question);
    }

    /// Refuses the operation at hand under this clause.
    ///
    /// # Errors
    /// Always.
    pub fn refuse<T>(&mut self, class: RefusalClass, clause: Clause) -> Result<T, Stop> {
        self.uses(clause);
        Err(Stop::refused(class, clause, self.span))
    }

    /// A value that is refused if it matters.
    pub(crate) fn undefined(&mut self, class: RefusalClass, clause: Clause, signed: bool) -> Value {
        self.uses(clause);
        self.pending.get_or_insert(Stop::refused(class, clause, self.span));
        Value::Undefined(Kind::integer(signed))
    }
}

/// Where a list of initializers stands when its next entry is placed. Counted in elements of the level below.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    /// Where the list starts, in scalars from the start of the variable.
    pub start: u64,
    /// How many scalars one entry of the list holds.
    pub stride: u64,
    /// Which entry of the list this is.
    pub index: u64,
    /// How many scalars were written before, in the whole variable.
    pub written: u64,
}

/// A scalar as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// These bits, of which the type's low bytes count.
    Bits(u64),
    /// These bits of a type of 128.
    Wide(u128),
    /// An address, or one byte of it.
    Address(Address, Option<u8>),
}

/// The result of a rule.
pub type Ruled<T> = Result<T, Stop>;
