//! The outcome of comparing one trial or variable.

use std::collections::BTreeMap;

pub use ptxsmith_model::Class;
use ptxsmith_model::{Expected, FilePlace, ModuleAnswer, Ruling};
use ptxsmith_oracle::{Expectation, Question, Readings, Rules, Trace, Validity, expect, predict};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Header, Module};
use serde::{Deserialize, Serialize};

use crate::explanation::{Alternatives, Explanation};
use crate::trial::Trial;

ptxsmith_syntax::every! {
    /// Why something was not compared. Never counted as agreement.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum NotCompared {
        /// The oracle has no rule for the program.
        Unmodelled = "unmodelled",
        /// The subject does not show the result.
        Unobserved = "unobserved",
        /// The subject reports that it does not support this part of the language.
        Unsupported = "unsupported",
        /// The subject is not available.
        Unavailable = "unavailable",
        /// The subject rejects the valid counterpart as well, so its rejection of the invalid program proves
        /// nothing.
        CounterpartRefused = "twin-refused",
    }
}

/// The reason why a part of a program was not compared, in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyNotCompared {
    /// The part of the program, for example `kernel k` or `variable a`.
    pub part: String,
    /// The line of the program, if it is known.
    pub line: Option<u32>,
    /// The reason, without names and numbers, so that reasons can be counted.
    pub reason: String,
    /// Details with names and numbers, for example the token at which the parser gave up on a statement.
    pub detail: Option<String>,
    /// The subject's error message and the line that it names, if it rejects the program.
    pub said: Option<String>,
}

impl WhyNotCompared {
    /// Creates a reason without a line, details or message.
    pub(crate) fn new(part: impl Into<String>, reason: impl Into<String>) -> WhyNotCompared {
        WhyNotCompared { part: part.into(), line: None, reason: reason.into(), detail: None, said: None }
    }
}

/// A module that was derived from a user's program.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedModule {
    /// The module as a tree.
    pub module: Module,
    /// The text of the module that was shown to the subject.
    pub text: String,
}

/// A difference between the expected and the observed behaviour of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The kind of difference.
    pub class: Class,
    /// The name of the differing variable; `None` if the program as a whole differs.
    pub variable: Option<String>,
    /// The expected behaviour. Empty if a shorter trial of the same batch has the same explanation, because a
    /// report shows only the shortest.
    pub expected: Expected,
    /// The behaviour of the subject.
    pub observed: Observation,
    /// The known deviations and interpretations that predict exactly this observation, if there are any.
    pub explanation: Option<Explanation>,
    /// If nothing listed predicts the difference: the plausible wrong rules that do, one entry per differing
    /// variable or one entry for the whole program. `None` if they were not searched.
    pub suspected: Option<Vec<Alternatives>>,
}

impl Difference {
    /// Creates a difference without an explanation.
    pub fn new(class: Class, expected: Expected, observed: Observation) -> Difference {
        Difference { class, variable: None, expected, observed, explanation: None, suspected: None }
    }

    /// Returns true if another interpretation alone explains the difference, so that it is no deviation.
    pub fn is_reading(&self) -> bool {
        self.explanation.as_ref().is_some_and(Explanation::is_reading)
    }
}

/// Builds the expected half of a finding of this class from the oracle's `answer`. If the subject crashes or
/// hangs on a program with undecided parts, the expectation is "unmodelled": either accepting or rejecting it
/// would conform.
pub(crate) fn expected_of(
    class: Class,
    mut answer: ModuleAnswer,
    module: &Module,
    rules: &Rules,
) -> Expected {
    if matches!(class, Class::Crash | Class::Hang) && answer.ruling == Ruling::Accepted {
        let prediction = predict(module, rules);
        if let (Validity::Undecided, Some(first)) = (prediction.validity(), prediction.undecided.first()) {
            answer.ruling = Ruling::Unmodelled(first.reason.to_owned());
        }
    }
    Expected::of_module(answer)
}

/// Whether the specification accepts or rejects a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// The program is valid.
    Accept,
    /// The program is invalid.
    Refuse,
}

impl Requirement {
    /// Returns the outcome that this expectation requires; `None` if the oracle has no rule for the program.
    pub fn from_expectation(expected: &Expectation) -> Option<Requirement> {
        match expected {
            Expectation::Accepted { .. } => Some(Requirement::Accept),
            Expectation::Refused { .. } => Some(Requirement::Refuse),
            Expectation::Unmodelled { .. } => None,
        }
    }
}

/// The outcome of a trial on the subject, as far as the verdict shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrialOutcome {
    /// The subject accepts the program.
    Accepted,
    /// The subject rejects the program.
    Refused,
    /// The subject crashes or hangs.
    Crashed,
}

impl TrialVerdict {
    /// Creates a verdict without any of the optional results.
    pub fn new(id: u64, verdict: Verdict, requirement: Option<Requirement>, trace: Trace) -> TrialVerdict {
        TrialVerdict {
            id,
            verdict,
            requirement,
            trace,
            excluded: Vec::new(),
            contradicts: Vec::new(),
            unseen: 0,
            operands: ShownOperands::default(),
            memory_operands: None,
            computed_kernels: None,
            confirms: None,
            why: None,
            place: None,
        }
    }

    /// Records that the subject accepts the valid counterpart of this trial, which it rejected as it should.
    /// If the trial met exactly one open question and another answer to it would have made the trial valid,
    /// the rejection confirms the default answer.
    pub fn confirm(&mut self, trial: &Trial, header: &Header, rules: &Rules) {
        let mut questions = self.trace.questions.iter();
        if let (Some(question), None, Verdict::Conforms, Some(Requirement::Refuse)) =
            (questions.next(), questions.next(), &self.verdict, self.requirement)
            && !rules.given.contains(question)
        {
            let module = trial.module(header);
            let is_decisive = (1..question.answers().len()).any(|answer| is_valid(&module, question, answer));
            self.confirms = is_decisive.then_some(question);
        }
    }

    /// Returns what the subject did with the trial; `None` if the trial was not compared.
    pub fn outcome(&self) -> Option<TrialOutcome> {
        match (&self.verdict, self.requirement) {
            (Verdict::NotCompared(_), _) => None,
            (Verdict::Conforms, Some(Requirement::Refuse)) => Some(TrialOutcome::Refused),
            (Verdict::Conforms | Verdict::ConformsByOutcome, _) => Some(TrialOutcome::Accepted),
            (Verdict::Reads(difference) | Verdict::Deviates(difference), _) => {
                match difference.observed.outcome {
                    Outcome::Accepted => Some(TrialOutcome::Accepted),
                    Outcome::Refused => Some(TrialOutcome::Refused),
                    Outcome::Crashed | Outcome::TimedOut => Some(TrialOutcome::Crashed),
                    Outcome::Unsupported | Outcome::Unavailable => None,
                }
            }
        }
    }
}

/// Returns true if the module is valid under this answer to an open question.
fn is_valid(module: &Module, question: Question, answer: usize) -> bool {
    let Some(readings) = Readings::default().with(question, answer) else { return false };
    matches!(expect(module, &Rules::specification(readings)), Expectation::Accepted { .. })
}

/// The outcome of comparing one trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The subject conforms to the specification under the default interpretation.
    Conforms,
    /// The subject accepts a valid program. It shows no values, so nothing else could be compared.
    ConformsByOutcome,
    /// The subject conforms under another interpretation, which the explanation names.
    Reads(Box<Difference>),
    /// The subject deviates from the specification.
    Deviates(Box<Difference>),
    /// Nothing could be compared.
    NotCompared(NotCompared),
}

impl Verdict {
    /// Creates the verdict on a difference, by whether another interpretation alone explains it.
    pub(crate) fn from_difference(difference: Difference) -> Verdict {
        if difference.is_reading() {
            Verdict::Reads(Box::new(difference))
        } else {
            Verdict::Deviates(Box::new(difference))
        }
    }

    /// Returns the difference of a verdict that has one.
    pub(crate) fn into_difference(self) -> Option<Box<Difference>> {
        match self {
            Verdict::Deviates(difference) | Verdict::Reads(difference) => Some(difference),
            Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::NotCompared(_) => None,
        }
    }

    /// Records in a deviating verdict that the program contains these listed deviations, though none of them
    /// explains it.
    pub(crate) fn containing(mut self, ids: Vec<&'static str>) -> Verdict {
        if let Verdict::Deviates(difference) = &mut self {
            difference.expected.contains = ids.into_iter().map(str::to_owned).collect();
        }
        self
    }
}

/// A verdict together with the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialVerdict {
    /// The number of the trial.
    pub id: u64,
    /// The verdict on the trial.
    pub verdict: Verdict,
    /// The outcome that the specification requires under the default interpretation; `None` if the oracle has
    /// no rule.
    pub requirement: Option<Requirement>,
    /// The clauses and questions that the expectation rests on.
    pub trace: Trace,
    /// The interpretations that this verdict excludes: under each of them the result would have been
    /// different.
    pub excluded: Vec<(Question, usize)>,
    /// The wrong rules that this verdict excludes: hypotheses for other differences of the batch under which
    /// this result would have been different.
    pub contradicts: Vec<&'static str>,
    /// The number of variables of the trial that were not compared because the subject shows only other
    /// variables.
    pub unseen: u32,
    /// The operand results of the trial's kernels that the subject shows, and their total.
    pub operands: ShownOperands,
    /// Counts of the compared memory operands; `None` if the file has no kernels.
    pub memory_operands: Option<Box<CodeCounts>>,
    /// Counts of the kernels with compared results; `None` if the file has no kernels.
    pub computed_kernels: Option<Box<CodeCounts>>,
    /// The open question for which this verdict confirms the default answer: see [`TrialVerdict::confirm`].
    pub confirms: Option<Question>,
    /// The reason why the trial was not compared, if it is known.
    pub why: Option<Box<WhyNotCompared>>,
    /// The position of the deviating part in the user's file.
    pub place: Option<Box<FilePlace>>,
}

/// How many things in kernels were compared with generated code: either memory operands or kernel results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeCounts {
    /// The number that was compared. A memory operand counts if the code accesses its place or wrongly fails
    /// to.
    pub compared: u64,
    /// The number that the compiler removed: nothing in the code corresponds to them.
    pub removed: u64,
    /// The number that was not compared, by reason.
    pub not_compared: BTreeMap<String, u64>,
}

impl CodeCounts {
    /// Adds `count` things that were not compared for this reason.
    pub(crate) fn leave(&mut self, reason: impl Into<String>, count: usize) {
        if count > 0 {
            *self.not_compared.entry(reason.into()).or_default() += count as u64;
        }
    }
}

/// The share of the operand results that the subject shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownOperands {
    /// The number of scalars in output buffers that the subject shows.
    pub seen: u64,
    /// The number of scalars in output buffers that the specification predicts.
    pub total: u64,
}

impl ShownOperands {
    /// Returns the sum of both shares.
    pub fn plus(self, other: ShownOperands) -> ShownOperands {
        ShownOperands { seen: self.seen + other.seen, total: self.total + other.total }
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_syntax::parse;

    use super::*;
    use crate::trial::TrialBody;

    /// Returns the question that a case with this verdict confirms if the subject accepts its valid
    /// counterpart.
    fn confirmed(text: &str, verdict: Verdict, requirement: Requirement) -> Option<Question> {
        let (header, trial) =
            (Header::default(), Trial::new(0, TrialBody::Items(parse(text).expect("it is PTX").items)));
        let trace = expect(&trial.module(&header), &Rules::default()).trace();
        let mut judged = TrialVerdict::new(0, verdict, Some(requirement), trace);
        judged.confirm(&trial, &header, &Rules::default());
        judged.confirms
    }

    #[test]
    fn a_refusal_that_rests_on_one_open_question_confirms_its_default_answer() {
        let refused = |text| confirmed(text, Verdict::Conforms, Requirement::Refuse);
        // Valid if an offset may be subtracted.
        let subtracted = ".global .u32 b; .global .u64 a = b - 4;";
        assert_eq!(refused(subtracted), Some(Question::AddressSubtraction));
        // No single answer makes it valid.
        assert_eq!(refused(".global .u32 b; .global .u64 a[0] = {b - 4};"), None);
        // No combination of answers makes it valid, because `b` is not declared.
        assert_eq!(refused(".global .u64 a = (1 << 64) + b;"), None);
        assert_eq!(refused(".global .u64 a = b;"), None);
        let unobserved = Verdict::NotCompared(NotCompared::Unobserved);
        assert_eq!(confirmed(subtracted, unobserved, Requirement::Refuse), None);
        assert_eq!(confirmed(subtracted, Verdict::Conforms, Requirement::Accept), None);
    }
}
