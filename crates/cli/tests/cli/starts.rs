//! The way in which implementations are started does not change a report; a difference is a finding.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::*;
use serde_json::Value;

/// Creates a fake ptxas that rejects everything. `said` is its additional output.
fn stand_in(directory: &Path, said: &str) -> String {
    let program = directory.join("ptxas");
    let script = format!(
        "#!/bin/sh\ncase $1 in --version) echo ptxas V13.5.37; exit;; --help) echo \"--gpu-name 'sm_80'\"; exit;; esac\n\
         read line < in.ptx; how=started; [ $$ = \"$(sh -c 'echo $PPID')\" ] || how=forked\n\
         echo \"ptxas error : {said}\" >&2; exit 255\n"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("ptxas:{}", program.display())
}

fn report(subject: &str, start: &str, out: &Path) -> Value {
    let mut command = ptxsmith();
    command.args(["run", "--quiet", "--focus", "negatives", "--cases", "200", "--reduce", "0s"]);
    command.args(["--subject", subject, "--start", start, "--out"]).arg(out);
    let output = command.output().unwrap();
    assert!(matches!(status(&output), 1 | 3), "{}", stderr(&output));
    serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap()
}

fn ids(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

#[test]
fn a_report_does_not_depend_on_how_the_subject_is_started() {
    let directory = tempfile::tempdir().unwrap();
    let subject = stand_in(directory.path(), "no");
    let [forked, started] =
        ["fork", "spawn"].map(|start| report(&subject, start, &directory.path().join("out").join(start)));
    let without_folder = |report: &Value| report.to_string().replace("out/fork", "out/spawn");
    assert_eq!(without_folder(&forked), without_folder(&started));
}

#[test]
fn a_subject_that_answers_otherwise_when_it_is_forked_has_a_finding_with_both_answers() {
    let directory = tempfile::tempdir().unwrap();
    let subject = stand_in(directory.path(), "$how");
    let forked = report(&subject, "fork", &directory.path().join("fork"));
    let finding = &forked["findings"].as_array().unwrap().iter().find(|f| f["id"] == "forked-otherwise");
    let finding = finding.unwrap_or_else(|| panic!("{:?}", ids(&forked)));
    assert_eq!((&finding["class"], &finding["status"]), (&"inconsistent".into(), &"new".into()));
    let said = [&finding["observed"], &finding["expected"]].map(|seen| &seen["diagnostics"][0]["message"]);
    assert_eq!(said, [&Value::from("forked"), &Value::from("started")]);
    assert!(finding["program"].as_str().unwrap().contains(".version"));

    let started = report(&subject, "spawn", &directory.path().join("spawn"));
    assert!(!ids(&started).contains(&"forked-otherwise"), "{:?}", ids(&started));
}
