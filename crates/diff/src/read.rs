//! The variables to ask a subject for if it may not be able to list them.

use ptxsmith_oracle::{Expectation, Readings, Rules, expect};
use ptxsmith_subject::{Description, Read};
use ptxsmith_syntax::Module;

/// Returns the variables with storage and content that the specification gives a module, in declaration order.
/// Returns none if the subject lists its variables itself, which saves the evaluation.
///
/// A module that is invalid by default may be valid under another answer to an open question. Then the result is its
/// variables under the first such answer.
pub(crate) fn wanted(description: &Description, module: &Module, rules: &Rules) -> Vec<Read> {
    if description.lists == Some(true) {
        return Vec::new();
    }
    wanted_of(description, &expect(module, rules), module, rules)
}

/// Does the same as [`wanted`] for a module with a known expectation.
pub(crate) fn wanted_of(
    description: &Description,
    expected: &Expectation,
    module: &Module,
    rules: &Rules,
) -> Vec<Read> {
    if description.lists == Some(true) {
        return Vec::new();
    }
    match expected {
        Expectation::Accepted { variables, .. } => read(variables),
        Expectation::Refused { trace, .. } => {
            let others = trace.questions.iter().flat_map(|question| {
                (0..question.answers().len()).filter_map(move |at| rules.readings.with(question, at))
            });
            let under = |readings: Readings| match expect(module, &Rules { readings, ..*rules }) {
                Expectation::Accepted { variables, .. } => Some(read(&variables)),
                _ => None,
            };
            others.filter_map(under).next().unwrap_or_default()
        }
        Expectation::Unmodelled { .. } => Vec::new(),
    }
}

fn read(variables: &[ptxsmith_oracle::Variable]) -> Vec<Read> {
    let one = |variable: &ptxsmith_oracle::Variable| Read {
        name: variable.name.to_string(),
        space: variable.space.name().to_owned(),
        size: variable.size,
    };
    variables.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(lists: Option<bool>, statements: &str) -> Vec<(String, String, u64)> {
        let text = format!(".version 7.8\n.target sm_80\n{statements}\n");
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let description = Description { lists, ..Description::default() };
        let read = wanted(&description, &module, &Rules::default());
        read.into_iter().map(|read| (read.name, read.space, read.size)).collect()
    }

    #[test]
    fn variables_with_storage_are_asked_for() {
        let statements = ".global .u32 a[3]; .const .f64 b; .extern .global .u8 c; .shared .u8 d;";
        let both = [("a".into(), "global".into(), 12), ("b".into(), "const".into(), 8)];
        assert_eq!(asked(None, statements), both);
        assert_eq!(asked(Some(false), statements), both);
        assert_eq!(asked(Some(true), statements), []);
    }

    #[test]
    fn a_refused_program_is_asked_for_what_another_answer_gives_it() {
        assert_eq!(asked(None, ".global .u32 a = 1 / 0;"), [("a".into(), "global".into(), 4)]);
        assert_eq!(asked(None, ".global .u32 a = 1.5 % 2;"), []);
    }
}
