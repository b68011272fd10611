//! Any behavior of a hostile implementation is a verdict on the module that it was given. It causes no hang,
//! no abort and no verdict on another module. `serve.rs` has the same tests for long-lived processes.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::common::*;
use serde_json::Value;

fn report(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap()
}

/// A correct answer for the module of these tests.
const GOOD: &str = r#"{"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {"a": {"space": "global", "size": 1, "align": null, "bytes": "01", "addresses": []}}}"#;

fn check(directory: &Path, behaviour: &str, script: &str) -> (Output, Value) {
    let directory = directory.join(behaviour);
    std::fs::create_dir(&directory).unwrap();
    let module = file(&directory, "module.ptx", &module(".global .u8 a = 1;"));
    let subject = crate::common::script(&directory, script);
    let out = directory.join("out");
    let mut command = ptxsmith();
    command.args(["check", "--quiet", "--timeout", "2s", "--subject", &subject, "--out"]);
    let output = command.arg(&out).arg(&module).output().unwrap();
    (output, report(&out))
}

#[test]
fn a_process_for_each_module_is_judged_by_what_it_does_with_that_module() {
    let directory = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let good = format!("echo '{GOOD}'");
    let half = format!("printf '{}'", &GOOD[..40]);
    let twice = format!("{good}; {good}");
    let dies_after = format!("{good}; kill -SEGV $$");
    let cases: [(&str, &str, &[&str]); 10] = [
        ("fine", &good, &[]),
        ("garbage", "head -c 100000 /dev/urandom", &["crash"]),
        ("half-a-line", &half, &["crash"]),
        // Longer than the maximum answer: stopped when that is noticed, or by the time limit on a slow
        // machine.
        ("two-gigabytes", "yes | head -c 2000000000", &["crash", "hang"]),
        ("nothing", "true", &["crash"]),
        ("silence", "sleep 1000", &["hang"]),
        ("another-answer-behind", &twice, &["crash"]),
        ("status", "echo '{}'; exit 3", &["crash"]),
        ("dies", "kill -FPE $$", &["crash"]),
        ("answers-and-dies", &dies_after, &["crash"]),
    ];
    for (behaviour, script, expected) in cases {
        let (output, report) = check(directory.path(), behaviour, script);
        let findings = report["findings"].as_array().unwrap();
        let classes: Vec<&str> = findings.iter().map(|finding| finding["class"].as_str().unwrap()).collect();
        match expected {
            [] => assert_eq!((status(&output), &report["conform"]), (0, &1.into()), "{behaviour}: {report}"),
            _ => {
                assert_eq!(status(&output), 1, "{behaviour}: {}", stderr(&output));
                assert!(classes.len() == 1 && expected.contains(&classes[0]), "{behaviour}: {classes:?}");
                assert_eq!((&report["compared"], &report["conform"]), (&1.into(), &0.into()), "{behaviour}");
            }
        }
    }
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
}

#[test]
fn a_subject_that_dies_now_and_then_is_charged_with_deaths_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    // Correct, but crashes on every fourth run. A file counts the runs, so that the test is deterministic.
    let oracle = oracle_as_subject(&[]);
    let oracle = oracle.strip_prefix("exec:").unwrap();
    let count = directory.path().join("count");
    let script = format!(
        "echo >> {count}\n[ $(( $(wc -l < {count}) % 4 )) = 0 ] && kill -SEGV $$\nexec {oracle} \"$1\"",
        count = count.display()
    );
    let subject = crate::common::script(directory.path(), &script);
    let (out, started) = (directory.path().join("out"), Instant::now());
    let mut command = ptxsmith();
    command.args(["run", "--quiet", "--jobs", "1", "--cases", "200", "--focus", "expressions"]);
    let output = command.args(["--subject", &subject, "--out"]).arg(&out).output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
    let report = report(&out);
    assert!(matches!(status(&output), 0 | 1), "{}", stderr(&output));
    for finding in report["findings"].as_array().unwrap() {
        let class = finding["class"].as_str().unwrap();
        assert!(["crash", "inconsistent"].contains(&class), "{class}: {finding}");
    }
    let left_out: u64 =
        report["not_compared"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(report["compared"].as_u64().unwrap() + left_out, 200, "{report}");
    assert!(report["conform"].as_u64().unwrap() > 100, "{report}");
}
