//! What a module must hold: the oracle's answer, and its form as JSON.

pub use hex::encode as hex;
use ptxsmith_model::{self as model, Basis, ModuleAnswer, Ruling, UnmodelledPart};
use ptxsmith_syntax::{Lines, StateSpace, Text};

use crate::{
    reading::{Question, Readings},
    refusal::Refusal,
    step::Trace,
    undecided::Undecided,
};

/// The oracle's answer for a whole module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The specification takes the module.
    Accepted {
        /// Every module-scope variable in `.global` or `.const` that has storage here, in the order declared.
        variables: Vec<Variable>,
        /// Variables that there is no rule for, and statements that may declare some.
        unmodelled: Vec<Undecided>,
        /// What the answer rests on, declarations without storage included.
        trace: Trace,
    },
    /// The specification refuses the module: the first reason found.
    Refused {
        /// What is broken, and where.
        refusal: Refusal,
        /// What the answer rests on.
        trace: Trace,
    },
    /// There is no rule for the module as a whole.
    Unmodelled {
        /// What is missing.
        reason: &'static str,
        /// What it is missing for.
        parts: Vec<Undecided>,
    },
}

/// What one variable must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: Text,
    /// The state space that it resides in.
    pub space: StateSpace,
    /// Size in bytes; the largest number of 64 bits stands for every size that none of them is.
    pub size: u64,
    /// The guaranteed alignment in bytes.
    pub align: u64,
    /// All bytes in memory order, zero where an address goes. None of a variable of more than
    /// [`MAX_BYTES`](crate::MAX_BYTES), of which only the layout is worked out.
    pub bytes: Vec<u8>,
    /// The addresses it holds, sorted by offset.
    pub addresses: Vec<Address>,
    /// What the answer rests on.
    pub trace: Trace,
}

/// An address in a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Byte offset of the slot within the variable.
    pub offset: u64,
    /// Bytes of the slot.
    pub width: u8,
    /// The variable or function.
    pub symbol: Text,
    /// Bytes added to the address.
    pub addend: i64,
    /// Whether the generic address is meant.
    pub generic: bool,
    /// Which byte of the address (0 the lowest) a `mask()` takes.
    pub byte: Option<u8>,
    /// How many low bits of the addend count: 64 whenever the specification is followed.
    pub addend_bits: u32,
}

/// What an answer rests on, by name: the clauses used, and the interpretation of each open question met.
pub(crate) fn basis(trace: &Trace, readings: &Readings) -> Basis {
    let answer = |question: Question| question.answers()[readings.answer(question)].to_owned();
    Basis {
        clauses: trace.clauses.iter().map(|clause| clause.id().to_owned()).collect(),
        readings: trace.questions.iter().map(|of| (of.name().to_owned(), answer(of))).collect(),
    }
}

impl Address {
    /// The address as reports have it.
    pub(crate) fn answer(&self) -> model::Address {
        let Address { offset, width, ref symbol, addend, generic, byte, .. } = *self;
        model::Address { offset, width, symbol: symbol.to_string(), addend, generic: Some(generic), byte }
    }
}

impl Expectation {
    /// What the answer rests on.
    pub fn trace(&self) -> Trace {
        match self {
            Expectation::Accepted { trace, .. } | Expectation::Refused { trace, .. } => *trace,
            Expectation::Unmodelled { .. } => Trace::default(),
        }
    }

    /// The answer as reports have it, with clauses and readings. `text` is what the module was parsed from, and `readings` what
    /// it was evaluated under.
    pub fn answer(&self, text: &str, readings: &Readings) -> ModuleAnswer {
        let mut answer = ModuleAnswer::default();
        match self {
            Expectation::Accepted { variables, unmodelled, .. } => {
                for variable in variables {
                    answer.variables.insert(variable.name.clone(), variable.answer());
                    answer.variable_bases.insert(variable.name.clone(), basis(&variable.trace, readings));
                }
                let unmodelled = unmodelled.iter().map(|one| UnmodelledPart {
                    variable: Some(one.part.clone()),
                    kernel: None,
                    reason: one.reason.to_owned(),
                });
                answer.unmodelled = unmodelled.collect();
            }
            Expectation::Refused { refusal, trace } => {
                answer.ruling = Ruling::Refused(model::Refusal {
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

    /// The [answer](Expectation::answer) as `ptxsmith.module/1`.
    pub fn to_json(&self, text: &str, readings: &Readings) -> serde_json::Value {
        self.answer(text, readings).into()
    }
}

impl Variable {
    /// Whether its bytes are worked out, not its layout alone.
    pub fn has_content(&self) -> bool {
        self.bytes.len() as u64 == self.size
    }

    /// The variable as reports have it.
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
