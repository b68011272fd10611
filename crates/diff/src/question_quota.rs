//! Selects, for each open question, the first trials that meet it. Only those trials are asked which
//! interpretations they exclude.

use ptxsmith_oracle::{Question, QuestionSet};

/// The number of expressions of a batch, per question, that are asked which answers they exclude. Applies to
/// expressions that match the known answers of the subject: the first that meet the question, whatever their
/// verdicts, and the first that answer it differently from the default.
const MOST_EXCLUDED: u32 = 16;

/// Counts, up to the limit, how many trials met each question so far.
#[derive(Clone, Debug)]
pub(crate) struct QuestionQuota {
    counts: [u32; Question::ALL.len()],
    /// The number of trials that are asked per question.
    most: u32,
    /// The questions that have reached the limit.
    enough: QuestionSet,
}

impl Default for QuestionQuota {
    fn default() -> QuestionQuota {
        QuestionQuota::new(MOST_EXCLUDED)
    }
}

impl QuestionQuota {
    /// Creates a selection that asks `most` trials of each question.
    pub fn new(most: u32) -> QuestionQuota {
        QuestionQuota { counts: [0; Question::ALL.len()], most, enough: QuestionSet::default() }
    }

    /// Returns those of the trial's `questions` that have not reached their limit, and counts the trial for
    /// each.
    pub fn first_to_meet(&mut self, questions: QuestionSet) -> QuestionSet {
        let mut first = QuestionSet::default();
        if self.enough.has_all(questions) {
            return first;
        }
        for question in questions.iter() {
            let count = &mut self.counts[question as usize];
            if *count < self.most {
                *count += 1;
                first.insert(question);
            } else {
                self.enough.insert(question);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_quota_of_trials_is_asked_for_each_question() {
        let (shift, bitwise) = (Question::ShiftCount, Question::BitwiseType);
        let (one, both) = (QuestionSet::from_iter([shift]), QuestionSet::from_iter([shift, bitwise]));
        let mut asked = QuestionQuota::new(3);
        assert_eq!([one, one].map(|met| asked.first_to_meet(met)), [one, one]);
        assert_eq!(
            [both, both, both].map(|met| asked.first_to_meet(met)),
            [both, QuestionSet::from_iter([bitwise]), QuestionSet::from_iter([bitwise]),]
        );
        assert_eq!([both, both].map(|met| asked.first_to_meet(met)), [QuestionSet::default(); 2]);
    }
}
