//! The known behaviour of a subject, and the resulting forecast for a trial.
//!
//! The forecast decides which trials share a module and which of two explanations is preferred. No verdict
//! depends on it.

use std::collections::BTreeMap;

use ptxsmith_oracle::{ClauseSet, Question, QuestionSet, Readings, Rules, Trace};
use serde::{Deserialize, Serialize};

use crate::{
    implementation::Implementation,
    known::{Effect, KNOWN, KnownDeviation},
};

/// A subject's answers to open questions and the questions that crash it, as found by fixed programs
/// ([`Profile::ask`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "SerializedProfile", try_from = "SerializedProfile")]
pub struct Profile {
    /// The answers that differ from the default.
    answers: BTreeMap<Question, usize>,
    /// The questions that occur in programs that crash the subject.
    deadly: QuestionSet,
}

impl Profile {
    /// Records the subject's answer to a question. The first recorded answer stays.
    pub fn record_answer(&mut self, question: Question, answer: usize) {
        self.answers.entry(question).or_insert(answer);
    }

    /// Records that a program that meets this question crashes the subject.
    pub fn record_crash(&mut self, question: Question) {
        self.deadly.insert(question);
    }

    /// Returns this profile without answers to questions that are answered already.
    fn without(mut self, given: QuestionSet) -> Profile {
        self.answers.retain(|&question, _| !given.contains(question));
        self
    }

    /// Returns `base` with the subject's recorded answers.
    fn applied(&self, base: Readings) -> Readings {
        self.answers
            .iter()
            .fold(base, |readings, (&question, &answer)| readings.with(question, answer).unwrap_or(readings))
    }
}

/// The serialized form of a profile.
#[derive(Clone, Serialize, Deserialize)]
struct SerializedProfile {
    answers: BTreeMap<String, String>,
    deadly: Vec<String>,
}

impl From<Profile> for SerializedProfile {
    fn from(profile: Profile) -> SerializedProfile {
        SerializedProfile {
            answers: profile
                .answers
                .into_iter()
                .map(|(question, answer)| (question.name().to_owned(), question.answers()[answer].to_owned()))
                .collect(),
            deadly: profile.deadly.iter().map(|question| question.name().to_owned()).collect(),
        }
    }
}

impl TryFrom<SerializedProfile> for Profile {
    type Error = String;

    fn try_from(named: SerializedProfile) -> Result<Profile, String> {
        let mut profile = Profile::default();
        for (name, answer) in &named.answers {
            let question = question_named(name)?;
            let index = question.answers().iter().position(|known| known == answer);
            profile
                .record_answer(question, index.ok_or_else(|| format!("no answer `{answer}` to `{name}`"))?);
        }
        for name in &named.deadly {
            profile.record_crash(question_named(name)?);
        }
        Ok(profile)
    }
}

fn question_named(name: &str) -> Result<Question, String> {
    Question::from_name(name).ok_or_else(|| format!("no open question `{name}`"))
}

/// The probable behaviour of a subject for one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forecast {
    /// It accepts the trial, which can share a module with any others.
    Accepted,
    /// It accepts an invalid trial. If the forecast is wrong, the trial poisons a large module.
    Doubtful,
    /// It rejects the trial, which is therefore shown with others that it probably rejects.
    Refused,
    /// It crashes, so the trial is shown alone.
    Crash,
}

/// The part of an expectation that forecasts depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedOutcome {
    /// Whether the trial is invalid under the rules.
    pub refused: bool,
    /// The clauses and questions that the expectation rests on.
    pub trace: Trace,
}

/// A listed deviation, with the rules changed by it.
pub(crate) type DeviatingRules = (&'static KnownDeviation, Rules);

/// The known differences between a subject and the specification, taken from the list of deviations and from
/// the profile. They forecast the subject's behaviour.
pub(crate) struct Forecaster {
    /// The rules with the subject's answers to open questions.
    pub followed: Rules,
    /// The rules of the specification, changed by each listed deviation in turn.
    pub deviating: Vec<DeviatingRules>,
    /// The questions that the subject does not answer with the default.
    others: QuestionSet,
    /// The questions that occur in programs that crash the subject.
    deadly: QuestionSet,
    /// The listed crashes.
    crashes: Vec<&'static KnownDeviation>,
    /// The clauses of the listed crashes. A program that uses one of these clauses crashes the subject only
    /// under certain conditions.
    deadly_clauses: ClauseSet,
    /// The followed rules, changed by each listed deviation that rejects more programs.
    refusing: Vec<DeviatingRules>,
    /// The clauses of the deviations in `refusing`.
    refusable: ClauseSet,
    /// The followed rules, changed by each listed deviation that leads to other values.
    computing: Vec<DeviatingRules>,
}

impl Forecaster {
    /// Creates a forecaster for this lineage and release and this profile.
    pub fn new(rules: &Rules, implementation: Implementation<'_>, profile: Profile) -> Forecaster {
        let profile = profile.without(rules.given);
        let followed = Rules { readings: profile.applied(rules.readings), ..*rules };
        let mut forecaster = Forecaster {
            followed,
            deviating: Vec::new(),
            others: profile.answers.keys().copied().collect(),
            deadly: profile.deadly,
            crashes: Vec::new(),
            deadly_clauses: ClauseSet::EMPTY,
            refusing: Vec::new(),
            refusable: ClauseSet::EMPTY,
            computing: Vec::new(),
        };
        for known in KNOWN.iter().filter(|known| known.is_listed_for(implementation)) {
            let clauses: ClauseSet = known.clauses.iter().copied().collect();
            match known.effect {
                Effect::CrashRule { .. } => {
                    forecaster.crashes.push(known);
                    forecaster.deadly_clauses = forecaster.deadly_clauses.union(clauses);
                }
                // Deviations that are not changes of rules cannot be predicted.
                Effect::CrashPattern { .. }
                | Effect::AcceptsInvalid
                | Effect::RefusesValid
                | Effect::WrongValue => {}
                Effect::RefusalRule(change) => {
                    forecaster.refusing.push((known, followed.with(change)));
                    forecaster.refusable = forecaster.refusable.union(clauses);
                }
                Effect::Rule(change) => forecaster.computing.push((known, followed.with(change))),
            }
            if let Effect::Rule(change) | Effect::RefusalRule(change) = known.effect {
                forecaster.deviating.push((known, rules.with(change)));
            }
        }
        forecaster
    }

    /// Returns true if the subject answers any of these questions differently from the default.
    pub fn concerns(&self, questions: QuestionSet) -> bool {
        self.others.meets(questions)
    }

    /// Returns the questions that the subject answers differently from the default.
    pub fn others(&self) -> QuestionSet {
        self.others
    }

    /// Returns the question that the subject answers differently from the default, if both sets contain it
    /// and neither contains another such question.
    pub fn only(&self, these: QuestionSet, those: QuestionSet) -> Option<Question> {
        let mut met = these.union(those).iter().filter(|&question| self.others.contains(question));
        match (met.next(), met.next()) {
            (Some(question), None) if these.contains(question) && those.contains(question) => Some(question),
            _ => None,
        }
    }

    /// Returns true if a program that rests on these clauses and questions crashes the subject.
    pub fn crashes(&self, trace: &Trace) -> bool {
        self.deadly.meets(trace.questions)
            || self
                .crashes
                .iter()
                .any(|known| matches!(known.effect, Effect::CrashRule { when, .. } if when(trace)))
    }

    /// Forecasts the behaviour of the subject for a trial. `usual` is the expectation of the specification.
    /// `followed` is the expectation of the followed rules, if the trial [concerns](Forecaster::concerns) the
    /// subject. `under` evaluates the trial under other rules.
    pub fn forecast<'p>(
        &'p self,
        usual: ExpectedOutcome,
        followed: Option<ExpectedOutcome>,
        mut under: impl FnMut(&'p Rules) -> ExpectedOutcome,
    ) -> Forecast {
        let ExpectedOutcome { trace, .. } = usual;
        let probable = followed.unwrap_or(usual);
        if self.crashes(&usual.trace) || self.crashes(&probable.trace) {
            return Forecast::Crash;
        }
        if self.deadly_clauses.meets(trace.clauses)
            && touched(&self.computing, &trace).any(|rules| self.crashes(&under(rules).trace))
        {
            return Forecast::Crash;
        }
        if probable.refused
            || self.refusable.meets(trace.clauses)
                && touched(&self.refusing, &trace).any(|rules| under(rules).refused)
        {
            return Forecast::Refused;
        }
        if usual.refused { Forecast::Doubtful } else { Forecast::Accepted }
    }
}

/// Returns the rules of the listed deviations that break a clause of this trace.
fn touched<'l>(listed: &'l [DeviatingRules], trace: &Trace) -> impl Iterator<Item = &'l Rules> {
    listed.iter().filter(|(known, _)| known.touches(trace)).map(|(_, rules)| rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let mut profile = Profile::default();
        profile.record_answer(Question::ShiftCount, 1);
        profile.record_crash(Question::DivisionByZero);
        profile
    }

    fn met(questions: &[Question]) -> ExpectedOutcome {
        let questions = questions.iter().copied().collect();
        ExpectedOutcome { refused: false, trace: Trace { questions, ..Trace::default() } }
    }

    #[test]
    fn a_profile_is_kept_by_names_and_read_again() {
        let json = serde_json::to_value(profile()).unwrap();
        assert_eq!(
            json,
            serde_json::json!({ "answers": { "shift-count": "modulo" }, "deadly": ["division-by-zero"] })
        );
        assert_eq!(serde_json::from_value::<Profile>(json).unwrap(), profile());
        let unknown = serde_json::json!({ "answers": { "shift-count": "never" }, "deadly": [] });
        assert!(serde_json::from_value::<Profile>(unknown).is_err());
    }

    #[test]
    fn a_forecast_follows_the_known_answers_of_the_subject() {
        let forecaster = Forecaster::new(&Rules::default(), Implementation::default(), profile());
        let shift = met(&[Question::ShiftCount]);
        assert!(forecaster.concerns(shift.trace.questions) && !forecaster.concerns(QuestionSet::default()));
        let forecast = |usual, followed| forecaster.forecast(usual, followed, |_| usual);
        assert_eq!(forecast(shift, Some(shift)), Forecast::Accepted);
        assert_eq!(forecast(shift, Some(ExpectedOutcome { refused: true, ..shift })), Forecast::Refused);
        assert_eq!(forecast(ExpectedOutcome { refused: true, ..shift }, Some(shift)), Forecast::Doubtful);
        assert_eq!(forecast(met(&[Question::DivisionByZero]), None), Forecast::Crash);
    }

    /// A conditional crash affects only the programs that meet its condition, not all that use its clause.
    #[test]
    fn a_crash_is_forecast_only_if_its_listed_condition_holds() {
        let implementation = Implementation { lineage: Some("nvidia"), version: Some("13.5.37") };
        let forecaster = Forecaster::new(&Rules::default(), implementation, Profile::default());
        let resting_on = |clauses: ClauseSet| {
            let trace = Trace { clauses, ..Trace::default() };
            ExpectedOutcome { refused: false, trace }
        };
        let mut harmless = 0;
        for clause in forecaster.deadly_clauses.iter() {
            let usual = resting_on([clause].into_iter().collect());
            if !forecaster.crashes(&usual.trace) {
                assert_eq!(forecaster.forecast(usual, None, |_| usual), Forecast::Accepted, "{clause:?}");
                harmless += 1;
            }
        }
        assert!(harmless > 0);
    }
}
