//! Judging a program as it is: a file of a user's, or of the corpus.

use ptxsmith_oracle::{Expectation, Rules, Trace, Variable, expect, predict};
use ptxsmith_subject::{Error, Observation, Outcome, Request, Subject};
use ptxsmith_syntax::Module;

use crate::{
    compare::{Mismatch, compare, shows_no_values},
    explain::{Explanation, explain, explain_crash},
    lead::{Alternatives, alternatives, crash_alternatives},
    maker::Maker,
    read,
    verdict::{Class, Difference, Must, NotCompared, Verdict},
};

/// The verdict on one variable of a program, or on the program as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The variable; `None` for the program as a whole.
    pub variable: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the specification does with the program; `None` where there is no rule.
    pub must: Option<Must>,
    /// What the expectation rests on.
    pub trace: Trace,
}

/// Shows a program to a subject and judges every variable, or, where the program is refused or the subject dies, the
/// program as a whole. `text` is what `module` was parsed from; `target` is passed to the subject.
///
/// # Errors
/// Only where our machine or code fails; whatever the subject does is a verdict.
pub fn judge_program(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<Vec<Part>, Error> {
    let read = read::wanted(subject.description(), module, rules);
    let observed = subject.observe(&Request { read: &read, ..Request::showing(module, text, target) })?;
    let expected = expect(module, rules);
    let maker = Maker::of(subject.description());
    let silent = shows_no_values(subject, &observed);
    let program = Program { rules, module, text, observed: &observed, maker, silent };
    Ok(match (&expected, observed.outcome) {
        (_, Outcome::Unsupported) => vec![whole(Verdict::NotCompared(NotCompared::Unsupported), &expected)],
        (_, Outcome::Unavailable) => vec![whole(Verdict::NotCompared(NotCompared::Unavailable), &expected)],
        (_, Outcome::Crashed) => vec![program.deviates(Class::Crash, &expected)],
        (_, Outcome::TimedOut) => vec![program.deviates(Class::Hang, &expected)],
        (Expectation::Unmodelled { .. }, _) => {
            vec![whole(Verdict::NotCompared(NotCompared::Unmodelled), &expected)]
        }
        (Expectation::Refused { .. }, Outcome::Refused) => {
            vec![whole(Verdict::Conforms, &expected)]
        }
        (Expectation::Refused { .. }, Outcome::Accepted) => {
            vec![program.deviates(Class::AcceptsInvalid, &expected)]
        }
        (Expectation::Accepted { .. }, Outcome::Refused) => {
            vec![program.deviates(Class::RefusesValid, &expected)]
        }
        // Of a program without variables there is nothing else to show.
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted)
            if unmodelled.is_empty() && (silent || variables.is_empty()) =>
        {
            vec![whole(Verdict::ConformsByOutcome, &expected)]
        }
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
            let not_modelled = unmodelled.iter().map(|(name, _)| Part {
                variable: Some(name.to_string()),
                verdict: Verdict::NotCompared(NotCompared::Unmodelled),
                must: None,
                trace: Trace::default(),
            });
            variables
                .iter()
                .map(|variable| program.variable(variable, &expected))
                .chain(not_modelled)
                .collect()
        }
    })
}

fn whole(verdict: Verdict, expected: &Expectation) -> Part {
    Part { variable: None, verdict, must: Must::of(expected), trace: expected.trace() }
}

struct Program<'a> {
    rules: &'a Rules,
    module: &'a Module,
    text: &'a str,
    observed: &'a Observation,
    maker: Maker<'a>,
    /// Whether the subject accepts without showing values.
    silent: bool,
}

impl Program<'_> {
    /// A deviation of the program as a whole, explained by a reading or a known deviation where one predicts it.
    fn deviates(&self, class: Class, expected: &Expectation) -> Part {
        let trace = expected.trace();
        let whole = |rules: &Rules| {
            let expected = expect(self.module, rules);
            let agrees = match (&expected, self.observed.outcome) {
                (Expectation::Refused { .. }, Outcome::Refused) => true,
                (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
                    let agree = || compare(variables, &self.observed.variables).is_none();
                    unmodelled.is_empty() && (self.silent || agree())
                }
                _ => false,
            };
            (agrees, expected.trace())
        };
        let explanation = match class {
            Class::Crash => {
                let rests_on = |rules: &Rules| expect(self.module, rules).trace();
                explain_crash(&trace, self.rules, self.maker, self.observed, rests_on)
            }
            _ => explain(&trace, self.rules, self.maker, whole),
        };
        let suspected = match (&explanation, class) {
            (Some(_), _) => None,
            (None, Class::Crash) => Some(vec![crash_alternatives(&trace, self.maker, self.observed)]),
            (None, _) => Some(vec![alternatives(&trace, self.rules, self.maker, whole)]),
        };
        let verdict = self.difference(class, None, expected, explanation, suspected);
        // A program that declares nothing rests on what its kernels do.
        let rests_on =
            if trace.clauses.is_empty() { predict(self.module, self.rules).trace() } else { trace };
        Part { variable: None, verdict, must: Must::of(expected), trace: rests_on }
    }

    fn variable(&self, variable: &Variable, expected: &Expectation) -> Part {
        let one = std::slice::from_ref(variable);
        let verdict = match compare(one, &self.observed.variables) {
            None => Verdict::Conforms,
            Some(Mismatch::Unobserved(_)) => Verdict::NotCompared(NotCompared::Unobserved),
            Some(Mismatch::Differs(class, name)) => {
                let own = |rules: &Rules| {
                    let Expectation::Accepted { variables, .. } = expect(self.module, rules) else {
                        return (false, Trace::default());
                    };
                    match variables.iter().find(|v| v.name == variable.name) {
                        Some(v) => {
                            let one = std::slice::from_ref(v);
                            (compare(one, &self.observed.variables).is_none(), v.trace)
                        }
                        None => (false, Trace::default()),
                    }
                };
                let explanation = explain(&variable.trace, self.rules, self.maker, own);
                let suspected = explanation
                    .is_none()
                    .then(|| vec![alternatives(&variable.trace, self.rules, self.maker, own)]);
                self.difference(class, Some(name), expected, explanation, suspected)
            }
        };
        let name = Some(variable.name.to_string());
        Part { variable: name, verdict, must: Must::of(expected), trace: variable.trace }
    }

    fn difference(
        &self,
        class: Class,
        variable: Option<String>,
        expected: &Expectation,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Verdict {
        let difference = Box::new(Difference {
            class,
            variable,
            expected: expected.to_json(self.text, &self.rules.readings),
            observed: self.observed.clone(),
            explanation,
            suspected,
        });
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }
}
