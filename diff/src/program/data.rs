//! The verdicts on the variables of a program, or on the program as a whole.

use ptxsmith_oracle::{Expectation, Rules, Trace, Variable, expect, predict};
use ptxsmith_subject::{Observation, Outcome, Subject};
use ptxsmith_syntax::Module;

use crate::compare::{Mismatch, compare, shows_no_values, undeclared};
use crate::explain::{explain, explain_crash, explain_shape, explain_variables};
use crate::explanation::{Alternatives, Explanation};
use crate::lead::{alternatives, crash_alternatives};
use crate::maker::Maker;
use crate::verdict::{Class, Difference, Must, NotCompared, Share, Verdict, expected_of};

use super::Part;

pub(super) fn of_data(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    expected: &Expectation,
    observed: &Observation,
) -> Vec<Part> {
    let silent = shows_no_values(subject, observed);
    let program =
        Program { rules, module, text, expected, observed, maker: Maker::of(subject.description()), silent };
    let not_compared = |reason| vec![program.whole(Verdict::NotCompared(reason))];
    match (expected, observed.outcome) {
        (_, Outcome::Unsupported) => not_compared(NotCompared::Unsupported),
        (_, Outcome::Unavailable) => not_compared(NotCompared::Unavailable),
        (_, Outcome::Crashed) => vec![program.deviates(Class::Crash)],
        (_, Outcome::TimedOut) => vec![program.deviates(Class::Hang)],
        (Expectation::Unmodelled { .. }, _) => not_compared(NotCompared::Unmodelled),
        (Expectation::Refused { .. }, Outcome::Refused) => vec![program.whole(Verdict::Conforms)],
        (Expectation::Refused { .. }, Outcome::Accepted) => vec![program.deviates(Class::AcceptsInvalid)],
        (Expectation::Accepted { .. }, Outcome::Refused) => vec![program.deviates(Class::RefusesValid)],
        // Of a program without variables there is nothing else to show.
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted)
            if unmodelled.is_empty()
                && (silent || variables.is_empty() && undeclared(&module.items, observed).is_none()) =>
        {
            vec![program.whole(Verdict::ConformsByOutcome)]
        }
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
            let not_modelled = unmodelled.iter().map(|one| Part {
                variable: Some(one.part.clone()),
                ..Part::not_compared(NotCompared::Unmodelled, None)
            });
            let extra = undeclared(&module.items, observed).map(|name| program.undeclared(name));
            variables
                .iter()
                .map(|variable| program.variable(variable))
                .chain(not_modelled)
                .chain(extra)
                .collect()
        }
    }
}

struct Program<'a> {
    pub(super) rules: &'a Rules,
    pub(super) module: &'a Module,
    pub(super) text: &'a str,
    pub(super) expected: &'a Expectation,
    pub(super) observed: &'a Observation,
    maker: Maker<'a>,
    /// Whether the subject accepts without showing values.
    silent: bool,
}

impl Program<'_> {
    fn whole(&self, verdict: Verdict) -> Part {
        self.part(None, verdict, self.expected.trace())
    }

    pub(super) fn part(&self, variable: Option<String>, verdict: Verdict, trace: Trace) -> Part {
        let (must, operands) = (Must::of(self.expected), Share::default());
        Part { variable, verdict, must, trace, operands, why: None, derived: None }
    }

    /// A deviation of the program as a whole, explained by a reading or a known deviation where one predicts it.
    fn deviates(&self, class: Class) -> Part {
        let trace = self.expected.trace();
        let whole = |rules: &Rules| {
            let expected = expect(self.module, rules);
            let agrees = match (&expected, self.observed.outcome) {
                (Expectation::Refused { .. }, Outcome::Refused) => true,
                (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
                    let agree = || compare(variables, self.observed).is_none();
                    unmodelled.is_empty() && (self.silent || agree())
                }
                _ => false,
            };
            (agrees, expected.trace())
        };
        let shape = || explain_shape(self.module, &trace, self.maker, self.observed);
        let explanation = match class {
            Class::Hang => shape(),
            Class::Crash => {
                let rests_on = |rules: &Rules| expect(self.module, rules).trace();
                explain_crash(&trace, self.rules, self.maker, self.observed, rests_on).or_else(shape)
            }
            _ => explain(&trace, self.rules, self.maker, whole)
                .or_else(|| {
                    let taken = self.observed.outcome == Outcome::Accepted;
                    let data = |rules: &Rules| expect(self.module, rules);
                    taken.then(|| explain_variables(self.rules, self.maker, data, self.observed)).flatten()
                })
                .or_else(shape),
        };
        let suspected = match (&explanation, class) {
            (Some(_), _) => None,
            (None, Class::Crash) => Some(vec![crash_alternatives(&trace, self.maker, self.observed)]),
            (None, _) => Some(vec![alternatives(&trace, self.rules, self.maker, whole)]),
        };
        // A program that declares nothing rests on what its kernels do.
        let rests_on =
            if trace.clauses.is_empty() { predict(self.module, self.rules).trace() } else { trace };
        self.part(None, self.difference(class, None, explanation, suspected), rests_on)
    }

    /// A variable that is shown and not declared.
    fn undeclared(&self, name: String) -> Part {
        let trace = self.expected.trace();
        let explanation = explain(&trace, self.rules, self.maker, |rules| {
            let Expectation::Accepted { variables, trace, .. } = expect(self.module, rules) else {
                return (false, Trace::default());
            };
            let own = variables.iter().find(|own| own.name == *name);
            let agrees = |own: &Variable| compare(std::slice::from_ref(own), self.observed).is_none();
            (own.is_some_and(agrees), trace)
        });
        let suspected = explanation.is_none().then(Vec::new);
        let difference = self.difference(Class::WrongLayout, Some(name.clone()), explanation, suspected);
        self.part(Some(name), difference, trace)
    }

    pub(super) fn variable(&self, variable: &Variable) -> Part {
        let agreement = |variable: &Variable| compare(std::slice::from_ref(variable), self.observed);
        let verdict = match agreement(variable) {
            None => Verdict::Conforms,
            Some(Mismatch::Unobserved(_)) => Verdict::NotCompared(NotCompared::Unobserved),
            Some(Mismatch::Differs(class, name)) => {
                let own = |rules: &Rules| {
                    let Expectation::Accepted { variables, .. } = expect(self.module, rules) else {
                        return (false, Trace::default());
                    };
                    let own = variables.iter().find(|own| own.name == variable.name);
                    own.map_or((false, Trace::default()), |own| (agreement(own).is_none(), own.trace))
                };
                let explanation = explain(&variable.trace, self.rules, self.maker, own);
                let suspected = explanation
                    .is_none()
                    .then(|| vec![alternatives(&variable.trace, self.rules, self.maker, own)]);
                self.difference(class, Some(name), explanation, suspected)
            }
        };
        self.part(Some(variable.name.to_string()), verdict, variable.trace)
    }

    fn difference(
        &self,
        class: Class,
        variable: Option<String>,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Verdict {
        let difference = Box::new(Difference {
            class,
            variable,
            expected: expected_of(
                class,
                self.expected.to_json(self.text, &self.rules.readings),
                self.module,
                self.rules,
            ),
            observed: self.observed.clone(),
            explanation,
            suspected,
        });
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }
}
