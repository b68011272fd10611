//! `run` and `gen`, with fake subjects.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::*;
use serde_json::Value;

fn report(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap()
}

/// Creates a subject that follows the specification except for some bytes.
fn wrong_subject(directory: &Path) -> String {
    let ptxsmith = assert_cmd::cargo::cargo_bin!("ptxsmith").display();
    script(directory, &format!("{ptxsmith} eval --json \"$1\" | sed 's/\\(\"bytes\": \"\\)01/\\102/'"))
}

#[test]
fn a_subject_that_follows_the_specification_conforms() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut command = ptxsmith();
    command.args(["run", "--cases", "2000", "--subject", &oracle_as_subject(&[]), "--out"]).arg(&out);
    let output = command.output().unwrap();
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert_eq!(stderr(&output), "", "no progress where standard error is no terminal");
    let report = report(&out);
    let count = |key: &str| report[key].as_u64().unwrap();
    assert!(count("compared") > 1800 && count("conform") == count("compared"), "{report}");
    let left_out: u64 = report["not_compared"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(count("compared") + left_out, 2000);
    assert!(report["coverage"]["productions"]["reached"].as_u64() > Some(100), "{}", report["coverage"]);
    assert_eq!(std::fs::read_dir(out.join("findings")).unwrap().count(), 0);
}

#[test]
fn a_deviation_is_found_saved_and_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let subject = wrong_subject(directory.path());
    let run = |jobs: &str| {
        let mut command = ptxsmith();
        command.args(["run", "--cases", "600", "--replace", "--jobs", jobs, "--subject", &subject, "--out"]);
        command.arg(&out);
        let output = command.output().unwrap();
        assert_eq!(status(&output), 1, "{}{}", stdout(&output), stderr(&output));
        std::fs::read_to_string(out.join("report.json")).unwrap()
    };
    assert_eq!(run("1"), run("4"), "the report depends on the number of jobs");
    // Files of another campaign are kept unless they are to be replaced. Files that belong to no campaign are
    // kept and reported.
    let mut command = ptxsmith();
    command.args(["run", "--cases", "100", "--seed", "9", "--subject", &subject, "--out"]).arg(&out);
    let refused = one_line_error(&command.output().unwrap());
    assert!(refused.contains("--resume goes on with it") && refused.contains("--replace"), "{refused}");
    std::fs::write(out.join("findings/notes.txt"), "").unwrap();
    let other = command.arg("--replace").output().unwrap();
    assert!(stdout(&other).contains("files of earlier campaigns there: 1\n"), "{}", stdout(&other));
    run("2");

    let report = report(&out);
    let finding = &report["findings"][0];
    let text = std::fs::read_to_string(out.join(finding["file"].as_str().unwrap())).unwrap();
    assert!(
        text.contains("// note: reduced from what was found by ptxsmith ")
            && text.contains(", seed 0, case "),
        "{text}"
    );
    let repeat = finding["repeat"].as_str().unwrap().strip_prefix("ptxsmith ").unwrap();
    let line = format!("{} {repeat}", assert_cmd::cargo::cargo_bin!("ptxsmith").display());
    let again = Command::new("sh").args(["-c", &line]).current_dir(&out).output().unwrap();
    assert_eq!(status(&again), 1, "{}{}", stdout(&again), stderr(&again));
}

#[test]
fn the_files_of_findings_say_what_holds_of_the_program_in_them_and_what_is_seen_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let subject = wrong_subject(directory.path());
    let mut command = ptxsmith();
    command.args(["run", "--quiet", "--cases", "600", "--subject", &subject, "--out"]).arg(&out);
    assert_eq!(status(&command.output().unwrap()), 1);
    let mut files: Vec<_> =
        std::fs::read_dir(out.join("findings")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut command = ptxsmith();
    let held = command.args(["check", "--expectations"]).arg(out.join("findings")).output().unwrap();
    assert_eq!(status(&held), 0, "{}", stderr(&held));
    let as_found = |path: &Path| path.to_string_lossy().ends_with(".found.ptx");
    assert!(files.len() >= 2 && files.iter().any(|path| as_found(path)), "{files:?}");
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let said = |key: &str| text.lines().filter_map(|line| line.strip_prefix(key)).collect::<Vec<_>>();
        let mut command = ptxsmith();
        let held = stdout(&command.args(["eval", "--json"]).arg(&path).output().unwrap());
        let held: Value = serde_json::from_str(&held).unwrap();
        let variables = held["variables"].as_object().unwrap().iter().map(|(name, variable)| {
            let [size, align] = ["size", "align"].map(|key| variable[key].as_u64().unwrap());
            format!("{name} size={size} align={align} bytes={}", variable["bytes"].as_str().unwrap())
        });
        assert_eq!(said("// variable: "), variables.collect::<Vec<_>>(), "{text}");
        assert_eq!(said("// expect: "), [held["outcome"].as_str().unwrap()], "{text}");
        let mut command = ptxsmith();
        let checked = command.args(["check", "--subject", &subject]).arg(&path).output().unwrap();
        assert_eq!(status(&checked), 1, "{text}");
        let seen = said(&format!("// note: {subject}: "));
        assert!(
            !seen.is_empty() && seen.iter().all(|seen| stdout(&checked).contains(seen)),
            "{text}{}",
            stdout(&checked)
        );
    }
}

#[test]
fn answers_that_change_are_one_finding() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let ptxsmith_path = assert_cmd::cargo::cargo_bin!("ptxsmith").display();
    // Every seventh answer is wrong, whatever the request.
    let count = directory.path().join("count");
    let subject = script(
        directory.path(),
        &format!(
            "echo >> {0}; n=$(wc -l < {0})\n\
             wrong=$([ $((n % 7)) = 0 ] && echo 's/\\(\"bytes\": \"\\)[0-9a-f][0-9a-f]/\\1ee/' || echo)\n\
             {ptxsmith_path} eval --json \"$1\" | sed -e \"$wrong\"",
            count.display()
        ),
    );
    let mut command = ptxsmith();
    command.args(["run", "--quiet", "--jobs", "1", "--focus", "expressions", "--cases", "4000"]);
    let output = command.args(["--subject", &subject, "--out"]).arg(&out).output().unwrap();
    let report = report(&out);
    let found: Vec<_> =
        report["findings"].as_array().unwrap().iter().map(|f| (&f["id"], &f["class"])).collect();
    assert_eq!(
        found,
        [(&"inconsistent".into(), &"inconsistent".into())],
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    assert_eq!(status(&output), 1);
}

#[test]
fn an_implementation_that_refuses_everything_is_asked_whether_it_is_configured() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let refusal = r#"{"schema": "ptxsmith.module/1", "outcome": "refused", "diagnostics": [{"severity": "fatal", "message": "no licence"}]}"#;
    let subject = script(directory.path(), &format!("echo '{refusal}'"));
    let mut command = ptxsmith();
    let output =
        command.args(["run", "--cases", "300", "--subject", &subject, "--out"]).arg(&out).output().unwrap();
    assert_eq!(status(&output), 3, "{}", stdout(&output));
    assert_eq!(report(&out)["findings"].as_array().unwrap().len(), 0);
    let told = stdout(&output);
    assert!(
        told.contains("accepted 0 of ") && told.contains("is it configured? It says: no licence"),
        "{told}"
    );
}

#[test]
fn an_implementation_that_dies_of_everything_is_asked_whether_it_is_configured() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let subject = script(directory.path(), "exit 1");
    let mut command = ptxsmith();
    let output =
        command.args(["run", "--cases", "100", "--subject", &subject, "--out"]).arg(&out).output().unwrap();
    // A crash is a finding, even if the subject is not configured.
    assert_eq!(status(&output), 1, "{}", stdout(&output));
    assert!(report(&out)["findings"].as_array().unwrap().iter().all(|found| found["class"] == "crash"));
    let told = stdout(&output);
    assert!(
        told.contains("accepted 0 of ") && told.contains("is it configured? It dies: exit status 1"),
        "{told}"
    );
}

#[test]
fn a_signal_ends_a_campaign_that_keeps_what_was_found_and_says_how_to_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut run = Command::new(assert_cmd::cargo::cargo_bin!("ptxsmith"))
        .args(["run", "--time", "10m", "--subject", &wrong_subject(directory.path()), "--out"])
        .arg(&out)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let found = || std::fs::read_dir(out.join("findings")).is_ok_and(|mut entries| entries.next().is_some());
    while !found() {
        assert!(started.elapsed() < Duration::from_secs(100), "nothing found");
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap();
    let pressed = Instant::now();
    while run.try_wait().unwrap().is_none() {
        assert!(pressed.elapsed() < Duration::from_secs(10), "it does not stop");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = run.wait_with_output().unwrap();
    assert_eq!(status(&output), 143);
    let resume = format!("resume with: ptxsmith run --resume --out {}\n", out.display());
    assert!(stdout(&output).contains("stopped by SIGTERM"), "{}", stdout(&output));
    assert!(stdout(&output).contains(&resume), "{}", stdout(&output));
    let before = report(&out);
    assert_eq!(before["complete"], false);
    // All other arguments come from the campaign.
    let mut command = ptxsmith();
    let resumed = command.args(["run", "--quiet", "--resume", "--time", "1s", "--out"]).arg(&out).output();
    let resumed = resumed.unwrap();
    assert_eq!(status(&resumed), 1, "{}{}", stdout(&resumed), stderr(&resumed));
    let report = report(&out);
    assert!(report["compared"].as_u64() >= before["compared"].as_u64(), "{report}");
    for finding in report["findings"].as_array().unwrap() {
        assert!(out.join(finding["file"].as_str().unwrap()).is_file(), "{finding}");
    }
    assert_ne!(report["findings"].as_array().unwrap().len(), 0);
}

#[test]
fn one_signal_ends_what_waits_for_input() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (command, signal, expected) in [
        (&["eval"][..], "-TERM", 143),
        (&["check", "--subject", "exec:true"], "-HUP", 129),
        (&["reduce"], "-INT", 130),
    ] {
        let mut waiting = Command::new(assert_cmd::cargo::cargo_bin!("ptxsmith"));
        let mut waiting = waiting.args(command).arg(&fifo).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        Command::new("kill").args([signal, &waiting.id().to_string()]).status().unwrap();
        let sent = Instant::now();
        while waiting.try_wait().unwrap().is_none() {
            assert!(sent.elapsed() < Duration::from_secs(5), "{command:?} waits on");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(waiting.wait().unwrap().code(), Some(expected), "{command:?}");
    }
}

#[test]
fn a_campaign_is_raised_to_what_a_longer_one_gives() {
    let directory = tempfile::tempdir().unwrap();
    // The answers of this subject do not depend on other cases in the same task. Otherwise the result would
    // depend on the size of the tasks.
    let subject = oracle_as_subject(&["shift-count=modulo"]);
    let run = |arguments: &[&str], out: &str| {
        let mut command = ptxsmith();
        command.current_dir(directory.path()).args(["run", "--quiet"]).args(arguments).args(["--out", out]);
        let output = command.output().unwrap();
        assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
        std::fs::read_to_string(directory.path().join(out).join("report.json")).unwrap()
    };
    let whole = run(&["--cases", "1500", "--seed", "4", "--subject", &subject], "whole");
    let part = run(&["--cases", "1000", "--seed", "4", "--subject", &subject], "part");
    assert!(whole != part, "500 cases more show in the report");
    assert!(run(&["--resume"], "part") == part, "nothing was left to do");
    assert!(
        run(&["--resume", "--cases", "1500"], "part") == whole,
        "the rest was not done as it is in one go"
    );
    let mut command = ptxsmith();
    command.current_dir(directory.path()).args(["run", "--resume", "--cases", "900", "--out", "part"]);
    assert!(one_line_error(&command.output().unwrap()).contains("(cases `1500`, here `900`)"));
}

#[test]
fn a_second_ctrl_c_does_not_wait() {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ptxsmith"));
    // Reading a standard input without a writer does not check the flag that the first signal raises.
    let mut waiting = command.args(["eval", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    for _ in 0..2 {
        Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(waiting.wait().unwrap().code(), Some(130));
}

#[test]
fn status_3_if_the_default_subject_is_not_there_and_cannot_be_installed() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = ptxsmith();
    let output = command
        .args(["run", "--cases", "10", "--out"])
        .arg(directory.path())
        .env("PTXSMITH_CACHE", directory.path().join("cache"))
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("error: ptxas is not available: "), "{}", stderr(&output));
}

#[test]
fn generated_modules_are_the_same_every_time_and_parse() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = ptxsmith();
    let output =
        command.args(["gen", "--count", "20", "--seed", "7", "--out"]).arg(directory.path()).output();
    assert_eq!(status(&output.unwrap()), 0);
    let mut all = String::new();
    for index in 0..20 {
        let path = directory.path().join(format!("case-7-{index}.ptx"));
        let text = std::fs::read_to_string(&path).unwrap();
        ptxsmith_syntax::parse(&text).unwrap();
        all.push_str(&text);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 20);
    let printed = ptxsmith().args(["gen", "--count", "20", "--seed", "7"]).output().unwrap();
    assert_eq!(stdout(&printed), all);
    let other = ptxsmith().args(["gen", "--count", "20", "--seed", "8"]).output().unwrap();
    assert_ne!(stdout(&other), all);
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_generation() {
    let line = format!(
        "{} gen --count 1000000000 | head -c 100",
        assert_cmd::cargo::cargo_bin!("ptxsmith").display()
    );
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    assert_eq!((output.stdout.len(), stderr(&output).as_str()), (100, ""));
}

#[test]
fn edited_programs_are_judged_for_whether_the_subject_dies_of_them() {
    let directory = tempfile::tempdir().unwrap();
    let program =
        file(directory.path(), "a.ptx", &module(".global .u32 aa[2] = {1, 2};\n.global .u64 bb = aa;"));
    // Crashes on every text that does not contain `bb` exactly once, and rejects the rest.
    let subject = script(
        directory.path(),
        r#"[ "$(grep -o bb "$1" | wc -l)" = 1 ] || kill -SEGV $$; echo '{"outcome": "refused"}'"#,
    );
    let out = directory.path().join("out");
    let run = || {
        let mut command = ptxsmith();
        command.args(["run", "--mutate"]).arg(&program).args([
            "--cases",
            "60",
            "--subject",
            &subject,
            "-q",
            "--replace",
            "--out",
        ]);
        let output = command.arg(&out).output().unwrap();
        assert_eq!(status(&output), 1, "{}{}", stdout(&output), stderr(&output));
        std::fs::read_to_string(out.join("report.json")).unwrap()
    };
    let first = run();
    let report: Value = serde_json::from_str(&first).unwrap();
    let crashes: Vec<_> =
        report["findings"].as_array().unwrap().iter().filter(|f| f["class"] == "crash").collect();
    assert!(!crashes.is_empty(), "{report}");
    assert!(crashes.iter().all(|f| f["validity"].is_string() && f["program"] != ""), "{report}");
    assert_eq!(first, run(), "the same seed gives the same report");
}

#[test]
fn a_crash_of_what_is_not_understood_is_reduced_as_text_below_its_header() {
    let directory = tempfile::tempdir().unwrap();
    let text = module(".global .u32 a[2] = {1, 2};\n.frob a, b;\n.global .u64 c = a;\n.entry k() { ret; }");
    let program = file(directory.path(), "a.ptx", &text);
    let subject =
        script(directory.path(), r#"grep -q frob "$1" && kill -SEGV $$; echo '{"outcome": "refused"}'"#);
    let out = directory.path().join("out");
    let mut command = ptxsmith();
    command.args(["run", "--mutate"]).arg(&program).args([
        "--cases",
        "30",
        "--subject",
        &subject,
        "-q",
        "--out",
    ]);
    let output = command.arg(&out).output().unwrap();
    assert_eq!(status(&output), 1, "{}{}", stdout(&output), stderr(&output));
    let report = std::fs::read_to_string(out.join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let unread = |finding: &&Value| finding["title"].as_str().unwrap().contains("not understood");
    let finding = findings.iter().find(unread).unwrap_or_else(|| panic!("{report}"));
    assert_eq!(finding["reduced"]["program"], module("frob").trim_end());
}
