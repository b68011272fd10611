//! Which trials are shown together. Only the schedule depends on this, no verdict.

use std::collections::BTreeMap;

use ptxsmith_oracle::{ClauseSet, Question, QuestionSet, Readings, Rules, Trace};

use crate::{
    known::{Effect, KNOWN, Known},
    maker::Maker,
    verdict::Verdict,
};

/// What a subject will probably do with a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreseen {
    /// It accepts it: the trial can stand beside any others.
    Accepted,
    /// It accepts it if it does as with others that the specification refuses; it had better not spoil a large module.
    Doubtful,
    /// It refuses it: the trial stands among others of that kind.
    Refused,
    /// It dies of it: the trial stands alone.
    Dead,
}

/// A listed deviation, with the rules that it changes.
pub(crate) type Changed = (&'static Known, fn(&mut Rules));

/// What is listed of an implementation, as far as it tells which trials spoil their company.
#[derive(Clone)]
pub(crate) struct Listed {
    /// What kills it.
    pub crashes: Vec<&'static Known>,
    /// What it refuses although the specification takes it.
    pub refusals: Vec<Changed>,
    /// How it computes integers otherwise, which may lead to what kills it.
    pub integers: Vec<Changed>,
    /// All that it does otherwise and lives, in the order of the list.
    pub rules: Vec<Changed>,
}

impl Listed {
    /// What is listed of this maker.
    pub fn of(maker: Maker<'_>) -> Listed {
        let (mut crashes, mut refusals, mut integers) = (Vec::new(), Vec::new(), Vec::new());
        let mut rules = Vec::new();
        for known in KNOWN.iter().filter(|known| known.is_of(maker)) {
            if let Effect::Rule(change) | Effect::Refusal(change) = known.effect {
                rules.push((known, change));
            }
            match known.effect {
                Effect::Crash { .. } => crashes.push(known),
                Effect::Refusal(change) => refusals.push((known, change)),
                Effect::Rule(change) if known.clauses.iter().any(|clause| clause.section() == "4.5.5") => {
                    integers.push((known, change));
                }
                Effect::Rule(_) => {}
            }
        }
        Listed { crashes, refusals, integers, rules }
    }

    /// Whether it dies of what rests on this.
    pub fn dies(&self, trace: &Trace) -> bool {
        self.crashes.iter().any(|known| matches!(known.effect, Effect::Crash { when, .. } if when(trace)))
    }

    /// The clauses that everything rests on of which it dies if it comes out in a certain way.
    pub fn deadly(&self) -> ClauseSet {
        self.crashes.iter().flat_map(|known| known.clauses).copied().collect()
    }
}

/// The answers to open questions, other than the oracle's, that trials of one batch followed.
pub(crate) struct Followed {
    /// The questions that any trial answers otherwise.
    pub contested: QuestionSet,
    /// The answers that most trials follow, where there are some; else the oracle's.
    pub readings: Readings,
}

impl Followed {
    /// Fewer trials than these may follow an answer by chance: another cause gives the same value.
    const SOME: u32 = 3;

    /// What these verdicts follow, of a subject that otherwise does as the oracle.
    pub fn of<'v>(oracle: Readings, verdicts: impl Iterator<Item = &'v Verdict>) -> Followed {
        let mut counts: BTreeMap<(Question, usize), u32> = BTreeMap::new();
        for verdict in verdicts {
            let Verdict::Reads(difference) = verdict else { continue };
            for &answer in difference.explanation.iter().flat_map(|e| &e.readings) {
                *counts.entry(answer).or_default() += 1;
            }
        }
        let mut followed = Followed { contested: QuestionSet::default(), readings: oracle };
        counts.keys().for_each(|&(question, _)| followed.contested.insert(question));
        let mut some: Vec<_> = counts.into_iter().filter(|&(_, count)| count >= Followed::SOME).collect();
        some.sort_by_key(|&(_, count)| count);
        for ((question, answer), _) in some {
            followed.readings = followed.readings.with(question, answer).unwrap_or(followed.readings);
        }
        followed
    }
}

/// How a subject answers open questions, as far as it has been seen to.
#[derive(Clone)]
pub(crate) struct Habits {
    readings: Readings,
    others: QuestionSet,
}

impl Habits {
    /// Nothing seen: the answers are those of the oracle.
    pub fn new(readings: Readings) -> Habits {
        Habits { readings, others: QuestionSet::default() }
    }

    /// Takes over what the trials of a batch followed.
    pub fn learn(&mut self, followed: &Followed) {
        self.others = self.others.union(followed.contested);
        for question in followed.contested.iter() {
            let answer = followed.readings.answer(question);
            self.readings = self.readings.with(question, answer).unwrap_or(self.readings);
        }
    }

    /// Whether any of these questions was answered otherwise than the oracle does.
    pub fn concern(&self, questions: QuestionSet) -> bool {
        self.others.meets(questions)
    }

    /// The only question that was answered otherwise among these, if it is also the only one among those.
    pub fn only(&self, these: QuestionSet, those: QuestionSet) -> Option<Question> {
        let mut met = these.union(those).iter().filter(|&question| self.others.contains(question));
        match (met.next(), met.next()) {
            (Some(question), None) if these.contains(question) && those.contains(question) => Some(question),
            _ => None,
        }
    }

    /// The answers: the subject's where they were seen, else the oracle's.
    pub fn readings(&self) -> Readings {
        self.readings
    }
}

/// Which open questions spoil a batch: those that most of the trials that met them were guilty with. Trials that meet
/// one are shown alone at once. Only the schedule depends on this, no verdict.
#[derive(Clone, Default)]
pub(crate) struct Suspicion {
    guilty: [u32; Question::ALL.len()],
    innocent: [u32; Question::ALL.len()],
}

impl Suspicion {
    pub fn raise(&mut self, questions: QuestionSet) {
        questions.iter().for_each(|question| self.guilty[question as usize] += 1);
    }

    pub fn clear(&mut self, questions: QuestionSet) {
        if !questions.is_empty() {
            questions.iter().for_each(|question| self.innocent[question as usize] += 1);
        }
    }

    pub fn falls_on(&self, questions: QuestionSet) -> bool {
        questions.iter().any(|question| self.suspects(question))
    }

    /// Every question that it falls on.
    pub fn suspected(&self) -> QuestionSet {
        Question::ALL.iter().copied().filter(|&question| self.suspects(question)).collect()
    }

    fn suspects(&self, question: Question) -> bool {
        self.guilty[question as usize] > 2 * self.innocent[question as usize]
    }
}
