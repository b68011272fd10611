//! `check`, and the exit statuses of a campaign, with fake subjects.

use std::path::Path;
use std::process::Output;

use crate::common::*;
use serde_json::Value;

const ACCEPTED: &str = r#"echo '{"outcome": "accepted", "variables": {"x": {"space": "global", "size": 4, "bytes": "02000000", "addresses": []}}}'"#;

fn check(directory: &Path, declarations: &str, subject: &str, more: &[&str]) -> Output {
    let program = file(directory, "a.ptx", &module(declarations));
    ptxsmith().arg("check").arg(program).args(["--subject", subject]).args(more).output().unwrap()
}

fn report(directory: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(directory.join("report.json")).unwrap()).unwrap()
}

#[test]
fn status_0_if_everything_conforms() {
    let directory = tempfile::tempdir().unwrap();
    let declarations =
        ".global .s32 x[3][2] = {{1,2},{3}};\n.const .f64 y = 0.1;\n.global .u64 p = generic(x);";
    let output = check(directory.path(), declarations, &oracle_as_subject(&[]), &[]);
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("3 parts compared, 3 conform, 0 deviate"), "{}", stdout(&output));
    let refused = check(directory.path(), ".global .s32 x = 1.0;", &oracle_as_subject(&[]), &[]);
    assert_eq!(status(&refused), 0, "{}", stdout(&refused));
}

/// Locations refer to the user's file, both in text and in formats for code hosts. A rejection by the
/// specification is shown as such.
#[test]
fn a_deviation_stands_at_its_line_and_column_and_an_invalid_file_says_that_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let subject = script(directory.path(), ACCEPTED);
    let declarations = ".global .s32 w;\n.global .s32 x = 5 / 2U - 1;";
    let output = check(directory.path(), declarations, &subject, &["--format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&output.stdout).unwrap();
    let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["region"], serde_json::json!({"startLine": 5, "startColumn": 14}));
    assert!(location["artifactLocation"]["uri"].as_str().unwrap().ends_with("/a.ptx"), "{location}");

    let output = check(directory.path(), ".global .s32 x = {5};", &subject, &[]);
    let said = "refused by the specification: line 4: a list where a single value belongs (5.4.4/scalar-single-value)";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    assert!(stdout(&output).contains("/a.ptx:4: accepts-invalid: "), "{}", stdout(&output));
}

#[test]
fn another_reading_conforms_and_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let subject = oracle_as_subject(&["shift-count=modulo"]);
    let output = check(directory.path(), ".global .s64 x = 1 << 65;", &subject, &[]);
    assert_eq!(status(&output), 0, "{}", stdout(&output));
    assert!(stdout(&output).contains("shift-count=modulo (1)"), "{}", stdout(&output));
}

/// The wrong rule that divides unsigned numbers predicts the wrong value, but another variable contradicts it.
#[test]
fn a_wrong_rule_that_a_conforming_variable_contradicts_is_no_cause() {
    let directory = tempfile::tempdir().unwrap();
    let answer = |a: &str| {
        let variable =
            |bytes: &str| format!(r#"{{"space": "global", "size": 8, "bytes": "{bytes}", "addresses": []}}"#);
        let (a, b) = (variable(a), variable("fcffffffffffff7f"));
        format!(r#"echo '{{"outcome": "accepted", "variables": {{"a": {a}, "b": {b}}}}}'"#)
    };
    let named = |a: &str| {
        let subject = script(directory.path(), &answer(a));
        let declarations = ".global .s64 a = -7 / 2;\n.global .s64 b = (.s64)-7 / 2;";
        let output = check(directory.path(), declarations, &subject, &["--format", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(named("fcffffffffffff7f"), ["division-unsigned"]);
    let contradicted = named("fdffffffffffffff");
    assert!(contradicted.len() == 1 && contradicted[0].starts_with("wrong-value-"), "{contradicted:?}");
}

#[test]
fn a_given_interpretation_is_the_only_one_that_conforms() {
    let directory = tempfile::tempdir().unwrap();
    let judged = |follows: &[&str], given: &[&str]| {
        let subject = oracle_as_subject(follows);
        let mut options = vec!["--format", "json"];
        given.iter().for_each(|answer| options.extend(["--interpretation", answer]));
        let output = check(directory.path(), ".global .s64 a = 1 << 64;", &subject, &options);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (status(&output), report)
    };
    let modulo = "shift-count=modulo";
    for (follows, given) in
        [(&[modulo][..], &[][..]), (&[modulo], &[modulo]), (&[], &["shift-count=saturate"])]
    {
        assert_eq!(judged(follows, given).0, 0, "{follows:?} {given:?}");
    }
    let (status, report) = judged(&[], &[modulo]);
    assert_eq!((status, &report["given_answers"][0]), (1, &Value::from(modulo)), "{report}");
    let finding = &report["findings"][0];
    assert_eq!(finding["expected"]["variables"]["a"]["bytes"], "0100000000000000", "{finding}");
    let repeat = finding["repeat"].as_str().unwrap();
    assert!(repeat.ends_with(" --interpretation shift-count=modulo"), "{repeat}");
    assert_eq!(judged(&[modulo], &["shift-count=saturate"]).0, 1);
    assert_eq!(judged(&[], &[modulo, modulo]).0, 2);
}

#[test]
fn status_1_for_a_new_deviation_which_is_reported_in_full() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let subject = script(directory.path(), ACCEPTED);
    let output =
        check(directory.path(), ".global .s32 x = 5 / 2U - 1;", &subject, &["--out", out.to_str().unwrap()]);
    assert_eq!(status(&output), 1, "{}{}", stdout(&output), stderr(&output));
    let text = stdout(&output);
    for part in [
        "/a.ptx:4:14: wrong-value: a variable holds other bytes [wrong-value-",
        "new wrong-value: a variable holds other bytes [wrong-value-",
        "4.5.5/subtraction (",
        "program   .global .s32 x = 5 / 2U - 1;",
        "expected  x: 01000000  = 1",
        "actual    x: 02000000  = 2",
        "repeat    ptxsmith check ",
        "1 part compared, 0 conform, 1 deviate",
        "1 of 1 compared; 0 known deviations, 1 new (status 1)",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }

    let report = report(&out);
    assert_eq!(report["schema"], "ptxsmith.report/1");
    assert_eq!(
        (&report["compared"], &report["conform"], &report["complete"]),
        (&1.into(), &0.into(), &true.into())
    );
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["status"], &finding["class"], &finding["count"]),
        (&"new".into(), &"wrong-value".into(), &1.into())
    );
    assert_eq!((&finding["variable"], &finding["subjects"][0]), (&"x".into(), &subject.as_str().into()));
    assert_eq!(finding["expected"]["variables"]["x"]["bytes"], "01000000");
    assert_eq!(finding["observed"]["variables"]["x"]["bytes"], "02000000");
    assert!(finding["program"].as_str().unwrap().starts_with(".version 7.8"));
    assert!(report["coverage"]["clauses"]["reached"].as_u64().unwrap() > 5);

    // The finding is a program with its expectation as a comment, and the command in the report reproduces
    // it.
    let path = out.join(finding["file"].as_str().unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("// variable: x size=4 align=4 bytes=01000000\n"), "{text}");
    assert!(text.contains("// expect: accepted\n") && text.starts_with("// clause: "), "{text}");
    let repeat = finding["repeat"].as_str().unwrap().strip_prefix("ptxsmith ").unwrap();
    let program = assert_cmd::cargo::cargo_bin!("ptxsmith");
    let again = std::process::Command::new("sh")
        .args(["-c", &format!("{} {repeat}", program.display())])
        .current_dir(&out)
        .output();
    assert_eq!(status(&again.unwrap()), 1);
}

#[test]
fn a_crash_and_a_hang_are_results_about_the_subject() {
    let directory = tempfile::tempdir().unwrap();
    let output =
        check(directory.path(), ".global .s32 x = 1;", &script(directory.path(), "kill -SEGV $$"), &[]);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("killed by signal 11 (SIGSEGV)"), "{}", stdout(&output));
    let subject = script(directory.path(), "sleep 60");
    let output = check(directory.path(), ".global .s32 x = 1;", &subject, &["--timeout", "300ms"]);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("no answer in time"), "{}", stdout(&output));
}

#[test]
fn status_2_for_bad_input_beside_what_could_be_judged() {
    let directory = tempfile::tempdir().unwrap();
    file(directory.path(), "good.ptx", &module(".global .s32 x = 1;"));
    file(directory.path(), "bad.ptx", "}");
    let mut command = ptxsmith();
    let output = command
        .arg("check")
        .arg(directory.path())
        .args(["--subject", &oracle_as_subject(&[])])
        .output()
        .unwrap();
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("bad.ptx:1:1: error: "), "{}", stderr(&output));
    assert!(stdout(&output).contains("1 part compared, 1 conform"), "{}", stdout(&output));
}

/// Creates a subject that rejects every program that contains `what`, with the line in its message, and
/// accepts all others without values.
fn refusing(directory: &Path, what: &str) -> String {
    let script_text = format!(
        r#"line=$(grep -n -F '{what}' "$1" | head -1 | cut -d: -f1)
if [ -n "$line" ]; then
  echo '{{"outcome": "refused", "diagnostics": [{{"severity": "error", "line": '$line', "message": "no"}}]}}'
else
  echo '{{"outcome": "accepted"}}'
fi"#
    );
    script(directory, &script_text)
}

#[test]
fn a_refusal_of_what_the_texts_do_not_decide_is_not_compared_and_says_why() {
    for (program, refused, reason) in [
        (
            ".global .u32 a = 5;\n.global .u32 a = 6;",
            ".u32 a = 6",
            "a name that its scope declares more than once",
        ),
        (".func f() { ret; }\n.func f() { ret; }\n.global .u32 b = 1;", ".func f", "more than once"),
        (".entry k() { .reg .u32 %r<4>;\nadd.foo %r1, 1, 2; }", "add.foo", "a form that is not modelled"),
        (".entry k() { .reg .u32 %r<4>;\nadd.u32 %r1, %x, 2; }", "%x", "a name that nothing declares"),
        (".frob 1;\n.global .u32 b = 1;", ".frob", "not understood"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let output = check(directory.path(), program, &refusing(directory.path(), refused), &[]);
        let text = format!("{}{}", stdout(&output), stderr(&output));
        assert_eq!(status(&output), 3, "{program}: {text}");
        assert!(
            text.contains(reason) && text.contains("; refused: line ") && text.contains(": no;"),
            "{program}: {text}"
        );
    }
}

#[test]
fn a_header_that_the_subject_does_not_take_is_no_deviation() {
    let directory = tempfile::tempdir().unwrap();
    let output = check(directory.path(), ".global .u32 a = 5;", &refusing(directory.path(), ".target"), &[]);
    assert_eq!(status(&output), 3, "{}", stdout(&output));
    assert!(stdout(&output).contains("the subject does not accept the header"), "{}", stdout(&output));
}

#[test]
fn a_complaint_about_a_line_of_the_header_counts_where_the_plainest_program_is_taken_under_it() {
    let directory = tempfile::tempdir().unwrap();
    let refusal = r#"{"schema": "ptxsmith.module/1", "outcome": "refused", "diagnostics": [{"severity": "error", "line": 2, "message": "no"}]}"#;
    let taken = r#"{"schema": "ptxsmith.module/1", "outcome": "accepted"}"#;
    // Both subjects accept the header alone. The first rejects the header only if a declaration follows, the
    // second reports line 2 for an error in another line.
    for (refused, status_of) in [("global", 3), ("=", 1)] {
        let subject = script(
            directory.path(),
            &format!("grep -q '{refused}' \"$1\" && echo '{refusal}' || echo '{taken}'"),
        );
        let program = file(directory.path(), "a.ptx", &module(".global .u32 x = 1;"));
        let output = ptxsmith().args(["check", "--subject", &subject]).arg(program).output().unwrap();
        assert_eq!(status(&output), status_of, "{}{}", stdout(&output), stderr(&output));
    }
}

#[test]
fn judged_parts_that_are_blamed_are_shown_alone_and_the_finding_shows_those() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let program = ".frob 1;\n.global .u32 b = 5;\n.global .u64 p = b;\n.global .u32 other = 7;";
    let subject = refusing(directory.path(), "p = b");
    let output = check(directory.path(), program, &subject, &["--out", out.to_str().unwrap()]);
    assert_eq!(status(&output), 1, "{}{}", stdout(&output), stderr(&output));
    let report = report(&out);
    let finding = &report["findings"][0];
    assert_eq!((&finding["class"], &finding["validity"]), (&"refuses-valid".into(), &"valid".into()));
    let shown = finding["program"].as_str().unwrap();
    assert!(shown.contains(".global .u32 b = 5;") && shown.contains("p = b"), "{shown}");
    assert!(!shown.contains(".frob") && !shown.contains("other"), "{shown}");
    assert_eq!(report["subjects"][0]["not_compared"]["unmodelled"], 1);
}

#[test]
fn a_refused_part_is_accepted_only_where_it_is_accepted_alone() {
    let directory = tempfile::tempdir().unwrap();
    let program = ".frob 1;\n.global .u32 a[1] = {1, 2};";
    let takes_all = script(directory.path(), r#"echo '{"outcome": "accepted"}'"#);
    let output = check(directory.path(), program, &takes_all, &[]);
    assert_eq!(status(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("accepts-invalid"), "{}", stdout(&output));
    let only_with_frob = r#"if grep -q frob "$1"; then echo '{"outcome": "accepted"}'; else echo '{"outcome": "refused"}'; fi"#;
    let output = check(directory.path(), program, &script(directory.path(), only_with_frob), &[]);
    assert_eq!(status(&output), 3, "{}", stdout(&output));
}

#[test]
fn a_program_without_version_is_bad_input() {
    for text in ["", ".global .s32 a = 1;", "// nothing\n"] {
        let output =
            ptxsmith().args(["check", "-", "--subject", "ptxas"]).write_stdin(text).output().unwrap();
        assert_eq!(status(&output), 2, "{}", stderr(&output));
        assert!(
            stderr(&output).contains("no .version") && stderr(&output).lines().count() == 1,
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn status_3_if_nothing_was_compared() {
    let directory = tempfile::tempdir().unwrap();
    let subject = script(directory.path(), r#"echo '{"outcome": "unsupported"}'"#);
    let output = check(directory.path(), ".global .s32 x = 1;", &subject, &[]);
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert!(stdout(&output).contains("not compared, unsupported: 1"), "{}", stdout(&output));
    let driver = check(directory.path(), ".global .s32 x = 1;", "driver", &[]);
    assert_eq!(status(&driver), 3);
    assert!(stderr(&driver).starts_with("error: driver is not available: "), "{}", stderr(&driver));
}

#[test]
fn status_4_if_the_harness_fails() {
    let directory = tempfile::tempdir().unwrap();
    let program = file(directory.path(), "a.ptx", &module(".global .s32 x = 1;"));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let program_path = assert_cmd::cargo::cargo_bin!("ptxsmith");
    let output =
        std::process::Command::new(program_path).arg("eval").arg(program).stdout(full).output().unwrap();
    assert_eq!(status(&output), 4);
    assert!(stderr(&output).starts_with("error: cannot write standard output: "), "{}", stderr(&output));
}

#[test]
fn a_closed_pipe_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let program = file(directory.path(), "a.ptx", &module(".global .s32 x = 1;"));
    let ptxsmith = assert_cmd::cargo::cargo_bin!("ptxsmith").display();
    let line = format!("({ptxsmith} eval {}; echo $? >&2) | true", program.display());
    let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    assert_eq!(stderr(&output), "0\n");
}

#[test]
fn the_report_does_not_depend_on_the_number_of_jobs() {
    let directory = tempfile::tempdir().unwrap();
    let programs = directory.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for number in 0..20 {
        let declarations = format!(".global .s32 x = {number};\n.global .s32 y{number} = 2;");
        file(&programs, &format!("{number}.ptx"), &module(&declarations));
    }
    let subject = script(directory.path(), ACCEPTED);
    let report = |jobs: &str| {
        let out = directory.path().join("out");
        let mut command = ptxsmith();
        command.arg("check").arg(&programs).args(["--subject", &subject, "--jobs", jobs, "--out"]).arg(&out);
        assert_eq!(status(&command.output().unwrap()), 1);
        std::fs::read_to_string(out.join("report.json")).unwrap()
    };
    assert_eq!(report("1"), report("8"));
}

#[test]
fn a_known_deviation_and_what_was_not_compared_are_status_1_where_they_are_denied() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "m.ptx", &module(".global .s32 a = 1;\n.global .s32 b = 2;"));
    // Only one of the two variables is observed.
    let variable = r#"{"space": "global", "size": 4, "align": 4, "bytes": "01000000", "addresses": []}"#;
    let partly = format!(r#"echo '{{"outcome": "accepted", "variables": {{"a": {variable}}}}}'"#);
    let subject = script(directory.path(), &partly);
    let run = |deny: &[&str]| {
        let path = path.to_str().unwrap();
        status(&ptxsmith().args(["check", path, "--subject", &subject]).args(deny).output().unwrap())
    };
    assert_eq!(run(&["--deny", "known"]), 0);
    assert_eq!(run(&["--deny", "known", "--deny", "uncompared"]), 1);
    assert_eq!(run(&["--deny", "everything"]), 2);
}

#[test]
fn a_case_is_held_to_its_own_comments_without_any_implementation() {
    let directory = tempfile::tempdir().unwrap();
    let verify = |bytes: &str| {
        let comments = format!(
            "// clause: 5.4.4/incomplete-outer\n// expect: accepted\n// variable: a size=8 align=4 bytes={bytes}\n"
        );
        let case = file(directory.path(), "case.ptx", &(comments + &module(".global .s32 a[2] = {1};")));
        ptxsmith().arg("check").arg(case).arg("--expectations").env("PATH", "").output().unwrap()
    };
    let holds = verify("0100000000000000");
    assert_eq!((status(&holds), stdout(&holds)), (0, "1 case: 1 hold what they say, 0 do not\n".to_owned()));
    let wrong = verify("0100000001000000");
    assert_eq!(status(&wrong), 2);
    assert!(stderr(&wrong).contains("bytes=0100000001000000"), "{}", stderr(&wrong));
    assert_eq!(
        status(&ptxsmith().args(["check", "../../corpus/5.4.4", "--expectations"]).output().unwrap()),
        0
    );
}

#[test]
fn a_finding_of_standard_input_is_repeated_by_its_command() {
    let directory = tempfile::tempdir().unwrap();
    let variable = r#"{"space": "global", "size": 4, "align": 4, "bytes": "02000000", "addresses": []}"#;
    let subject = script(
        directory.path(),
        &format!(r#"echo '{{"outcome": "accepted", "variables": {{"a": {variable}}}}}'"#),
    );
    let text = module(".global .s32 a = 1; // 100%");
    let output = ptxsmith().args(["check", "-", "--subject", &subject]).write_stdin(text).output().unwrap();
    assert_eq!(status(&output), 1);
    let told = stdout(&output);
    let command = told.lines().find_map(|line| line.trim().strip_prefix("repeat ")).unwrap().trim();
    let path = std::env::join_paths(
        std::iter::once(assert_cmd::cargo::cargo_bin!("ptxsmith").parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let again =
        std::process::Command::new("bash").args(["-c", command]).env("PATH", path.unwrap()).output().unwrap();
    assert_eq!(again.status.code(), Some(1), "{command}\n{}", String::from_utf8_lossy(&again.stderr));
}

/// Whatever the specification means, one of the two results is a deviation.
#[test]
fn an_answer_that_is_followed_in_one_file_and_another_in_another_is_a_finding() {
    let directory = tempfile::tempdir().unwrap();
    let [taken, refused] = [&[][..], &["forward-reference=refused"]]
        .map(|options| oracle_as_subject(options).strip_prefix("exec:").unwrap().to_owned());
    let fickle = format!("if grep -q '[.]const' \"$1\"; then {refused} \"$1\"; else {taken} \"$1\"; fi");
    script(directory.path(), &fickle);
    let subject = format!("exec:sh {}", directory.path().join("subject.sh").display());
    let check = |spaces: [&str; 2]| {
        let files = [0, 1].map(|at| {
            let text = module(&format!("{} .u64 a = b; .global .u32 b;", spaces[at]));
            file(directory.path(), &format!("{at}.ptx"), &text)
        });
        let output = ptxsmith().arg("check").args(files).args(["--subject", &subject]).output().unwrap();
        (status(&output), stdout(&output).contains("new refuses-valid"))
    };
    assert_eq!(check([".global", ".const"]), (1, true));
    assert_eq!(check([".global", ".global"]), (0, false));
    assert_eq!(check([".const", ".const"]), (0, false));
}

#[test]
fn an_expected_failure_is_no_failure_and_one_that_passes_is() {
    let directory = tempfile::tempdir().unwrap();
    let answer = |value: &str| {
        let oracle = oracle_as_subject(&[]);
        let command = oracle.strip_prefix("exec:").unwrap();
        script(directory.path(), &format!("{command} \"$1\" | sed 's/\"bytes\": \"05/\"bytes\": \"{value}/'"))
    };
    let program = file(directory.path(), "a.ptx", &module(".global .u8 a = 5;"));
    let expected = directory.path().join("expected.txt");
    let check = |option: &str| {
        let mut command = ptxsmith();
        // The subject has another path when it is checked again, as on another machine.
        let dot = if option == "--write-expected" { "" } else { "./" };
        let subject = format!("exec:sh {}", directory.path().join(dot).join("subject.sh").display());
        command.arg("check").arg(&program).args(["--subject", &subject, option]).arg(&expected);
        command.output().unwrap()
    };
    answer("06");
    assert_eq!(status(&check("--write-expected")), 1);
    let green = check("--expect-failures");
    assert_eq!(
        (status(&green), stdout(&green).contains("0 new, 1 expected (status 0)")),
        (0, true),
        "{}",
        stdout(&green)
    );
    assert!(stdout(&green).contains("\n 1. expected wrong-value"), "{}", stdout(&green));
    answer("05");
    let passed = check("--expect-failures");
    assert_eq!(
        (status(&passed), stdout(&passed).contains("does not fail on")),
        (1, true),
        "{}",
        stdout(&passed)
    );
    std::fs::write(&expected, "a ptxas newest\n").unwrap();
    assert_eq!(status(&check("--expect-failures")), 2);
}

#[test]
fn files_that_a_linker_would_see_together_are_judged_each_alone() {
    let directory = tempfile::tempdir().unwrap();
    let one = ".visible .global .align 4 .f32 duppi = 0f42053333;\n.visible .func duppf() { ret; }";
    let other = ".visible .global .align 8 .f64 duppi = 0d4040A66666666666;\n.visible .func duppf() { ret; }";
    for (name, text) in [("a.ptx", one), ("b.ptx", other)] {
        file(directory.path(), name, &module(text));
    }
    let files = ["a.ptx", "b.ptx"].map(|name| directory.path().join(name));
    let check = |files: &[std::path::PathBuf]| {
        let subject = oracle_as_subject(&[]);
        ptxsmith().arg("check").args(files).args(["--subject", &subject]).output().unwrap()
    };
    let both = check(&files);
    assert_eq!(status(&both), 0);
    assert!(stderr(&both).contains("judged each alone; both define duppf, duppi"), "{}", stderr(&both));
    assert!(!stderr(&check(&files[..1])).contains("judged each alone"));
}
