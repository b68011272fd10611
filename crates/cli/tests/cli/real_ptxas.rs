//! A default run with a real ptxas. On machines without one, the test reports that it was skipped.

use std::process::Command;

use ptxsmith_subject::{OpenOptions, SubjectSpec, open};
use serde_json::Value;

#[test]
fn a_run_finds_the_known_deviations_and_each_is_repeated_by_its_command() {
    let subject = match open(&SubjectSpec::default(), &OpenOptions::default()) {
        Ok(mut subjects) => subjects.pop().unwrap(),
        Err(unavailable) => {
            eprintln!("NOT TESTED: run: {unavailable}");
            return;
        }
    };
    let directory = tempfile::tempdir().unwrap();
    let ptxsmith = assert_cmd::cargo::cargo_bin!("ptxsmith");
    let mut run = Command::new(ptxsmith);
    let run = run.args(["run", "--cases", "5000", "--out"]).arg(directory.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(matches!(run.status.code(), Some(0 | 1)), "{stderr}");
    let report: Value =
        serde_json::from_slice(&std::fs::read(directory.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(report["subjects"][0]["version"], subject.description().version.as_deref().unwrap());
    assert!(report["compared"].as_u64() > Some(4_700), "{}", report["compared"]);
    for id in [
        "quotient-overflow-crash",
        "incomplete-rows-packed",
        "single-bits-raw-in-f64",
        "ternary-not-converted",
    ] {
        let findings = report["findings"].as_array().unwrap();
        let finding =
            findings.iter().find(|finding| finding["id"] == id).unwrap_or_else(|| panic!("no {id}"));
        let repeat = finding["repeat"].as_str().unwrap().strip_prefix("ptxsmith ").unwrap();
        let line = format!("{} {repeat}", ptxsmith.display());
        let again = Command::new("sh").args(["-c", &line]).current_dir(directory.path()).output().unwrap();
        let text = String::from_utf8_lossy(&again.stdout);
        assert!(text.contains(finding["title"].as_str().unwrap()), "{id}: {text}");
    }
}
