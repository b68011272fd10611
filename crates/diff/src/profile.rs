//! What is known of a subject before it is tested, and what it will therefore do with a trial.
//!
//! Only which trials are shown together depends on this, and which of two explanations is given: no verdict.

use std::collections::BTreeMap;

use ptxsmith_oracle::{ClauseSet, Question, QuestionSet, Readings, Rules, Trace};
use serde::{Deserialize, Serialize};

use crate::{
    known::{Effect, KNOWN, Known},
    maker::Maker,
};

/// How a subject answers open questions and what it dies of, as far as fixed programs show it
/// ([`Judge::ask`](crate::Judge::ask)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Named", try_from = "Named")]
pub struct Profile {
    /// The answers other than those of the text.
    answers: BTreeMap<Question, usize>,
    /// The questions that are met by programs which kill it.
    deadly: QuestionSet,
}

impl Profile {
    /// Notes that the subject gives this answer to a question, unless another is noted already.
    pub fn answers(&mut self, question: Question, answer: usize) {
        self.answers.entry(question).or_insert(answer);
    }

    /// Notes that the subject dies of a program that meets this question.
    pub fn dies_of(&mut self, question: Question) {
        self.deadly.insert(question);
    }

    /// These answers, with the subject's where they are known to be others.
    fn applied(&self, base: Readings) -> Readings {
        self.answers
            .iter()
            .fold(base, |readings, (&question, &answer)| readings.with(question, answer).unwrap_or(readings))
    }
}

/// A profile as it is kept.
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

/// What a subject will probably do with a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forecast {
    /// It accepts it: the trial can stand beside any others.
    Accepted,
    /// It accepts it although the specification refuses it; where that is not so, the trial poisons a large module.
    Doubtful,
    /// It refuses it: the trial stands among others of that kind.
    Refused,
    /// It dies of it: the trial stands alone.
    Dead,
}

/// What some rules say of a trial, as far as the plan depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Whether they refuse it.
    pub refused: bool,
    /// What that rests on.
    pub trace: Trace,
}

/// A listed deviation, with the rules of which it changes one.
pub(crate) type Listed = (&'static Known, Rules);

/// What a subject does otherwise than the text: by the list, and by its profile.
pub(crate) struct Plan {
    /// The rules with the subject's answers to open questions.
    pub followed: Rules,
    /// The text's rules, with any one that is listed.
    pub deviating: Vec<Listed>,
    /// The questions that the subject answers otherwise than the text.
    others: QuestionSet,
    /// The questions that it dies of.
    deadly: QuestionSet,
    /// What is listed to kill it.
    crashes: Vec<&'static Known>,
    /// The clauses that everything rests on of which it dies if it comes out in a certain way.
    deadly_clauses: ClauseSet,
    /// The followed rules with any one that is listed and refuses more.
    refusing: Vec<Listed>,
    /// The clauses that those touch.
    refusable: ClauseSet,
    /// The followed rules with any one that is listed and leads to other values.
    computing: Vec<Listed>,
}

impl Plan {
    /// What is listed of this maker, and what this profile says.
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
                // What is outside of the rules cannot be predicted.
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

    /// Whether the subject is known to answer any of these questions otherwise than the text.
    pub fn concerns(&self, questions: QuestionSet) -> bool {
        self.others.meets(questions)
    }

    /// The questions that the subject is known to answer otherwise than the text.
    pub fn others(&self) -> QuestionSet {
        self.others
    }

    /// The only question that the subject answers otherwise among these, if it is also the only one among those.
    pub fn only(&self, these: QuestionSet, those: QuestionSet) -> Option<Question> {
        let mut met = these.union(those).iter().filter(|&question| self.others.contains(question));
        match (met.next(), met.next()) {
            (Some(question), None) if these.contains(question) && those.contains(question) => Some(question),
            _ => None,
        }
    }

    /// Whether the subject dies of what rests on this.
    pub fn dies(&self, trace: &Trace) -> bool {
        let kills = |known: &&Known| matches!(known.effect, Effect::Crash { when, .. } if when(trace));
        self.deadly.meets(trace.questions) || self.crashes.iter().any(kills)
    }

    /// What the subject will do with a trial of which the text says `usual` and, where it [concerns](Plan::concerns) the
    /// subject, the followed rules say `followed`. `under` gives what other rules say of it.
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

    /// A clause of which some programs kill a compiler kills none that comes out otherwise.
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
