//! Tests whether wrong rules predict an observation of a program.

use ptxsmith_oracle::{Expectation, Rules, expect};
use ptxsmith_subject::{Observation, Outcome};

use crate::{
    explain::{explain, explain_crash, explain_match, explain_variables},
    kernel,
    lead::Lead,
    maker::Maker,
    reason::reason,
};

/// Returns true if these wrong rules predict the observation of a program, together with the known deviations of the
/// implementation and other interpretations.
pub fn predicts(leads: &[&'static str], maker: Maker<'_>, program: &str, observed: &Observation) -> bool {
    let Ok(module) = ptxsmith_syntax::parse(program) else { return false };
    let leads: Option<Vec<Lead>> = leads.iter().map(|id| Lead::from_id(id)).collect();
    let Some(leads) = leads else { return false };
    let base = leads.iter().fold(Rules::default(), |rules, lead| lead.rules(&rules));
    if !observed.kernels.is_empty() {
        let tell = |rules: &Rules| kernel::agrees(&module, rules, observed);
        let (agrees, trace) = tell(&base);
        return agrees || explain(&trace, &base, maker, tell).is_some();
    }
    let trace = expect(&module, &base).trace();
    match observed.outcome {
        Outcome::Crashed => {
            let matched = || reason(&module, &trace, maker, observed, None);
            let rests_on = |rules: &Rules| expect(&module, rules).trace();
            explain_crash(&trace, &base, maker, observed, matched, rests_on).is_some()
        }
        Outcome::Refused => {
            let refused = |rules: &Rules| {
                let expected = expect(&module, rules);
                (matches!(expected, Expectation::Refused { .. }), expected.trace())
            };
            refused(&base).0 || explain(&trace, &base, maker, refused).is_some()
        }
        Outcome::Accepted => {
            explain_variables(&base, maker, |rules| expect(&module, rules), observed).is_some()
                || explain_match(&module, &trace, maker, observed, None).is_some()
        }
        Outcome::TimedOut => explain_match(&module, &trace, maker, observed, None).is_some(),
        Outcome::Unsupported | Outcome::Unavailable => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::{Output, Variable};

    const PROGRAM: &str = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u8 a = 010;\n";

    fn holds(bytes: &[u8]) -> Observation {
        let variable = Variable { bytes: Some(bytes.to_vec()), ..Variable::default() };
        let variables = [("a".into(), variable)].into();
        Observation { variables, ..Observation::new(Outcome::Accepted) }
    }

    #[test]
    fn wrong_rules_predict_what_holds_under_them_and_nothing_else() {
        let says =
            |leads: &[&'static str], seen: &Observation| predicts(leads, Maker::default(), PROGRAM, seen);
        assert!(says(&["octal-as-decimal"], &holds(&[10])));
        assert!(!says(&["octal-as-decimal"], &holds(&[11])));
        assert!(!says(&[], &holds(&[10])) && says(&[], &holds(&[8])));
        assert!(!says(&["no-such-rule"], &holds(&[8])));
        assert!(!says(&["octal-as-decimal"], &Observation::new(Outcome::Refused)));
        assert!(!says(&["octal-as-decimal"], &Observation::new(Outcome::TimedOut)));
    }

    #[test]
    fn wrong_rules_predict_what_a_kernel_leaves_with_or_without_what_is_listed() {
        // `010` is 8, or 10 if taken for a decimal number. The remainder is greater than -1, but not if it is
        // unsigned, as is listed.
        let nvidia = Maker { lineage: Some("nvidia"), version: Some("13.5.37") };
        let predicted = |maker, leads: &[&'static str], operand: &str, left: u8| {
            let program = format!(
                ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
                 .reg .u64 o; .reg .u32 r; ld.param.u64 o, [out]; mov.u32 r, {operand}; st.global.u32 [o], r; ret; }}\n"
            );
            let output = Output { size: 4, bytes: Some(vec![left, 0, 0, 0]), ..Output::default() };
            let kernels = [("k".into(), output)].into();
            predicts(leads, maker, &program, &Observation { kernels, ..Observation::new(Outcome::Accepted) })
        };
        let says = |leads: &[&'static str], operand: &str, left| predicted(nvidia, leads, operand, left);
        assert!(says(&["octal-as-decimal"], "010", 10) && !says(&["octal-as-decimal"], "010", 8));
        assert!(says(&[], "010", 8) && !says(&[], "010", 10));
        assert!(predicted(Maker::default(), &["octal-as-decimal"], "010", 10));
        assert!(!predicted(Maker::default(), &["octal-as-decimal"], "010", 8));
        let both = "010 + (1 % 2 > -1)";
        assert!(says(&[], both, 9) && says(&[], both, 8) && says(&["octal-as-decimal"], both, 10));
        assert!(!says(&["octal-as-decimal"], both, 9) && !says(&[], both, 10));
    }
}
