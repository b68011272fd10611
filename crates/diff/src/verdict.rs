//! The outcome of comparing one trial or variable.

use std::collections::BTreeMap;

pub use ptxsmith_model::Class;
use ptxsmith_model::{Expected, ModuleAnswer, Place, Ruling};
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
        /// The oracle has no rule for it.
        Unmodelled = "unmodelled",
        /// The subject does not show it.
        Unobserved = "unobserved",
        /// The subject says that it lacks this part of the language.
        Unsupported = "unsupported",
        /// There was no subject to ask.
        Unavailable = "unavailable",
        /// The subject refuses also the valid counterpart, so its refusal of the invalid program says nothing.
        CounterpartRefused = "twin-refused",
    }
}

/// Why a part of a program was not compared, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The part: `kernel k`, `variable a`.
    pub part: String,
    /// The line of the program, where it is known.
    pub line: Option<u32>,
    /// The reason, without names and numbers, so that reasons can be counted.
    pub reason: String,
    /// More about the reason, with names and numbers: what ended the understanding of a statement.
    pub detail: Option<String>,
    /// What the subject says of the program, with the line that it names, where it refuses it.
    pub said: Option<String>,
}

/// A module that was derived from a user's program.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The module.
    pub module: Module,
    /// Its text, which the subject was shown.
    pub text: String,
}

/// A deviation of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What kind it is.
    pub class: Class,
    /// The variable that shows it, where one does.
    pub variable: Option<String>,
    /// What was expected. Nothing is said where a shorter trial of the same batch has the same explanation: only the shortest
    /// is ever shown.
    pub expected: Expected,
    /// What the subject did with the trial.
    pub observed: Observation,
    /// The known deviations that predict exactly this, where there are any.
    pub explanation: Option<Explanation>,
    /// Where nothing listed predicts it: the plausible wrong rules that do, for each variable that differs, or once for
    /// the program as a whole. `None` where that was not looked into.
    pub suspected: Option<Vec<Alternatives>>,
}

impl Difference {
    /// A difference for which no cause is looked for.
    pub fn of(class: Class, expected: Expected, observed: Observation) -> Difference {
        Difference { class, variable: None, expected, observed, explanation: None, suspected: None }
    }

    /// Whether another reading alone explains it, so that it is no deviation.
    pub fn is_reading(&self) -> bool {
        self.explanation.as_ref().is_some_and(Explanation::is_reading)
    }
}

/// What is expected of a program under these rules, by the answer that they give, where a subject shows a deviation of this class.
/// Of a program with undecided parts any answer is expected: a subject that crashes gives none.
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

/// What the specification does with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Must {
    /// It takes it.
    Accept,
    /// It refuses it.
    Refuse,
}

impl Must {
    /// What this expectation demands; `None` where there is no rule.
    pub fn of(expected: &Expectation) -> Option<Must> {
        match expected {
            Expectation::Accepted { .. } => Some(Must::Accept),
            Expectation::Refused { .. } => Some(Must::Refuse),
            Expectation::Unmodelled { .. } => None,
        }
    }
}

/// What a subject does with a program, as far as a verdict tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It takes it.
    Accepted,
    /// It refuses it.
    Refused,
    /// It crashes or hangs.
    Died,
}

impl Judged {
    /// A verdict of which nothing else is known.
    pub fn new(id: u64, verdict: Verdict, must: Option<Must>, trace: Trace) -> Judged {
        let (excluded, contradicts) = (Vec::new(), Vec::new());
        let (unseen, operands, confirms) = (0, Share::default(), None);
        let (memory_operands, computed_kernels) = (None, None);
        Judged {
            id,
            verdict,
            must,
            trace,
            excluded,
            contradicts,
            unseen,
            operands,
            memory_operands,
            computed_kernels,
            confirms,
            why: None,
            place: None,
        }
    }

    /// Notes that the trial, which was refused as it should be, has a valid counterpart that is taken. Where it met one open
    /// question, of which another answer would have had it accepted, that shows the default answer.
    pub fn confirm(&mut self, trial: &Trial, header: &Header) {
        let mut questions = self.trace.questions.iter();
        if let (Some(question), None, Verdict::Conforms, Some(Must::Refuse)) =
            (questions.next(), questions.next(), &self.verdict, self.must)
        {
            let module = trial.module(header);
            let accepts = |answer| {
                let readings = Readings::default().with(question, answer);
                let expected = readings.map(|readings| expect(&module, &Rules::specification(readings)));
                matches!(expected, Some(Expectation::Accepted { .. }))
            };
            self.confirms = (1..question.answers().len()).any(accepts).then_some(question);
        }
    }

    /// What the subject did with the trial; `None` where that was not compared.
    pub fn fate(&self) -> Option<Fate> {
        let of = |difference: &Difference| match difference.observed.outcome {
            Outcome::Accepted => Some(Fate::Accepted),
            Outcome::Refused => Some(Fate::Refused),
            Outcome::Crashed | Outcome::TimedOut => Some(Fate::Died),
            Outcome::Unsupported | Outcome::Unavailable => None,
        };
        match (&self.verdict, self.must) {
            (Verdict::NotCompared(_), _) => None,
            (Verdict::Conforms, Some(Must::Refuse)) => Some(Fate::Refused),
            (Verdict::Conforms | Verdict::ConformsByOutcome, _) => Some(Fate::Accepted),
            (Verdict::Reads(difference) | Verdict::Deviates(difference), _) => of(difference),
        }
    }
}

/// The outcome of comparing one trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The subject does what the specification says under the default reading.
    Conforms,
    /// The subject takes what the specification takes, and shows no values: nothing else could be compared.
    ConformsByOutcome,
    /// It does what the specification says under another reading, which the explanation names.
    Reads(Box<Difference>),
    /// It does not.
    Deviates(Box<Difference>),
    /// Nothing could be compared.
    NotCompared(NotCompared),
}

impl Verdict {
    /// The verdict, which says that the program contains these listed deviations though none of them explains it.
    pub(crate) fn containing(mut self, ids: Vec<&'static str>) -> Verdict {
        if let Verdict::Deviates(difference) = &mut self {
            difference.expected.contains = ids.into_iter().map(str::to_owned).collect();
        }
        self
    }
}

/// A verdict together with what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The trial's number.
    pub id: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// What the specification does with the trial under the default reading; `None` where there is no rule.
    pub must: Option<Must>,
    /// The clauses and questions that the expectation rests on.
    pub trace: Trace,
    /// The answers to open questions that this verdict rules out: under them the result would have been another.
    pub excluded: Vec<(Question, usize)>,
    /// The wrong rules, suspected of other differences of the batch, that this verdict rules out: under them the result
    /// would have been another.
    pub contradicts: Vec<&'static str>,
    /// How many variables of the trial the subject does not show, though it shows others: they were not compared.
    pub unseen: u32,
    /// Of a trial with kernels, what was seen of their operands' results.
    pub operands: Share,
    /// Of a file with kernels, how many memory operands were compared.
    pub memory_operands: Option<Box<CodeCounts>>,
    /// Of a file with kernels, of how many it was compared what they compute.
    pub computed_kernels: Option<Box<CodeCounts>>,
    /// The open question whose default answer this verdict shows: see [`Judged::confirm`].
    pub confirms: Option<Question>,
    /// Why it was not compared, where that is known.
    pub why: Option<Box<Why>>,
    /// Of a file of the user's, where the part stands that deviates.
    pub place: Option<Box<Place>>,
}

/// How many things of kernels were compared with generated code: memory operands, or what kernels compute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeCounts {
    /// Those that were compared: of operands those whose place was found in the code, or missed there.
    pub compared: u64,
    /// Those of which the code has nothing.
    pub removed: u64,
    /// The others, by reason.
    pub not_compared: BTreeMap<String, u64>,
}

impl CodeCounts {
    /// Counts what was not compared, for this reason.
    pub(crate) fn leave(&mut self, reason: impl Into<String>, count: usize) {
        if count > 0 {
            *self.not_compared.entry(reason.into()).or_default() += count as u64;
        }
    }
}

/// What of the results of operands was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Scalars in output buffers that the subject shows.
    pub seen: u64,
    /// Scalars that the specification predicts.
    pub total: u64,
}

impl Share {
    /// Both together.
    pub fn plus(self, other: Share) -> Share {
        Share { seen: self.seen + other.seen, total: self.total + other.total }
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_syntax::parse;

    use super::*;
    use crate::trial::Body;

    /// The question that a case with this verdict confirms, its valid counterpart taken.
    fn confirmed(text: &str, verdict: Verdict, must: Must) -> Option<Question> {
        let (header, trial) =
            (Header::default(), Trial::new(0, Body::Items(parse(text).expect("it is PTX").items)));
        let trace = expect(&trial.module(&header), &Rules::default()).trace();
        let mut judged = Judged::new(0, verdict, Some(must), trace);
        judged.confirm(&trial, &header);
        judged.confirms
    }

    #[test]
    fn a_refusal_that_rests_on_one_open_question_confirms_its_default_answer() {
        let refused = |text| confirmed(text, Verdict::Conforms, Must::Refuse);
        // Taken where an offset may be subtracted.
        let subtracted = ".global .u32 b; .global .u64 a = b - 4;";
        assert_eq!(refused(subtracted), Some(Question::AddressSubtraction));
        // No answer alone takes it.
        assert_eq!(refused(".global .u32 b; .global .u64 a[0] = {b - 4};"), None);
        // Nor any two, as the name is not declared.
        assert_eq!(refused(".global .u64 a = (1 << 64) + b;"), None);
        assert_eq!(refused(".global .u64 a = b;"), None);
        let unobserved = Verdict::NotCompared(NotCompared::Unobserved);
        assert_eq!(confirmed(subtracted, unobserved, Must::Refuse), None);
        assert_eq!(confirmed(subtracted, Verdict::Conforms, Must::Accept), None);
    }
}
