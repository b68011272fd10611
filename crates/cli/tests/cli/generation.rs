//! `gen`, and the options of `run` that select the programs.

use std::collections::BTreeMap;

use crate::common::*;
use serde_json::Value;

#[test]
fn the_statistics_of_a_hundred_thousand_cases_leave_nothing_out() {
    let output = ptxsmith().args(["gen", "--count", "100000", "--stats"]).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let lines: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(key, value)| (key, value.trim()))
        .collect();
    assert_eq!(lines["read back otherwise"], "0");
    let refused = text.lines().find(|line| line.contains("refused without a question")).unwrap();
    assert!(refused.ends_with(" 0"), "{refused}");
    let percent = |key: &str| -> f64 {
        let value = lines[key];
        let share = value.split(['(', '%']).nth(1).unwrap().trim();
        share.parse().unwrap()
    };
    assert!(percent("productions") == 100.0, "{text}");
    assert!(percent("pairs of productions") >= 95.0, "{text}");
    assert!(percent("clauses that data can show") == 100.0, "{text}");
}

#[test]
fn the_grammar_is_printed_and_its_weights_can_be_changed() {
    let directory = tempfile::tempdir().unwrap();
    let weights = directory.path().join("weights");
    std::fs::write(&weights, "integer/add = 999 # sums above all\n").unwrap();
    let output = ptxsmith().args(["gen", "--grammar", "--weights"]).arg(&weights).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let line = text.lines().find(|line| line.contains("integer/add ")).unwrap();
    assert!(
        line.contains(" 999 ") && line.contains("4.5.5/addition") && line.ends_with("integer + integer"),
        "{line}"
    );

    std::fs::write(&weights, "integer/ad = 1\n").unwrap();
    let output = ptxsmith().args(["gen", "--count", "1", "--weights"]).arg(&weights).output().unwrap();
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("no production is named `integer/ad`"), "{}", stderr(&output));
}

#[test]
fn every_small_program_of_depth_1_is_generated_once() {
    let output = ptxsmith().args(["gen", "--exhaustive", "1", "--count", "2000"]).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let names: Vec<&str> = text.lines().filter(|line| line.starts_with("// note: small-1-")).collect();
    assert_eq!(names.len(), 2000);
    assert!(names.is_sorted_by(|a, b| a.len() <= b.len()));
}

#[test]
fn depths_that_are_not_enumerated_are_refused() {
    let output = ptxsmith().args(["run", "--exhaustive", "3"]).output().unwrap();
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("3 is not in 1..=2"), "{}", stderr(&output));
}

#[test]
fn what_must_be_refused_is_counted_beside_what_must_be_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut command = ptxsmith();
    command.args(["run", "--cases", "3000", "--subject", &oracle_as_subject(&[]), "--out"]).arg(&out);
    let output = command.output().unwrap();
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    let report: Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
    let confusion = &report["subjects"][0]["confusion"];
    let count = |must: &str, fate: &str| confusion[must][fate].as_u64().unwrap();
    assert!(count("must_accept", "accepted") > 2_800, "{confusion}");
    // A conforming subject rejects every invalid program and no valid one.
    assert!(count("must_refuse", "refused") > 20, "{confusion}");
    assert_eq!(count("must_refuse", "accepted") + count("must_accept", "refused"), 0, "{confusion}");
    assert!(stdout(&output).contains("invalid: accepted"), "{}", stdout(&output));
}

#[test]
fn each_kind_of_case_can_be_asked_for_alone() {
    for (focus, sign) in [
        ("expressions", ".global"),
        ("initializers", "] = {"),
        ("addresses", "generic("),
        ("seats", "v21[8] = {"),
        ("negatives", ".version"),
    ] {
        let output = ptxsmith().args(["gen", "--count", "60", "--focus", focus]).output().unwrap();
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert!(stdout(&output).contains(sign), "{focus}: {}", stdout(&output));
    }
}

#[test]
fn a_case_is_made_by_its_number() {
    let made = |args: &[&str]| stdout(&ptxsmith().args(["gen", "--seed", "3"]).args(args).output().unwrap());
    let (all, third) = (made(&["--count", "4"]), made(&["--count", "1", "--first", "3"]));
    assert!(third.starts_with("// note: case-3-3, ") && all.ends_with(&third), "{third}");
}
