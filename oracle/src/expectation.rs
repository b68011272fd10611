//! What a module must hold: the oracle's answer, and its form as JSON.

pub use hex::encode as hex;
use ptxsmith_syntax::{Lines, StateSpace, Text};
use serde::Serialize;

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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    #[serde(skip)]
    pub addend_bits: u32,
}

#[derive(Serialize)]
struct JsonVariable<'a> {
    space: &'static str,
    size: u64,
    align: u64,
    bytes: Option<String>,
    addresses: &'a [Address],
    clauses: Vec<&'static str>,
    readings: serde_json::Map<String, serde_json::Value>,
}

/// The questions met and how the reading answers them.
pub(crate) fn readings_met(trace: &Trace, readings: &Readings) -> serde_json::Map<String, serde_json::Value> {
    let answer = |question: Question| question.answers()[readings.answer(question)];
    trace.questions.iter().map(|question| (question.name().to_owned(), answer(question).into())).collect()
}

impl Expectation {
    /// What the answer rests on.
    pub fn trace(&self) -> Trace {
        match self {
            Expectation::Accepted { trace, .. } | Expectation::Refused { trace, .. } => *trace,
            Expectation::Unmodelled { .. } => Trace::default(),
        }
    }

    /// The answer as `ptxsmith.module/1`, with clauses and readings. `text` is what the module was parsed from, and
    /// `readings` what it was evaluated under.
    pub fn to_json(&self, text: &str, readings: &Readings) -> serde_json::Value {
        let mut answer =
            serde_json::json!({ "schema": "ptxsmith.module/1", "diagnostics": [], "variables": {} });
        match self {
            Expectation::Accepted { variables, unmodelled, .. } => {
                answer["outcome"] = "accepted".into();
                for variable in variables {
                    answer["variables"][variable.name.as_str()] = variable.to_json(readings);
                }
                if !unmodelled.is_empty() {
                    answer["unmodelled"] = unmodelled
                        .iter()
                        .map(|one| serde_json::json!({ "variable": one.part, "reason": one.reason }))
                        .collect();
                }
            }
            Expectation::Refused { refusal, trace } => {
                answer["outcome"] = "refused".into();
                let line = Lines::new(text).line(refusal.span.start);
                answer["refusal"] = serde_json::json!({
                    "class": refusal.class.name(),
                    "line": line,
                    "clauses": [refusal.clause.id()],
                    "summary": refusal.class.summary(),
                    "readings": readings_met(trace, readings),
                });
            }
            Expectation::Unmodelled { reason, .. } => {
                answer["outcome"] = "unmodelled".into();
                answer["reason"] = (*reason).into();
            }
        }
        answer
    }
}

impl Variable {
    /// Whether its bytes are worked out, not its layout alone.
    pub fn has_content(&self) -> bool {
        self.bytes.len() as u64 == self.size
    }

    /// The variable as an entry of `ptxsmith.module/1`.
    pub fn to_json(&self, readings: &Readings) -> serde_json::Value {
        let json = JsonVariable {
            space: self.space.name(),
            size: self.size,
            align: self.align,
            bytes: self.has_content().then(|| hex(&self.bytes)),
            addresses: &self.addresses,
            clauses: self.trace.clauses.iter().map(|clause| clause.id()).collect(),
            readings: readings_met(&self.trace, readings),
        };
        serde_json::to_value(json).expect("names and numbers are always JSON")
    }
}
