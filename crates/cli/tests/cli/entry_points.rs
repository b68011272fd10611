//! One release of a compiler with two entry points: a difference between them is a finding at the end of a
//! campaign.

use std::path::Path;

use crate::common::*;
use serde_json::Value;

/// Creates an entry point of this name and version, with the lineage `made-up`, that reports this byte for
/// `a`.
fn entry_point(directory: &Path, name: &str, version: &str, byte: &str) -> String {
    let describes = format!(
        r#"{{"schema": "ptxsmith.subject/1", "name": "{name}", "version": "{version}", "lineage": "made-up", "relocations": true}}"#
    );
    let holds = format!(
        r#"{{"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {{"a": {{"space": "global", "size": 1, "align": null, "bytes": "{byte}", "addresses": []}}}}}}"#
    );
    let script =
        format!("[ \"$1\" = --describe ] && {{ echo '{describes}'; exit; }}\n{PROBED}\necho '{holds}'\n");
    format!("exec:sh {}", file(directory, &format!("{name}.sh"), &script).display())
}

/// Returns the findings about entry points from a campaign over one module with two subjects.
fn findings(directory: &Path, entry_points: [String; 2]) -> Vec<Value> {
    let module = file(directory, "module.ptx", &module(".global .u8 a = 1;"));
    let out = directory.join("out");
    let mut command = ptxsmith();
    command.args(["check", "--quiet", "--subject", &entry_points[0], "--subject", &entry_points[1], "--out"]);
    let output = command.arg(&out).arg(&module).output().unwrap();
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|finding| finding["id"].as_str().unwrap().starts_with("doors-")).cloned().collect()
}

#[test]
fn two_answers_of_one_release_are_inconsistent() {
    let directory = tempfile::tempdir().unwrap();
    let [one, other] = [("program", "02"), ("library", "03")]
        .map(|(name, byte)| entry_point(directory.path(), name, "1.2.3", byte));
    let found = findings(directory.path(), [one, other.clone()]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["class"], &found[0]["variable"]), (&"inconsistent".into(), &"a".into()));
    assert_eq!(found[0]["subjects"], serde_json::json!([other]));
    assert_eq!(found[0]["expected"]["variables"]["a"]["bytes"], "02");
    assert_eq!(found[0]["observed"]["variables"]["a"]["bytes"], "03");
}

#[test]
fn what_only_one_entry_point_does_wrong_is_reported_once() {
    let directory = tempfile::tempdir().unwrap();
    let entry_points = [("program", "02"), ("library", "01")]
        .map(|(name, byte)| entry_point(directory.path(), name, "1.2.3", byte));
    assert_eq!(findings(directory.path(), entry_points), [Value::Null; 0]);
}

#[test]
fn alike_answers_and_other_releases_are_no_finding_about_entry_points() {
    for (version, byte) in [("1.2.3", "02"), ("1.3.0", "01")] {
        let directory = tempfile::tempdir().unwrap();
        let one = entry_point(directory.path(), "program", "1.2.3", "02");
        let other = entry_point(directory.path(), "library", version, byte);
        assert_eq!(findings(directory.path(), [one, other]), [Value::Null; 0], "{version} {byte}");
    }
}
