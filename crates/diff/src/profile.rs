//! The known behaviour of a subject, and the resulting forecast for a trial.
//!
//! The forecast decides which trials share a module and which of two explanations is preferred. No verdict depends on
//! it.

use std::collections::BTreeMap;

use ptxsmith_oracle::{ClauseSet, Question, QuestionSet, Readings, Rules, Trace};
use serde::{Deserialize, Serialize};

use crate::{
    known::{Effect, KNOWN, Known},
    maker::Maker,
};

/// A subject's answers to open questions and the questions that crash it, as found by fixed programs
/// ([`Judge::ask`](crate::Judge::ask)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Named", try_from = "Named")]
pub struct Profile {
    /// The answers that differ from the default.
    answers: BTreeMap<Question, usize>,
    /// The questions that occur in programs that crash the subject.
    deadly: QuestionSet,
}

impl Profile {
    /// Records the subject's answer to a question. The first recorded answer stays.
    pub fn answers(&mut self, question: Question, answer: usize) {
        self.answers.entry(question).or_insert(answer);
    }

    /// Records that a program that meets this question crashes the subject.
    pub fn dies_of(&mut self, question: Question) {
        self.deadly.insert(question);
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
struct Named {
    answers: BTreeMap<String, String>,
    deadly: Vec<String>,
}

impl From<Profile> for Named {
    fn from(profile: Profile) -> Named {
        let answer = |(question, answer): (Question, usize)| {
            (question.name().to_owned(), question.answers()[answer].to_owned())
        };
        Named {
            answers: profile.answers.into_iter().map(answer).collect(),
            deadly: profile.deadly.iter().map(|question| question.name().to_owned()).collect(),
        }
    }
}

impl TryFrom<Named> for Profile {
    type Error = String;

    fn try_from(named: Named) -> Result<Profile, String> {
        let question =
            |name: &str| Question::from_name(name).ok_or_else(|| format!("no open question `{name}`"));
        let mut profile = Profile::default();
        for (name, answer) in &named.answers {
            let question = question(name)?;
            let place = question.answers().iter().position(|known| known == answer);
            profile.answers(question, place.ok_or_else(|| format!("no answer `{answer}` to `{name}`"))?);
        }
        for name in &named.deadly {
            profile.dies_of(question(name)?);
        }
        Ok(profile)
    }
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
    Dead,
}

/// The part of an expectation that forecasts depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Whether the trial is invalid under the rules.
    pub refused: bool,
    /// The clauses and questions that the expectation rests on.
    pub trace: Trace,
}

/// A listed deviation, with the rules changed by it.
pub(crate) type Listed = (&'static Known, Rules);

/// The known differences of a subject from the specification, from the list of deviations and from its profile.
pub(crate) struct Plan {
    /// The rules with the subject's answers to open questions.
    pub followed: Rules,
    /// The rules of the specification, changed by each listed deviation in turn.
    pub deviating: Vec<Listed>,
    /// The questions that the subject does not answer with the default.
    others: QuestionSet,
    /// The questions that occur in programs that crash the subject.
    deadly: QuestionSet,
    /// The listed crashes.
    crashes: Vec<&'static Known>,
    /// The clauses of the listed crashes. A program that uses one of these clauses crashes the subject only under
    /// certain conditions.
    deadly_clauses: ClauseSet,
    /// The followed rules, changed by each listed deviation that rejects more programs.
    refusing: Vec<Listed>,
    /// The clauses of the deviations in `refusing`.
    refusable: ClauseSet,
    /// The followed rules, changed by each listed deviation that leads to other values.
    computing: Vec<Listed>,
}

impl Plan {
    /// Creates the plan for this lineage and release and this profile.
    pub fn new(rules: &Rules, maker: Maker<'_>, profile: Profile) -> Plan {
        let followed = Rules { readings: profile.applied(rules.readings), ..*rules };
        let mut plan = Plan {
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
        for known in KNOWN.iter().filter(|known| known.is_of(maker)) {
            let clauses: ClauseSet = known.clauses.iter().copied().collect();
            match known.effect {
                Effect::Crash { .. } => {
                    plan.crashes.push(known);
                    plan.deadly_clauses = plan.deadly_clauses.union(clauses);
                }
                // Deviations that are not changes of rules cannot be predicted.
                Effect::Death { .. } | Effect::Taken | Effect::Refused | Effect::Wrong => {}
                Effect::Refusal(change) => {
                    plan.refusing.push((known, followed.with(change)));
                    plan.refusable = plan.refusable.union(clauses);
                }
                Effect::Rule(change) => plan.computing.push((known, followed.with(change))),
            }
            if let Effect::Rule(change) | Effect::Refusal(change) = known.effect {
                plan.deviating.push((known, rules.with(change)));
            }
        }
        plan
    }

    /// Returns true if the subject answers any of these questions differently from the default.
    pub fn concerns(&self, questions: QuestionSet) -> bool {
        self.others.meets(questions)
    }

    /// Returns the questions that the subject answers differently from the default.
    pub fn others(&self) -> QuestionSet {
        self.others
    }

    /// Returns the question that the subject answers differently from the default, if both sets contain it and
    /// neither contains another such question.
    pub fn only(&self, these: QuestionSet, those: QuestionSet) -> Option<Question> {
        let mut met = these.union(those).iter().filter(|&question| self.others.contains(question));
        match (met.next(), met.next()) {
            (Some(question), None) if these.contains(question) && those.contains(question) => Some(question),
            _ => None,
        }
    }

    /// Returns true if a program that rests on these clauses and questions crashes the subject.
    pub fn dies(&self, trace: &Trace) -> bool {
        let kills = |known: &&Known| matches!(known.effect, Effect::Crash { when, .. } if when(trace));
        self.deadly.meets(trace.questions) || self.crashes.iter().any(kills)
    }

    /// Forecasts the behaviour of the subject for a trial. `usual` is the expectation of the specification.
    /// `followed` is the expectation of the followed rules, if the trial [concerns](Plan::concerns) the subject.
    /// `under` evaluates the trial under other rules.
    pub fn forecast<'p>(
        &'p self,
        usual: Expected,
        followed: Option<Expected>,
        mut under: impl FnMut(&'p Rules) -> Expected,
    ) -> Forecast {
        let Expected { trace, .. } = usual;
        let probable = followed.unwrap_or(usual);
        let mut any = |listed: &'p [Listed], is_so: &dyn Fn(&Expected) -> bool| {
            let mut touched = listed.iter().filter(|(known, _)| known.touches(&trace));
            touched.any(|(_, rules)| is_so(&under(rules)))
        };
        let dies = |expected: &Expected| self.dies(&expected.trace);
        if dies(&usual)
            || dies(&probable)
            || self.deadly_clauses.meets(trace.clauses) && any(&self.computing, &dies)
        {
            return Forecast::Dead;
        }
        let refused = |expected: &Expected| expected.refused;
        if probable.refused || self.refusable.meets(trace.clauses) && any(&self.refusing, &refused) {
            return Forecast::Refused;
        }
        if usual.refused { Forecast::Doubtful } else { Forecast::Accepted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let mut profile = Profile::default();
        profile.answers(Question::ShiftCount, 1);
        profile.dies_of(Question::DivisionByZero);
        profile
    }

    fn met(questions: &[Question]) -> Expected {
        let questions = questions.iter().copied().collect();
        Expected { refused: false, trace: Trace { questions, ..Trace::default() } }
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
    fn what_a_subject_makes_of_a_trial_is_what_its_answers_make_of_it() {
        let plan = Plan::new(&Rules::default(), Maker::default(), profile());
        let shift = met(&[Question::ShiftCount]);
        assert!(plan.concerns(shift.trace.questions) && !plan.concerns(QuestionSet::default()));
        let forecast = |usual, followed| plan.forecast(usual, followed, |_| usual);
        assert_eq!(forecast(shift, Some(shift)), Forecast::Accepted);
        assert_eq!(forecast(shift, Some(Expected { refused: true, ..shift })), Forecast::Refused);
        assert_eq!(forecast(Expected { refused: true, ..shift }, Some(shift)), Forecast::Doubtful);
        assert_eq!(forecast(met(&[Question::DivisionByZero]), None), Forecast::Dead);
    }

    /// A conditional crash affects only the programs that meet its condition, not all that use its clause.
    #[test]
    fn a_trial_is_dead_only_where_what_it_rests_on_comes_out_as_is_listed() {
        let maker = Maker { lineage: Some("nvidia"), version: Some("13.5.37") };
        let plan = Plan::new(&Rules::default(), maker, Profile::default());
        let resting_on = |clauses: ClauseSet| {
            let trace = Trace { clauses, ..Trace::default() };
            Expected { refused: false, trace }
        };
        let mut harmless = 0;
        for clause in plan.deadly_clauses.iter() {
            let usual = resting_on([clause].into_iter().collect());
            if !plan.dies(&usual.trace) {
                assert_eq!(plan.forecast(usual, None, |_| usual), Forecast::Accepted, "{clause:?}");
                harmless += 1;
            }
        }
        assert!(harmless > 0);
    }
}
