//! Executes the self-check kernels over symbolic addresses: they pass if the data is as expected, and
//! otherwise report the index of the mismatch.

use ptxsmith_oracle::{Expectation, KernelOutcome, Rules, Variable, execute};
use ptxsmith_suite::selfcheck::{self, SelfCheckResult, ValueCheck};
use ptxsmith_suite::{Suite, SuiteCase, SuiteOptions};

/// Returns the result of a case's kernel for memory with these variables, or `None` if the oracle has no rule
/// for the kernel.
fn run_kernel(case: &SuiteCase, kernel: &str, variables: &[Variable]) -> Option<SelfCheckResult> {
    let module = ptxsmith_syntax::parse(&format!("{}{kernel}", case.text)).unwrap();
    let kernels = execute(&module, variables, &Rules::default());
    let kernel = kernels.into_iter().find(|kernel| kernel.name == selfcheck::KERNEL).unwrap();
    match kernel.outcome {
        KernelOutcome::Output(output) => Some(selfcheck::result(&output.bytes)),
        KernelOutcome::Unmodelled(_) => None,
    }
}

/// Changes a byte that the check compares; `None` if an address is stored there.
fn with_changed_byte(variables: &[Variable], check: &ValueCheck) -> Option<Vec<Variable>> {
    let mut variables = variables.to_vec();
    let variable = variables.iter_mut().find(|variable| variable.name == check.variable)?;
    let is_address = variable.addresses.iter().any(|address| address.offset == check.offset);
    let last = usize::try_from(check.offset).ok()? + usize::from(check.width) - 1;
    *variable.bytes.get_mut(last)? ^= 0x80;
    (!is_address).then_some(variables)
}

#[test]
fn a_kernel_passes_expected_contents_and_reports_the_first_mismatch() {
    let suite = Suite::build(SuiteOptions::default()).unwrap();
    let mut kernels = 0;
    let mut passed = 0;
    let mut mismatches = 0;
    for case in &suite.cases {
        let Some(kernel) = selfcheck::kernel_for_case(case) else { continue };
        let Expectation::Accepted { variables, .. } = &case.expected else { panic!("{}", case.id) };
        kernels += 1;
        let Some(answer) = run_kernel(case, &kernel.text, variables) else { continue };
        assert_eq!(answer, SelfCheckResult::Passed, "{}\n{}", case.id, kernel.text);
        passed += 1;
        for (index, check) in kernel.checks.iter().enumerate() {
            let Some(changed) = with_changed_byte(variables, check) else { continue };
            let answer = run_kernel(case, &kernel.text, &changed);
            assert_eq!(
                answer,
                Some(SelfCheckResult::Mismatch(index as u32)),
                "{}: {check:?}\n{}",
                case.id,
                kernel.text
            );
            mismatches += 1;
        }
    }
    println!("{kernels} kernels, {passed} executed, {mismatches} changed bytes reported");
    assert!(kernels >= 2_000 && passed * 10 >= kernels * 9 && mismatches >= 3_000);
}

#[test]
fn a_case_that_an_ambiguity_decides_has_no_kernel() {
    let suite = Suite::build(SuiteOptions::default()).unwrap();
    let open: Vec<&SuiteCase> = suite.cases.iter().filter(|case| !case.alternatives.is_empty()).collect();
    assert!(open.len() > 100);
    assert!(open.iter().all(|case| selfcheck::kernel_for_case(case).is_none()));
}
