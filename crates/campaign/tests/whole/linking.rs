//! Linkers with planted faults.

use ptxsmith_campaign::linking::run_on;
use ptxsmith_campaign::subjects::Tested;
use ptxsmith_campaign::texts::Options;
use ptxsmith_model::{Class, Finding};
use ptxsmith_testing::{LinkFault, ToyLinker};

use crate::common::session;

fn findings(fault: Option<LinkFault>) -> (u64, Vec<Finding>) {
    let out = tempfile::tempdir().unwrap();
    let options = Options {
        subjects: Vec::new(),
        timeout: None,
        cases: Some(400),
        unlimited: false,
        reduce: None,
        by_case: false,
        out: out.path().to_owned(),
        replace: false,
    };
    let outcome =
        run_on(&session(1).0, &options, vec![Tested::new(Box::new(ToyLinker::new(fault)))]).unwrap();
    (outcome.report.compared, outcome.report.findings)
}

#[test]
fn a_linker_that_does_as_the_specification_says_has_no_findings() {
    let (compared, findings) = findings(None);
    assert!(compared > 1_000, "{compared}");
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn each_fault_of_a_linker_is_one_finding_of_its_class() {
    for fault in LinkFault::ALL {
        let class = match fault {
            LinkFault::ExternAlignment | LinkFault::CommonAlignment => Class::WrongLayout,
            LinkFault::SharedPlace | LinkFault::Size => Class::WrongLayout,
            LinkFault::WeakAddress | LinkFault::PlaceOfConstant | LinkFault::Addend => Class::WrongAddress,
            LinkFault::MaskedByte => Class::WrongAddress,
            LinkFault::MixedValue | LinkFault::MergedLocals => Class::WrongValue,
            LinkFault::CommonFirst => Class::Inconsistent,
            LinkFault::ThreeModules => Class::Crash,
        };
        let (_, findings) = findings(Some(fault));
        let [finding] = &findings[..] else {
            let seen: Vec<_> = findings.iter().map(|of| (&of.id, &of.program, &of.linked)).collect();
            panic!("{}: {seen:#?}", fault.name());
        };
        assert_eq!(finding.class, class, "{}", fault.name());
        let modules = 1 + finding.linked.as_ref().unwrap().modules.len();
        assert_eq!(modules, if fault == LinkFault::ThreeModules { 3 } else { 2 }, "{finding:?}");
    }
}
