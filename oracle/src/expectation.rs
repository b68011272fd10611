//! The oracle's answer for a module, and its JSON form.

pub use hex::encode as hex;
use ptxsmith_model::{self as model, Basis, ModuleAnswer, Ruling, UnmodelledPart};
use ptxsmith_syntax::{Lines, StateSpace, Text};

use crate::{reading::Readings, refusal::Refusal, step::Trace, undecided::Undecided};

/// The oracle's answer for a whole module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The specification accepts the module.
    Accepted {
        /// Every module-scope variable in `.global` or `.const` that has storage here, in source order.
        variables: Vec<Variable>,
        /// Variables without a rule, and statements that may declare variables.
        unmodelled: Vec<Undecided>,
        /// The clauses and questions that the answer rests on, including declarations without storage.
        trace: Trace,
    },
    /// The specification rejects the module; the first violation found.
    Refused {
        /// The violation and its position.
        refusal: Refusal,
        /// The clauses and questions that the answer rests on.
        trace: Trace,
    },
    /// No rule covers the module as a whole.
    Unmodelled {
        /// The reason.
        reason: &'static str,
        /// The parts without a rule.
        parts: Vec<Undecided>,
    },
}

/// The layout and the contents that the specification requires of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name of the variable.
    pub name: Text,
    /// The state space.
    pub space: StateSpace,
    /// The size in bytes. `u64::MAX` stands for every size that 64 bits cannot hold.
    pub size: u64,
    /// The guaranteed alignment in bytes.
    pub align: u64,
    /// All bytes in memory order, zero where an address goes. Empty for a variable of more than
    /// [`MAX_BYTES`](crate::MAX_BYTES): only its layout is computed, and it is also listed as unmodelled.
    pub bytes: Vec<u8>,
    /// The addresses that it holds, sorted by offset.
    pub addresses: Vec<Address>,
    /// The clauses and questions that the contents rest on.
    pub trace: Trace,
}

/// An address stored in a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The byte offset of the slot within the variable.
    pub offset: u64,
    /// The width of the slot in bytes.
    pub width: u8,
    /// The name of the variable or function.
    pub symbol: Text,
    /// The number of bytes added to the address.
    pub addend: i64,
    /// Whether it is the generic address.
    pub generic: bool,
    /// The byte of the address (0 is the lowest) that `mask()` selects.
    pub byte: Option<u8>,
    /// The number of low bits of the addend that count: 64 under the rules of the specification.
    pub addend_bits: u32,
}

/// Returns the basis of an answer by name: the clauses used, and the interpretation of each open question met.
pub(crate) fn basis(trace: &Trace, readings: &Readings) -> Basis {
    let answers = trace.questions.iter().map(|question| {
        let answer = question.answers()[readings.answer(question)];
        (question.name().to_owned(), answer.to_owned())
    });
    Basis {
        clauses: trace.clauses.iter().map(|clause| clause.id().to_owned()).collect(),
        readings: answers.collect(),
    }
}

impl Address {
    /// Converts the address for reports.
    pub(crate) fn answer(&self) -> model::Address {
        let Address { offset, width, ref symbol, addend, generic, byte, .. } = *self;
        model::Address { offset, width, symbol: symbol.to_string(), addend, generic: Some(generic), byte }
    }
}

impl Expectation {
    /// Returns the clauses and questions that the answer rests on.
    pub fn trace(&self) -> Trace {
        match self {
            Expectation::Accepted { trace, .. } | Expectation::Refused { trace, .. } => *trace,
            Expectation::Unmodelled { .. } => Trace::default(),
        }
    }

    /// Converts the answer for reports, with clauses and interpretations. `text` is the source of the module;
    /// `readings` are the interpretations under which it was evaluated.
    pub fn answer(&self, text: &str, readings: &Readings) -> ModuleAnswer {
        let mut answer = ModuleAnswer::default();
        match self {
            Expectation::Accepted { variables, unmodelled, .. } => {
                for variable in variables {
                    answer.variables.insert(variable.name.clone(), variable.answer());
                    answer.variable_bases.insert(variable.name.clone(), basis(&variable.trace, readings));
                }
                let unmodelled = unmodelled.iter().map(|undecided| UnmodelledPart {
                    variable: Some(undecided.part.clone()),
                    kernel: None,
                    reason: undecided.reason.to_owned(),
                });
                answer.unmodelled = unmodelled.collect();
            }
            Expectation::Refused { refusal, trace } => {
                answer.ruling = Ruling::Refused(model::ExpectedRefusal {
                    class: refusal.class.name().to_owned(),
                    line: Lines::new(text).line(refusal.span.start),
                    summary: refusal.class.summary().to_owned(),
                    basis: Basis { clauses: vec![refusal.clause.id().to_owned()], ..basis(trace, readings) },
                });
            }
            Expectation::Unmodelled { reason, .. } => {
                answer.ruling = Ruling::Unmodelled((*reason).to_owned());
            }
        }
        answer
    }

    /// Returns the [answer](Expectation::answer) as `ptxsmith.module/1`.
    pub fn to_json(&self, text: &str, readings: &Readings) -> serde_json::Value {
        self.answer(text, readings).into()
    }
}

impl Variable {
    /// Whether its bytes are known, and not only its layout.
    pub fn has_content(&self) -> bool {
        self.bytes.len() as u64 == self.size
    }

    /// Whether a variable, of any name, has the same layout and contents.
    pub fn has_same_contents(&self, other: &Variable) -> bool {
        let Variable { space, size, align, bytes, addresses, .. } = self;
        (space, size, align, bytes, addresses)
            == (&other.space, &other.size, &other.align, &other.bytes, &other.addresses)
    }

    /// Converts the variable for reports.
    fn answer(&self) -> model::Variable {
        model::Variable {
            space: Some(self.space.name().into()),
            size: Some(self.size),
            align: Some(self.align),
            bytes: self.has_content().then(|| self.bytes.clone()),
            addresses: Some(self.addresses.iter().map(Address::answer).collect()),
            ..model::Variable::default()
        }
    }
}
