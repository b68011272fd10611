//! One case: a program, what it is about, and what the specification says of it.

use ptxsmith_oracle::{Clause, Expectation, Rules, expect};
use ptxsmith_syntax::Module;

use crate::alternatives::{Alternative, alternatives};

/// Where a case comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Of the corpus: worked out from the text by hand.
    Hand,
    /// One of all small programs of its form.
    Enumerated,
    /// A valid program with one edit that breaks a rule, or that valid program.
    Edited,
    /// Drawn from a seed.
    Random,
}

/// One case of a suite.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name: folder and file name without the ending, `4.5.1/decimal-zero`.
    pub id: String,
    /// Where it comes from.
    pub source: Source,
    /// What it is about, in the order of the text: what it names itself, or all that its answer rests on.
    pub clauses: Vec<Clause>,
    /// The file: leading comments and program.
    pub text: String,
    /// The program.
    pub module: Module,
    /// What the specification says under the default answers to open questions.
    pub expected: Expectation,
    /// What it says under other answers, where that is something else.
    pub alternatives: Vec<Alternative>,
    /// The questions that the program meets under the default answers.
    pub questions: Vec<&'static str>,
    /// Of a case that is refused: the id of the valid program beside it.
    pub counterpart: Option<String>,
}

impl Case {
    /// A case of this program. What it is about is left to be said, and so are comments and valid counterpart.
    pub fn new(id: String, source: Source, module: Module) -> Case {
        let expected = expect(&module, &Rules::default());
        let (alternatives, questions) = alternatives(&module, &expected);
        let (clauses, text, counterpart) = (Vec::new(), String::new(), None);
        Case { id, source, clauses, text, module, expected, alternatives, questions, counterpart }
    }

    /// Whether the specification refuses the program, by default.
    pub fn is_refused(&self) -> bool {
        matches!(self.expected, Expectation::Refused { .. })
    }

    /// Whether the specification takes the program, by default, and has a rule for all of it.
    pub fn is_accepted(&self) -> bool {
        matches!(&self.expected, Expectation::Accepted { unmodelled, .. } if unmodelled.is_empty())
    }
}
