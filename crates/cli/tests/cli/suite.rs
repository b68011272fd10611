//! The suite as a user creates it, and the results of its runner compared with those of `check`.

use std::path::Path;
use std::process::Command;

use crate::common::*;
use serde_json::Value;

fn suite(out: &Path, more: &[&str]) -> std::process::Output {
    ptxsmith().args(["suite", "--out"]).arg(out).args(more).output().unwrap()
}

#[test]
fn a_suite_is_written_where_nothing_is() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("suite");
    let output = suite(&out, &[]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    for file in
        ["README.md", "run.py", "ptxas.py", "manifest.json", "manifest.schema.json", "module.schema.json"]
    {
        assert!(out.join(file).is_file(), "{file}");
    }
    let message = one_line_error(&suite(&out, &[]));
    assert!(message.contains("not empty"), "{message}");
}

#[test]
fn the_cases_of_a_suite_are_programs_that_check_takes_and_that_the_specification_decides() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("suite");
    assert_eq!(status(&suite(&out, &["--random", "5", "--seed", "7"])), 0);
    let manifest: Value = serde_json::from_slice(&std::fs::read(out.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["random"]["count"], 5);
    let case = manifest["cases"].as_array().unwrap().iter().find(|case| case["source"] == "random").unwrap();
    let file = out.join(case["file"].as_str().unwrap());
    let eval = ptxsmith().args(["eval", "--json"]).arg(&file).output().unwrap();
    let told: Value = serde_json::from_str(&stdout(&eval)).unwrap();
    assert_eq!(told["outcome"], case["expected"]["outcome"]);
}

#[test]
fn a_refusal_counts_only_if_the_valid_neighbour_is_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let bad = format!("// twin: good.ptx\n{}", module(".global .u32 a = 1.5;"));
    let bad = file(directory.path(), "bad.ptx", &bad);
    file(directory.path(), "good.ptx", &module(".global .u32 a = 1;"));
    let refuses = r#"{"schema": "ptxsmith.module/1", "outcome": "refused"}"#;
    let check = |script: String| {
        let out = directory.path().join("out");
        let subject = crate::common::script(directory.path(), &script);
        let output = ptxsmith()
            .args(["check", "--quiet", "--subject", &subject, "--out"])
            .arg(&out)
            .arg(&bad)
            .output();
        let report: Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
        (status(&output.unwrap()), report)
    };
    let (exit, report) = check(format!("echo '{refuses}'"));
    assert_eq!((exit, &report["not_compared"]["twin-refused"]), (3, &1.into()), "{report}");
    let accepts = refuses.replace("refused", "accepted");
    let (exit, report) =
        check(format!("if grep -q 1.5 $1; then echo '{refuses}'; else echo '{accepts}'; fi"));
    assert_eq!((exit, &report["conform"]), (0, &1.into()), "{report}");
}

/// Returns the program of `ptxas@RELEASE`, if it is installed.
fn ptxas(release: &str) -> Option<String> {
    let mut command = assert_cmd::Command::cargo_bin("ptxsmith").unwrap();
    let output = command.args(["toolchain", "path", release]).output().unwrap();
    output.status.success().then(|| stdout(&output).trim().to_owned())
}

/// Compares the counts of the runner and of `check` for the cases of some sections.
fn the_runner_agrees(on: [&str; 2], section: &str, subject: &str, least: u64) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("suite");
    assert_eq!(status(&suite(&out, &[])), 0);
    let lines = directory.path().join("verdicts");
    let mut runner = Command::new("python3");
    runner.arg(out.join("run.py")).args(on).args(["--only", &format!("{section}/"), "--json"]);
    assert!(runner.arg(&lines).status().unwrap().code().is_some_and(|status| status < 2));
    let told = std::fs::read_to_string(&lines).unwrap();
    let count = |verdict: &str| {
        told.lines().filter(|line| line.contains(&format!("\"verdict\": \"{verdict}\""))).count() as u64
    };
    let checked = directory.path().join("checked");
    let mut check = ptxsmith();
    check.args(["check", "--quiet", "--subject", subject, "--out"]).arg(&checked);
    let output = check.arg(out.join("cases").join(section)).output().unwrap();
    assert!(matches!(status(&output), 0 | 1), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&std::fs::read(checked.join("report.json")).unwrap()).unwrap();
    // The two count an interpretation that a known deviation also explains differently. These sections have
    // no such case.
    let [compared, conform] = ["compared", "conform"].map(|key| report[key].as_u64().unwrap());
    assert_eq!(conform, count("conforms") + count("reading"), "{section}");
    assert_eq!(compared - conform, count("deviates"), "{section}");
    let left_out: u64 = report["not_compared"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    // `check` also counts kernels without a rule, in programs that the runner compares.
    assert!(left_out >= count("not-compared"), "{section}");
    assert!(conform >= least, "{section}: only {conform} conform");
}

#[test]
fn the_runner_counts_what_check_counts() {
    let Some(ptxas) = ptxas("13.5") else {
        eprintln!("NOT TESTED: the runner beside check: ptxas 13.5 is not installed");
        return;
    };
    if python("the runner beside check") {
        for section in ["4.5.6", "5.4.3"] {
            the_runner_agrees(["--ptxas", &ptxas], section, &format!("ptxas:{ptxas}"), 20);
        }
    }
}

#[test]
fn the_runner_asks_any_program_that_prints_observations() {
    if !python("the runner with another program") {
        return;
    }
    let toy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/toy_subject.py");
    let toy = format!("python3 {}", toy.display());
    the_runner_agrees(["--exec", &toy], "4.5.1", &format!("exec:{toy}"), 20);
    // A subject that only parses is tested on what it accepts and rejects.
    let directory = tempfile::tempdir().unwrap();
    let takes_all = file(
        directory.path(),
        "takes-all.sh",
        "[ \"$1\" = --describe ] && exit 1; echo '{\"schema\": \"ptxsmith.module/1\", \"outcome\": \"accepted\"}'",
    );
    let takes_all = format!("sh {}", takes_all.display());
    the_runner_agrees(["--exec", &takes_all], "5.4.3", &format!("exec:{takes_all}"), 10);
}
