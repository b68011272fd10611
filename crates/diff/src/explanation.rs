//! What a difference is put down to.

use ptxsmith_oracle::{Question, Rules};

use crate::known::{KNOWN, Known};

/// The sets of leads that each predict one difference, by id: any one of them may be the cause. Empty where nothing does.
pub type Alternatives = Vec<Vec<&'static str>>;

/// A set of hypotheses that together predict an answer exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Explanation {
    /// Answers to open questions that are not the default, as `question=answer`.
    pub readings: Vec<(Question, usize)>,
    /// The ids of known deviations.
    pub known: Vec<&'static str>,
}

impl Explanation {
    /// Whether it needs no deviation, only another reading.
    pub fn is_reading(&self) -> bool {
        self.known.is_empty()
    }

    /// The rules with the readings of the explanation.
    pub fn applied(&self, base: &Rules) -> Rules {
        let readings = self.readings.iter().fold(base.readings, |readings, &(question, answer)| {
            readings.with(question, answer).unwrap_or(readings)
        });
        Rules { readings, ..*base }
    }

    /// The rules with everything that the explanation says changed.
    pub(crate) fn rules(&self, base: &Rules) -> Rules {
        let applied = self.applied(base);
        applied.with(|rules| self.deviations().filter_map(Known::change).for_each(|change| change(rules)))
    }

    /// Adds what another explanation says. `None` where they answer one question in two ways.
    pub(crate) fn join(mut self, other: Explanation) -> Option<Explanation> {
        for (question, answer) in other.readings {
            match self.readings.iter().find(|(known, _)| *known == question) {
                None => self.readings.push((question, answer)),
                Some(&(_, known)) if known == answer => {}
                Some(_) => return None,
            }
        }
        self.known.extend(other.known);
        self.readings.sort();
        self.known.sort();
        self.known.dedup();
        Some(self)
    }

    /// The known deviations, in the order of the table.
    pub fn deviations(&self) -> impl Iterator<Item = &'static Known> {
        KNOWN.iter().filter(|known| self.known.contains(&known.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_join_unless_they_answer_one_question_in_two_ways() {
        let of = |readings: &[(Question, usize)], known: &[&'static str]| Explanation {
            readings: readings.to_vec(),
            known: known.to_vec(),
        };
        let (shift, skipped) = ((Question::ShiftCount, 1), (Question::SkippedOperand, 1));
        let (one, other) = (of(&[shift], &["b", "c"]), of(&[shift, skipped], &["a", "b"]));
        let mut both = [shift, skipped];
        both.sort();
        assert_eq!(one.clone().join(other), Some(of(&both, &["a", "b", "c"])));
        assert_eq!(one.join(of(&[(Question::ShiftCount, 2)], &[])), None);
    }
}
