//! The first of many trials to meet an open question: those are asked what they rule out.

use ptxsmith_oracle::{Question, QuestionSet};

/// How many expressions of one batch are asked which answers to a question they rule out, where it has no other answer so far,
/// or all do: the first that meet it, whatever becomes of them, and the first that answer it otherwise.
const MOST_EXCLUDED: u32 = 16;

/// How many trials met each question so far, as far as that matters.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    counts: [u32; Question::ALL.len()],
    /// How many trials of each question are asked.
    most: u32,
    /// The questions that enough trials met.
    enough: QuestionSet,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked::of(MOST_EXCLUDED)
    }
}

impl Asked {
    /// Asks so many trials of each question.
    pub fn of(most: u32) -> Asked {
        Asked { counts: [0; Question::ALL.len()], most, enough: QuestionSet::default() }
    }

    /// Of these questions, which a trial met, those that it is among the first to meet.
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
    fn so_many_trials_of_each_question_are_asked_and_no_more() {
        let (shift, bitwise) = (Question::ShiftCount, Question::BitwiseType);
        let (one, both) = (QuestionSet::from_iter([shift]), QuestionSet::from_iter([shift, bitwise]));
        let mut asked = Asked::of(3);
        assert_eq!([one, one].map(|met| asked.first_to_meet(met)), [one, one]);
        assert_eq!(
            [both, both, both].map(|met| asked.first_to_meet(met)),
            [both, QuestionSet::from_iter([bitwise]), QuestionSet::from_iter([bitwise]),]
        );
        assert_eq!([both, both].map(|met| asked.first_to_meet(met)), [QuestionSet::default(); 2]);
    }
}
