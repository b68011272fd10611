//! A test case: a program, the clauses that it tests, and the expectation.

use ptxsmith_oracle::{Clause, Expectation, Rules, expect};
use ptxsmith_syntax::Module;

use crate::alternatives::{Alternative, alternatives};

/// The origin of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseSource {
    /// From the corpus: derived from the specification by hand.
    Hand,
    /// From the enumeration of all small programs of a form.
    Enumerated,
    /// A valid program with one edit that breaks a rule, or its valid counterpart.
    Edited,
    /// Generated from a seed.
    Random,
}

/// A test case of a suite.
#[derive(Clone, Debug)]
pub struct SuiteCase {
    /// The path of its file without extension, such as `4.5.1/decimal-zero`.
    pub id: String,
    /// The origin of the case.
    pub source: CaseSource,
    /// The clauses that the case tests, in the order of the specification: the clauses that it names, or else
    /// all clauses that its expectation depends on.
    pub clauses: Vec<Clause>,
    /// The contents of the file: leading comments and program.
    pub text: String,
    /// The parsed program.
    pub module: Module,
    /// The expectation under the default interpretations.
    pub expected: Expectation,
    /// The differing expectations under other interpretations.
    pub alternatives: Vec<Alternative>,
    /// The ambiguities that the program meets under the default interpretations.
    pub questions: Vec<&'static str>,
    /// The id of the valid counterpart, for a rejected program.
    pub counterpart: Option<String>,
}

impl SuiteCase {
    /// Creates a case with its expectations. The caller sets clauses, text and counterpart.
    pub fn new(id: String, source: CaseSource, module: Module) -> SuiteCase {
        let expected = expect(&module, &Rules::default());
        let (alternatives, questions) = alternatives(&module, &expected);
        SuiteCase {
            id,
            source,
            clauses: Vec::new(),
            text: String::new(),
            module,
            expected,
            alternatives,
            questions,
            counterpart: None,
        }
    }

    /// Returns true if the specification rejects the program under the default interpretations.
    pub fn is_refused(&self) -> bool {
        matches!(self.expected, Expectation::Refused { .. })
    }

    /// Returns true if the specification accepts the program under the default interpretations and has rules
    /// for all of it.
    pub fn is_accepted(&self) -> bool {
        matches!(&self.expected, Expectation::Accepted { unmodelled, .. } if unmodelled.is_empty())
    }
}
