//! The expectations for a program under non-default interpretations of the ambiguities that it meets.

use std::collections::BTreeSet;

use ptxsmith_oracle::{Expectation, Question, Readings, Rules, Variable, expect};
use ptxsmith_syntax::Module;

/// The maximum number of non-default interpretations that are combined. Test programs are small and rarely meet more
/// ambiguities.
pub const MOST_CHANGES: usize = 3;

/// The expectation for a program under non-default interpretations.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The non-default interpretations, in the order of [`Question::ALL`].
    pub answers: Vec<(Question, usize)>,
    /// The expectation under these interpretations.
    pub expected: Expectation,
}

/// Returns every expectation that differs from the default one, each with the fewest non-default interpretations that
/// lead to it, fewest first; and the names of the ambiguities that the program meets under the default interpretations.
///
/// A non-default interpretation may lead to further ambiguities, which are tried too.
pub fn alternatives(module: &Module, expected: &Expectation) -> (Vec<Alternative>, Vec<&'static str>) {
    let met = expected.trace().questions;
    let mut found: Vec<Alternative> = Vec::new();
    let mut seen = BTreeSet::from([Readings::default()]);
    let mut level = vec![(Readings::default(), expected.clone())];
    for _ in 0..MOST_CHANGES {
        let mut next = Vec::new();
        for (readings, outcome) in &level {
            for question in outcome.trace().questions.iter() {
                if readings.answer(question) != 0 {
                    continue;
                }
                for answer in 1..question.answers().len() {
                    let Some(changed) = readings.with(question, answer) else { continue };
                    if seen.insert(changed) {
                        next.push((changed, under(module, changed)));
                    }
                }
            }
        }
        for (readings, outcome) in &next {
            let is_new = !same(outcome, expected) && !found.iter().any(|a| same(outcome, &a.expected));
            // Skip results without a rule: an implementation cannot be tested against them.
            if is_new && !matches!(outcome, Expectation::Unmodelled { .. }) {
                found.push(Alternative { answers: answers(readings), expected: outcome.clone() });
            }
        }
        level = next;
    }
    (found, met.iter().map(Question::name).collect())
}

/// Returns the non-default interpretations.
fn answers(readings: &Readings) -> Vec<(Question, usize)> {
    let changed = |&question: &Question| (question, readings.answer(question));
    Question::ALL.iter().map(changed).filter(|&(_, answer)| answer != 0).collect()
}

/// Returns true if an implementation that conforms to one expectation always conforms to the other.
fn same(a: &Expectation, b: &Expectation) -> bool {
    match (a, b) {
        (
            Expectation::Accepted { variables: a, unmodelled: lacks, .. },
            Expectation::Accepted { variables: b, unmodelled: also, .. },
        ) => lacks == also && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_contents(a, b)),
        (Expectation::Refused { .. }, Expectation::Refused { .. })
        | (Expectation::Unmodelled { .. }, Expectation::Unmodelled { .. }) => true,
        _ => false,
    }
}

fn same_contents(a: &Variable, b: &Variable) -> bool {
    let contents = |v: &Variable| (v.name.clone(), v.space, v.size, v.align);
    contents(a) == contents(b) && a.bytes == b.bytes && a.addresses == b.addresses
}

/// Returns the expectation for a module under the given interpretations.
pub fn under(module: &Module, readings: Readings) -> Expectation {
    expect(module, &Rules::specification(readings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::Interpretation;

    fn of(statement: &str) -> Vec<(String, bool)> {
        let module = ptxsmith_syntax::parse(&format!(".version 7.8\n.target sm_80\n{statement}\n")).unwrap();
        let (found, _) = alternatives(&module, &expect(&module, &Rules::default()));
        let told = |a: &Alternative| {
            let answers = a.answers.iter().map(|&(q, at)| Interpretation(q, at).to_string());
            (answers.collect::<Vec<_>>().join(" "), matches!(a.expected, Expectation::Accepted { .. }))
        };
        found.iter().map(told).collect()
    }

    #[test]
    fn a_program_without_open_questions_has_no_alternatives() {
        assert_eq!(of(".global .u32 a = 1 + 2;"), []);
    }

    #[test]
    fn each_outcome_stands_once_with_the_fewest_answers() {
        // 1 << 64 is zero by default, and 1 if the shift count is taken modulo 64.
        assert_eq!(of(".global .u32 a = 1 << 64;"), [("shift-count=modulo".to_owned(), true)]);
        // The two non-default values of a division by zero.
        let by_zero = of(".global .u32 a = 1 / 0;");
        assert_eq!(by_zero.len(), 2, "{by_zero:?}");
        assert!(
            by_zero.iter().all(|(answers, accepted)| answers.starts_with("division-by-zero=") && *accepted)
        );
    }

    #[test]
    fn what_only_two_answers_together_give_is_found() {
        // All ones, shifted by 64 modulo 64. All other accepting interpretations give zero.
        assert_eq!(
            of(".global .u32 a = 1 / 0 << 64;"),
            [
                ("division-by-zero=zero".to_owned(), true),
                ("shift-count=modulo division-by-zero=all-ones".to_owned(), true)
            ]
        );
    }
}
