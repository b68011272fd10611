//! The expected result of a program, as part of a finding.

mod json;

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::Text;
use serde::{Deserialize, Serialize};

use crate::{Class, Observation, Outcome, Output, OutputForm, Variable, Variables};

/// The expected result of a program, and notes on the comparison. The module `json` describes the JSON form,
/// which is one object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value", into = "serde_json::Value")]
pub struct Expected {
    /// The expected result itself.
    pub answer: ExpectedAnswer,
    /// The form of output in which the subject deviates, unless it is the form that shows all variables.
    pub form: Option<OutputForm>,
    /// The number of the program's variables that are left out of the report.
    pub variables_left_out: u64,
    /// The listed deviations that the program contains but that do not explain the observation.
    pub contains: Vec<String>,
    /// For an inconsistent result: whether the program deviates every time beside the same other
    /// declarations.
    pub company: Option<bool>,
}

/// The expected behaviour of a subject for one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExpectedAnswer {
    /// No expectation is stored. A shorter program with the same explanation has it.
    #[default]
    Unsaid,
    /// The answer of the specification.
    Module(Box<ModuleAnswer>),
    /// Accesses of kernels that differ from the expected ones.
    Accesses(Vec<AccessDifference>),
    /// The result of another subject, or of the same subject at another time.
    SameAs(Box<Observation>),
}

/// The answer of the specification for a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleAnswer {
    /// The answer for the module as a whole.
    pub ruling: Ruling,
    /// The contents of the variables.
    pub variables: Variables,
    /// The contents of the kernels' output buffers.
    pub kernels: BTreeMap<String, Output>,
    /// The basis of the answer for each variable.
    pub variable_bases: BTreeMap<Text, Basis>,
    /// The basis of the answer for each kernel.
    pub kernel_bases: BTreeMap<String, Basis>,
    /// The variables and kernels for which there is no answer.
    pub unmodelled: Vec<UnmodelledPart>,
    /// The parts that the specification leaves undecided.
    pub undecided: Vec<UndecidedPart>,
    /// Whether the module is valid, with no part undecided; `None` if this was not asked.
    pub is_valid: Option<bool>,
}

/// The answer of the specification for a module as a whole. Its JSON form is `ModuleOutcome` in `json`, whose
/// names differ from those of an [`Observation`](crate::Observation).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ruling {
    /// The specification accepts the module.
    #[default]
    Accepted,
    /// The specification rejects the module.
    Refused(ExpectedRefusal),
    /// The oracle cannot decide, for this reason.
    Unmodelled(String),
}

/// The reason why the specification rejects a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedRefusal {
    /// The name of the class of errors.
    #[serde(default)]
    pub class: String,
    /// The line in the program.
    #[serde(default)]
    pub line: u32,
    /// A description of the error.
    #[serde(default)]
    pub summary: String,
    /// The clauses and interpretations on which the rejection is based.
    #[serde(flatten)]
    pub basis: Basis,
}

/// The clauses on which an answer is based, and the interpretation of each ambiguity that it meets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The clauses.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// The interpretations: the chosen answer, by question.
    #[serde(default)]
    pub readings: BTreeMap<String, String>,
}

/// A variable or a kernel for which there is no answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmodelledPart {
    /// The variable, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The kernel, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The reason why there is no answer.
    pub reason: String,
}

/// A part that the specification leaves undecided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndecidedPart {
    /// The part, as messages call it.
    pub part: String,
    /// The reason.
    pub reason: String,
    /// The line, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// For a statement that the parser does not understand: the parse error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An access of a kernel that reaches other memory, or stores other bytes, than its PTX text requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessDifference {
    /// The kernel.
    pub kernel: String,
    /// The class of the deviation.
    pub class: Class,
    /// The line of the instruction, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The access that the PTX text requires.
    pub expected: String,
    /// The access of the generated code.
    pub seen: String,
    /// The opcodes of the kernel that compute values, if that is what differs: the instructions that may be
    /// wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opcodes: Vec<String>,
}

static NO_VARIABLES: Variables = BTreeMap::new();
static NO_KERNELS: BTreeMap<String, Output> = BTreeMap::new();

impl Expected {
    /// Creates an expectation from the answer of the specification.
    pub fn of_module(answer: ModuleAnswer) -> Expected {
        Expected { answer: ExpectedAnswer::Module(Box::new(answer)), ..Expected::default() }
    }

    /// Creates an expectation from the accesses that differ.
    pub fn of_accesses(accesses: Vec<AccessDifference>) -> Expected {
        Expected { answer: ExpectedAnswer::Accesses(accesses), ..Expected::default() }
    }

    /// Creates an expectation from the result of another subject, or of the same one at another time.
    pub fn same_as(observation: Observation) -> Expected {
        Expected { answer: ExpectedAnswer::SameAs(Box::new(observation)), ..Expected::default() }
    }

    /// Returns the expectation as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        self.clone().into()
    }

    /// Returns the answer of the specification, if the expectation is based on it.
    pub fn module(&self) -> Option<&ModuleAnswer> {
        match &self.answer {
            ExpectedAnswer::Module(answer) => Some(answer),
            _ => None,
        }
    }

    /// Returns the reason for rejection, if the specification rejects the program.
    pub fn refusal(&self) -> Option<&ExpectedRefusal> {
        match &self.module()?.ruling {
            Ruling::Refused(refusal) => Some(refusal),
            Ruling::Accepted | Ruling::Unmodelled(_) => None,
        }
    }

    /// Returns true if the oracle could not decide whether the module is valid.
    pub fn is_unmodelled(&self) -> bool {
        self.module().is_some_and(|answer| matches!(answer.ruling, Ruling::Unmodelled(_)))
    }

    /// Returns the name of the expected outcome, if there is one.
    pub fn outcome(&self) -> Option<&'static str> {
        match &self.answer {
            ExpectedAnswer::Unsaid => None,
            ExpectedAnswer::Accesses(_) => Some(Outcome::Accepted.name()),
            ExpectedAnswer::SameAs(observation) => Some(observation.outcome.name()),
            ExpectedAnswer::Module(answer) => Some(answer.ruling.name()),
        }
    }

    /// Returns the expected contents of the variables.
    pub fn variables(&self) -> &Variables {
        match &self.answer {
            ExpectedAnswer::Module(answer) => &answer.variables,
            ExpectedAnswer::SameAs(observation) => &observation.variables,
            ExpectedAnswer::Unsaid | ExpectedAnswer::Accesses(_) => &NO_VARIABLES,
        }
    }

    /// Returns the expected contents of a variable.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables().get(name)
    }

    /// Returns the expected contents of the kernels' output buffers.
    pub fn kernels(&self) -> &BTreeMap<String, Output> {
        match &self.answer {
            ExpectedAnswer::Module(answer) => &answer.kernels,
            ExpectedAnswer::SameAs(observation) => &observation.kernels,
            ExpectedAnswer::Unsaid | ExpectedAnswer::Accesses(_) => &NO_KERNELS,
        }
    }

    /// Returns the accesses that differ; empty if accesses were not compared.
    pub fn accesses(&self) -> &[AccessDifference] {
        match &self.answer {
            ExpectedAnswer::Accesses(accesses) => accesses,
            _ => &[],
        }
    }

    /// Returns the bases of the answers for variables, and of the rejection.
    pub fn bases(&self) -> impl Iterator<Item = &Basis> {
        let of_variables = self.module().into_iter().flat_map(|answer| answer.variable_bases.values());
        of_variables.chain(self.refusal().map(|refusal| &refusal.basis))
    }

    /// Returns the clauses on which the answers for variables, or the rejection, are based.
    pub fn clauses(&self) -> BTreeSet<&str> {
        self.bases().flat_map(|basis| &basis.clauses).map(String::as_str).collect()
    }

    /// Returns the interpretations on which they are based, as pairs of question and answer.
    pub fn readings(&self) -> BTreeSet<(&str, &str)> {
        self.bases().flat_map(|basis| &basis.readings).map(|(of, answer)| (&**of, &**answer)).collect()
    }
}

impl Ruling {
    /// Returns the value of `"outcome"` in the JSON form.
    pub const fn name(&self) -> &'static str {
        match self {
            Ruling::Accepted => "accepted",
            Ruling::Refused(_) => "refused",
            Ruling::Unmodelled(_) => "unmodelled",
        }
    }
}
