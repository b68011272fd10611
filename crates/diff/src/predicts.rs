//! Tests whether wrong rules predict an observation of a program.

use ptxsmith_oracle::{Expectation, Rules, Trace, expect};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::Module;

use crate::{
    explain::{explain, explain_crash, explain_match, explain_variables, explain_wrong, wrong_places},
    hypothesis::Hypothesis,
    implementation::Implementation,
    kernel,
    reason::reason,
};

/// Returns true if these wrong rules predict the observation of a program, together with the known deviations
/// of the implementation and other interpretations.
pub fn predicts(
    hypotheses: &[&'static str],
    implementation: Implementation<'_>,
    program: &str,
    observed: &Observation,
) -> bool {
    let Ok(module) = ptxsmith_syntax::parse(program) else { return false };
    let mut base = Rules::default();
    for id in hypotheses {
        let Some(hypothesis) = Hypothesis::from_id(id) else { return false };
        base = hypothesis.rules(&base);
    }
    if !observed.kernels.is_empty() {
        let (agrees, trace) = kernel::agrees(&module, &base, observed);
        return agrees
            || explain(&trace, &base, implementation, |rules| kernel::agrees(&module, rules, observed))
                .is_some();
    }
    let trace = expect(&module, &base).trace();
    match observed.outcome {
        Outcome::Crashed => explain_crash(
            &trace,
            &base,
            implementation,
            observed,
            || reason(&module, &trace, implementation, observed, None),
            |rules| expect(&module, rules).trace(),
        )
        .is_some(),
        Outcome::Refused => {
            is_refused(&module, &base).0
                || explain(&trace, &base, implementation, |rules| is_refused(&module, rules)).is_some()
        }
        Outcome::Accepted => {
            let wrong = wrong_places(&module, implementation);
            let by_pattern = |name: &str| explain_wrong(&wrong, &module, [name].into_iter());
            explain_variables(&base, implementation, |rules| expect(&module, rules), observed, by_pattern)
                .is_some()
                || explain_match(&module, &trace, implementation, observed, None).is_some()
        }
        Outcome::TimedOut => explain_match(&module, &trace, implementation, observed, None).is_some(),
        Outcome::Unsupported | Outcome::Unavailable => false,
    }
}

/// Returns whether these rules reject the module, and the clauses and questions used.
fn is_refused(module: &Module, rules: &Rules) -> (bool, Trace) {
    let expected = expect(module, rules);
    (matches!(expected, Expectation::Refused { .. }), expected.trace())
}
