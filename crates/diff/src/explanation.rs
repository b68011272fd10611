//! The explanation of a difference: interpretations and known deviations.

use ptxsmith_oracle::{Question, Rules};

use crate::known::{KNOWN, KnownDeviation};

/// Sets of hypotheses, by id. Each set alone predicts the difference exactly. Empty if no set does.
pub type Alternatives = Vec<Vec<&'static str>>;

/// A set of hypotheses that together predict an answer exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Explanation {
    /// The answers to open questions that differ from the default, as pairs of a question and the index of an
    /// answer.
    pub readings: Vec<(Question, usize)>,
    /// The ids of known deviations.
    pub known: Vec<&'static str>,
}

impl Explanation {
    /// Creates the explanation by a single known deviation.
    pub(crate) fn by_deviation(known: &KnownDeviation) -> Explanation {
        Explanation { readings: Vec::new(), known: vec![known.id] }
    }

    /// Returns true if the explanation needs only another interpretation and no deviation.
    pub fn is_reading(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns `base` with the interpretations of this explanation, but without its deviations.
    pub fn applied(&self, base: &Rules) -> Rules {
        let mut readings = base.readings;
        for &(question, answer) in &self.readings {
            readings = readings.with(question, answer).unwrap_or(readings);
        }
        Rules { readings, ..*base }
    }

    /// Returns `base` with the interpretations and the deviations of this explanation.
    pub(crate) fn rules(&self, base: &Rules) -> Rules {
        let applied = self.applied(base);
        applied.with(|rules| {
            self.deviations().filter_map(KnownDeviation::change).for_each(|change| change(rules))
        })
    }

    /// Merges two explanations. Returns `None` if they answer the same question differently.
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

    /// Returns the known deviations of this explanation in the order of the table.
    pub fn deviations(&self) -> impl Iterator<Item = &'static KnownDeviation> {
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
