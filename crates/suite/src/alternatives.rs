//! The expectations for a program under non-default interpretations of the ambiguities that it meets.

use std::collections::BTreeSet;

use ptxsmith_oracle::{Expectation, Question, Readings, Rules, Variable, expect};
use ptxsmith_syntax::Module;

/// The maximum number of non-default interpretations that are combined. Test programs are small and rarely
/// meet more ambiguities.
pub const MOST_CHANGES: usize = 3;

/// The expectation for a program under non-default interpretations.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The non-default interpretations, in the order of [`Question::ALL`].
    pub answers: Vec<(Question, usize)>,
    /// The expectation under these interpretations.
    pub expected: Expectation,
}

/// Returns every expectation that differs from the default one and from those found before it, each with the
/// fewest non-default interpretations that lead to it, fewest first; and the names of the ambiguities that
/// the program meets under the default interpretations. Results without a rule are left out.
///
/// A non-default interpretation may lead to further ambiguities, which are tried too.
pub fn alternatives(module: &Module, expected: &Expectation) -> (Vec<Alternative>, Vec<&'static str>) {
    let questions = expected.trace().questions;
    let mut alternatives: Vec<Alternative> = Vec::new();
    let mut tried = BTreeSet::from([Readings::default()]);
    let mut level = vec![(Readings::default(), expected.clone())];
    for _ in 0..MOST_CHANGES {
        let mut next = Vec::new();
        for (readings, expectation) in &level {
            for changed in with_one_change(readings, expectation) {
                if tried.insert(changed) {
                    next.push((changed, expect_under(module, changed)));
                }
            }
        }
        for (readings, expectation) in &next {
            let is_known = same_expectation(expectation, expected)
                || alternatives.iter().any(|known| same_expectation(expectation, &known.expected));
            // Skip results without a rule: an implementation cannot be tested against them.
            if !is_known && !matches!(expectation, Expectation::Unmodelled { .. }) {
                let answers = non_default_answers(readings);
                alternatives.push(Alternative { answers, expected: expectation.clone() });
            }
        }
        level = next;
    }
    (alternatives, questions.iter().map(Question::name).collect())
}

/// Returns the interpretations with a non-default answer to one more of the questions that an expectation
/// meets.
fn with_one_change(readings: &Readings, expectation: &Expectation) -> Vec<Readings> {
    let mut changed = Vec::new();
    for question in expectation.trace().questions.iter() {
        if readings.answer(question) == 0 {
            let answers = 1..question.answers().len();
            changed.extend(answers.filter_map(|answer| readings.with(question, answer)));
        }
    }
    changed
}

fn non_default_answers(readings: &Readings) -> Vec<(Question, usize)> {
    let answers = Question::ALL.iter().map(|&question| (question, readings.answer(question)));
    answers.filter(|&(_, answer)| answer != 0).collect()
}

/// Returns true if an implementation that conforms to one expectation always conforms to the other.
fn same_expectation(a: &Expectation, b: &Expectation) -> bool {
    match (a, b) {
        (
            Expectation::Accepted { variables: a, unmodelled: unmodelled_a, .. },
            Expectation::Accepted { variables: b, unmodelled: unmodelled_b, .. },
        ) => {
            unmodelled_a == unmodelled_b
                && a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| same_contents(a, b))
        }
        (Expectation::Refused { .. }, Expectation::Refused { .. })
        | (Expectation::Unmodelled { .. }, Expectation::Unmodelled { .. }) => true,
        _ => false,
    }
}

fn same_contents(a: &Variable, b: &Variable) -> bool {
    (&a.name, a.space, a.size, a.align) == (&b.name, b.space, b.size, b.align)
        && a.bytes == b.bytes
        && a.addresses == b.addresses
}

/// Returns the expectation for a module under the given interpretations.
pub fn expect_under(module: &Module, readings: Readings) -> Expectation {
    expect(module, &Rules::specification(readings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::Interpretation;

    /// Returns the alternatives of a statement: the answers, and whether it is accepted.
    fn alternatives_of(statement: &str) -> Vec<(String, bool)> {
        let module = ptxsmith_syntax::parse(&format!(".version 7.8\n.target sm_80\n{statement}\n")).unwrap();
        let (found, _) = alternatives(&module, &expect(&module, &Rules::default()));
        let mut described = Vec::new();
        for Alternative { answers, expected } in found {
            let answers =
                answers.iter().map(|&(question, answer)| Interpretation(question, answer).to_string());
            let is_accepted = matches!(expected, Expectation::Accepted { .. });
            described.push((answers.collect::<Vec<_>>().join(" "), is_accepted));
        }
        described
    }

    #[test]
    fn a_program_without_open_questions_has_no_alternatives() {
        assert_eq!(alternatives_of(".global .u32 a = 1 + 2;"), []);
    }

    #[test]
    fn each_expectation_is_listed_once_with_the_fewest_answers() {
        // 1 << 64 is zero by default, and 1 if the shift count is taken modulo 64.
        assert_eq!(alternatives_of(".global .u32 a = 1 << 64;"), [("shift-count=modulo".to_owned(), true)]);
        // The two non-default values of a division by zero.
        let by_zero = alternatives_of(".global .u32 a = 1 / 0;");
        assert_eq!(by_zero.len(), 2, "{by_zero:?}");
        assert!(
            by_zero.iter().all(|(answers, accepted)| answers.starts_with("division-by-zero=") && *accepted)
        );
    }

    #[test]
    fn an_expectation_that_needs_two_answers_is_found() {
        // All ones, shifted by 64 modulo 64. All other accepting interpretations give zero.
        assert_eq!(
            alternatives_of(".global .u32 a = 1 / 0 << 64;"),
            [
                ("division-by-zero=zero".to_owned(), true),
                ("shift-count=modulo division-by-zero=all-ones".to_owned(), true)
            ]
        );
    }
}
