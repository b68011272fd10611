//! Which trials are shown together. Only the schedule depends on this, no verdict.

use std::collections::BTreeMap;

use ptxsmith_oracle::{Question, QuestionSet, Readings};

use crate::verdict::Verdict;

/// What a subject will probably do with a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreseen {
    /// It accepts it: the trial can stand beside any others.
    Accepted,
    /// It accepts it if it does as with others that the specification refuses; it had better not spoil a large module.
    Doubtful,
    /// It refuses it: the trial stands among others of that kind.
    Refused,
    /// It dies of it: the trial stands alone.
    Dead,
}

/// The answers to open questions, other than the oracle's, that trials of one batch followed.
pub(super) struct Followed {
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
pub(super) struct Habits {
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

    /// The answers: the subject's where they were seen, else the oracle's.
    pub fn readings(&self) -> Readings {
        self.readings
    }
}

/// Which open questions spoil a batch: those that most of the trials that met them were guilty with. Trials that meet
/// one are shown alone at once. Only the schedule depends on this, no verdict.
#[derive(Default)]
pub(super) struct Suspicion {
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
        !questions.is_empty()
            && questions.iter().any(|q| self.guilty[q as usize] > 2 * self.innocent[q as usize])
    }
}
