//! Linkers with planted faults.

use std::fs;
use std::path::Path;

use ptxsmith_campaign::bundle::{BundleOptions, bundle};
use ptxsmith_campaign::linking::run_on;
use ptxsmith_campaign::subjects::TestSubject;
use ptxsmith_campaign::texts::TextOptions;
use ptxsmith_model::{Class, Finding};
use ptxsmith_testing::{LinkFault, ToyLinker};

use crate::common::session;

fn findings(fault: Option<LinkFault>) -> (u64, Vec<Finding>) {
    findings_in(tempfile::tempdir().unwrap().path(), fault)
}

fn findings_in(out: &Path, fault: Option<LinkFault>) -> (u64, Vec<Finding>) {
    let options = TextOptions {
        subjects: Vec::new(),
        timeout: None,
        cases: Some(400),
        unlimited: false,
        reduce: None,
        by_case: false,
        out: out.to_owned(),
        replace: false,
    };
    let outcome =
        run_on(&session(1).0, &options, vec![TestSubject::new(Box::new(ToyLinker::new(fault)))]).unwrap();
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

#[test]
fn a_bundle_has_the_modules_and_a_script_that_links_them() {
    let directory = tempfile::tempdir().unwrap();
    let (from, out) = (directory.path().join("found"), directory.path().join("bundles"));
    let (_, findings) = findings_in(&from, Some(LinkFault::WeakAddress));
    let ids = [findings[0].id.clone()];
    let written =
        bundle(&session(1).0, &BundleOptions { ids: &ids, from: &from, subjects: &[], out: &out }).unwrap();
    let file = |name: &str| fs::read_to_string(written[0].folder.join(name)).unwrap();
    assert_eq!(file(&format!("{}.ptx", ids[0])), findings[0].program);
    assert_eq!(file(&format!("{}.2.ptx", ids[0])), findings[0].linked.as_ref().unwrap().modules[0]);
    assert!(file("reproduce.sh").contains("\"$NVLINK\" -arch=sm_80 1.o 2.o -o linked.cubin\n"));
    assert!(file("report.md").contains("## Expected"));
    assert!(written[0].archive.is_file());
}
