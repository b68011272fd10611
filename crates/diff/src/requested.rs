//! The variables to ask a subject for if it may not be able to list them.

use ptxsmith_oracle::{Expectation, Rules, Trace, Variable, expect};
use ptxsmith_subject::{Description, RequestedVariable};
use ptxsmith_syntax::Module;

/// Returns the variables with storage and content that the specification gives a module, in declaration
/// order. Returns none if the subject lists its variables itself, which saves the evaluation.
///
/// A module that is invalid by default may be valid under another answer to an open question. Then the result
/// is its variables under the first such answer.
pub(crate) fn variables(description: &Description, module: &Module, rules: &Rules) -> Vec<RequestedVariable> {
    if description.lists == Some(true) {
        return Vec::new();
    }
    variables_of(description, &expect(module, rules), module, rules)
}

/// Does the same as [`wanted`] for a module with a known expectation.
pub(crate) fn variables_of(
    description: &Description,
    expected: &Expectation,
    module: &Module,
    rules: &Rules,
) -> Vec<RequestedVariable> {
    if description.lists == Some(true) {
        return Vec::new();
    }
    match expected {
        Expectation::Accepted { variables, .. } => variables.iter().map(request_of).collect(),
        Expectation::Refused { trace, .. } => variables_under_other_answer(module, rules, trace),
        Expectation::Unmodelled { .. } => Vec::new(),
    }
}

/// Returns the variables under the first answer to a question of this trace that makes the module valid.
fn variables_under_other_answer(module: &Module, rules: &Rules, trace: &Trace) -> Vec<RequestedVariable> {
    for question in trace.questions.iter() {
        for answer in 0..question.answers().len() {
            let Some(readings) = rules.readings.with(question, answer) else { continue };
            let expectation = expect(module, &Rules { readings, ..*rules });
            if let Expectation::Accepted { variables, .. } = expectation {
                return variables.iter().map(request_of).collect();
            }
        }
    }
    Vec::new()
}

fn request_of(variable: &Variable) -> RequestedVariable {
    RequestedVariable {
        name: variable.name.to_string(),
        space: variable.space.name().to_owned(),
        size: variable.size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(lists: Option<bool>, statements: &str) -> Vec<(String, String, u64)> {
        let text = format!(".version 7.8\n.target sm_80\n{statements}\n");
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let description = Description { lists, ..Description::default() };
        let read = variables(&description, &module, &Rules::default());
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
    fn a_refused_program_requests_its_variables_under_another_answer() {
        assert_eq!(asked(None, ".global .u32 a = 1 / 0;"), [("a".into(), "global".into(), 4)]);
        assert_eq!(asked(None, ".global .u32 a = 1.5 % 2;"), []);
    }
}
