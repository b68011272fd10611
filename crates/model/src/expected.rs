//! What was expected of a program where a subject did otherwise.

mod json;

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::Text;
use serde::{Deserialize, Serialize};

use crate::{Class, Observation, Outcome, Output, OutputForm, Variable, Variables};

/// What was expected of a program, and notes on the comparison. As JSON, which is one object, see `json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value", into = "serde_json::Value")]
pub struct Expected {
    /// The expectation.
    pub answer: ExpectedAnswer,
    /// The form of output in which the subject deviates, where that is not the one that shows all variables.
    pub form: Option<OutputForm>,
    /// How many variables of the program the report leaves out.
    pub variables_left_out: u64,
    /// The listed deviations that the program contains and that do not explain what was seen.
    pub contains: Vec<String>,
    /// Of an inconsistent answer: whether the program is wrong each time beside the same other declarations.
    pub company: Option<bool>,
}

/// What a subject was expected to do with a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExpectedAnswer {
    /// Nothing is said: a shorter program says it.
    #[default]
    Unsaid,
    /// The answer of the specification.
    Module(Box<ModuleAnswer>),
    /// Accesses of kernels, each of which goes elsewhere.
    Accesses(Vec<AccessDifference>),
    /// The same as this other subject, or the same subject at another time.
    SameAs(Box<Observation>),
}

/// What the specification says of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleAnswer {
    /// What it says of the module as a whole.
    pub ruling: Ruling,
    /// What the variables hold.
    pub variables: Variables,
    /// What the kernels leave in their output buffers.
    pub kernels: BTreeMap<String, Output>,
    /// The basis of what is said of each variable.
    pub variable_bases: BTreeMap<Text, Basis>,
    /// The basis of what is said of each kernel.
    pub kernel_bases: BTreeMap<String, Basis>,
    /// The variables and kernels of which nothing is said.
    pub unmodelled: Vec<UnmodelledPart>,
    /// The parts that the texts do not decide.
    pub undecided: Vec<UndecidedPart>,
    /// Whether every part is judged; `None` where that was not asked.
    pub is_valid: Option<bool>,
}

/// What the specification says of a module as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ruling {
    /// It accepts the module.
    #[default]
    Accepted,
    /// It refuses the module.
    Refused(Refusal),
    /// It decides neither, for this reason.
    Unmodelled(String),
}

/// Why the specification refuses a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The name of the class of refusals.
    #[serde(default)]
    pub class: String,
    /// The line of the program.
    #[serde(default)]
    pub line: u32,
    /// What is wrong, in words.
    #[serde(default)]
    pub summary: String,
    /// The clauses and interpretations that it rests on.
    #[serde(flatten)]
    pub basis: Basis,
}

/// The clauses that an answer rests on, and the interpretation of each open question that it meets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The clauses.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// By question, the answer.
    #[serde(default)]
    pub readings: BTreeMap<String, String>,
}

/// A variable or a kernel of which nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmodelledPart {
    /// The variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The reason.
    pub reason: String,
}

/// A part that the texts do not decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndecidedPart {
    /// The part, as messages call it.
    pub part: String,
    /// The reason.
    pub reason: String,
    /// The line, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What ended the understanding of a statement that is not understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Where a kernel reaches other memory, or stores other bytes, than its text says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessDifference {
    /// The kernel.
    pub kernel: String,
    /// The class of the difference.
    pub class: Class,
    /// The line of the instruction, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What the text does there.
    pub expected: String,
    /// What the code does instead.
    pub seen: String,
}

static NO_VARIABLES: Variables = BTreeMap::new();
static NO_KERNELS: BTreeMap<String, Output> = BTreeMap::new();

impl Expected {
    /// Expects what the specification says.
    pub fn of_module(answer: ModuleAnswer) -> Expected {
        Expected { answer: ExpectedAnswer::Module(Box::new(answer)), ..Expected::default() }
    }

    /// Expects that kernels do not differ in these accesses.
    pub fn of_accesses(accesses: Vec<AccessDifference>) -> Expected {
        Expected { answer: ExpectedAnswer::Accesses(accesses), ..Expected::default() }
    }

    /// Expects the answer of another subject, or of the same one at another time.
    pub fn same_as(observation: Observation) -> Expected {
        Expected { answer: ExpectedAnswer::SameAs(Box::new(observation)), ..Expected::default() }
    }

    /// As JSON.
    pub fn to_json(&self) -> serde_json::Value {
        self.clone().into()
    }

    /// What the specification says, where that is expected.
    pub fn module(&self) -> Option<&ModuleAnswer> {
        match &self.answer {
            ExpectedAnswer::Module(answer) => Some(answer),
            _ => None,
        }
    }

    /// The refusal that the specification asks for.
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.module()?.ruling {
            Ruling::Refused(refusal) => Some(refusal),
            Ruling::Accepted | Ruling::Unmodelled(_) => None,
        }
    }

    /// Whether neither acceptance nor refusal is expected.
    pub fn is_unmodelled(&self) -> bool {
        self.module().is_some_and(|answer| matches!(answer.ruling, Ruling::Unmodelled(_)))
    }

    /// The name of the outcome that is expected, where one is.
    pub fn outcome(&self) -> Option<&'static str> {
        match &self.answer {
            ExpectedAnswer::Unsaid => None,
            ExpectedAnswer::Accesses(_) => Some(Outcome::Accepted.name()),
            ExpectedAnswer::SameAs(observation) => Some(observation.outcome.name()),
            ExpectedAnswer::Module(answer) => Some(answer.ruling.name()),
        }
    }

    /// What the variables should hold.
    pub fn variables(&self) -> &Variables {
        match &self.answer {
            ExpectedAnswer::Module(answer) => &answer.variables,
            ExpectedAnswer::SameAs(observation) => &observation.variables,
            ExpectedAnswer::Unsaid | ExpectedAnswer::Accesses(_) => &NO_VARIABLES,
        }
    }

    /// What a variable should hold.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables().get(name)
    }

    /// What the kernels should leave.
    pub fn kernels(&self) -> &BTreeMap<String, Output> {
        match &self.answer {
            ExpectedAnswer::Module(answer) => &answer.kernels,
            ExpectedAnswer::SameAs(observation) => &observation.kernels,
            ExpectedAnswer::Unsaid | ExpectedAnswer::Accesses(_) => &NO_KERNELS,
        }
    }

    /// The accesses of kernels that differ, where these are compared.
    pub fn accesses(&self) -> &[AccessDifference] {
        match &self.answer {
            ExpectedAnswer::Accesses(accesses) => accesses,
            _ => &[],
        }
    }

    /// What the answers on variables, or the refusal, rest on.
    pub fn bases(&self) -> impl Iterator<Item = &Basis> {
        let of_variables = self.module().into_iter().flat_map(|answer| answer.variable_bases.values());
        of_variables.chain(self.refusal().map(|refusal| &refusal.basis))
    }

    /// The clauses that the answers on variables, or the refusal, rest on.
    pub fn clauses(&self) -> BTreeSet<&str> {
        self.bases().flat_map(|basis| &basis.clauses).map(String::as_str).collect()
    }

    /// The interpretations that these rest on, each as question and answer.
    pub fn readings(&self) -> BTreeSet<(&str, &str)> {
        self.bases().flat_map(|basis| &basis.readings).map(|(of, answer)| (&**of, &**answer)).collect()
    }
}

impl Ruling {
    /// As `"outcome"` has it.
    pub const fn name(&self) -> &'static str {
        match self {
            Ruling::Accepted => "accepted",
            Ruling::Refused(_) => "refused",
            Ruling::Unmodelled(_) => "unmodelled",
        }
    }
}
