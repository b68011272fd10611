//! `--time` limits a whole command, whatever the implementation does. Finished work is saved, and missing
//! work is reported.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::common::*;
use serde_json::Value;

/// The time limit of the commands in these tests.
const TIME: Duration = Duration::from_secs(4);
/// Additional time that a busy machine may need to start and end programs and to write the result.
const SLACK: Duration = Duration::from_secs(4);

/// Creates a long-lived Python subject that follows the specification, except for what `instead` does with
/// the request `q`, which is number `count`. `right()` returns the correct answer.
fn served(directory: &Path, instead: &str) -> String {
    let ptxsmith = assert_cmd::cargo::cargo_bin!("ptxsmith").display().to_string();
    let script = format!(
        "import json, os, signal, subprocess, sys, time\n\
         if sys.argv[-1] == '--describe': sys.exit(1)\n\
         count = 0\n\
         def right():\n    \
             command = ['{ptxsmith}', 'eval', '--json', '-']\n    \
             return json.loads(subprocess.run(command, input=q['ptx'], capture_output=True, text=True).stdout)\n\
         def say(observation): print(json.dumps(dict(id=q['id'], observation=observation)), flush=True)\n\
         for line in sys.stdin:\n    q = json.loads(line)\n    \
             if 'ptxsmith_probe' in q['ptx']: say(dict(outcome='refused')); continue\n    \
             count += 1\n    {instead}\n"
    );
    format!("serve:python3 {}", file(directory, "subject.py", &script).display())
}

/// Runs a command with this time limit, which it must keep. Returns its output.
fn within_time(directory: &Path, arguments: &[&str], subject: &str) -> Output {
    let mut command = ptxsmith();
    command.current_dir(directory).args(arguments).args(["--time", "4s", "--subject", subject]);
    let began = Instant::now();
    let output = command.output().unwrap();
    let took = began.elapsed();
    assert!(took < TIME + SLACK, "{arguments:?} {subject}: {took:?}: {}", stderr(&output));
    output
}

const SILENT: &str = "time.sleep(1000)";

#[test]
fn a_campaign_with_one_that_never_answers_ends_in_time_and_says_that_nothing_was_compared() {
    if !python("programs that never answer") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let deaf =
        "[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGINT)]; time.sleep(1000)";
    for (name, focus, instead) in [
        ("silent", "mixed", SILENT),
        ("silent", "operands", SILENT),
        ("silent", "places", SILENT),
        ("deaf", "mixed", deaf),
        ("busy", "operands", "while True: pass"),
        ("talkative", "places", "while True: sys.stdout.write('x' * 1000)"),
    ] {
        let subject = served(at, instead);
        let output =
            within_time(at, &["run", "--focus", focus, "--out", &format!("{name}-{focus}")], &subject);
        let said = stderr(&output);
        assert_eq!(status(&output), 3, "{name} {focus}: {said}{}", stdout(&output));
        assert!(said.contains("--time was over"), "{name} {focus}: {said}");
    }
}

#[test]
fn what_was_done_before_an_implementation_falls_silent_is_saved_and_goes_on_later() {
    if !python("programs that fall silent") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let flag = at.join("awake");
    let script = format!("say(right()) if count < 60 or os.path.exists('{}') else {SILENT}", flag.display());
    let subject = served(at, &script);
    let arguments = ["run", "--focus", "expressions", "--jobs", "1", "--out", "out"];
    let output = within_time(at, &arguments, &subject);
    assert!([0, 3].contains(&status(&output)), "{}{}", stdout(&output), stderr(&output));
    let compared = || {
        let report: Value =
            serde_json::from_slice(&std::fs::read(at.join("out/report.json")).unwrap()).unwrap();
        report["compared"].as_u64().unwrap()
    };
    let before = compared();
    std::fs::write(flag, "").unwrap();
    let mut command = ptxsmith();
    command.current_dir(at).args(["run", "--resume", "--out", "out", "--time", "8s"]);
    let output = command.output().unwrap();
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert!(compared() > before, "{before}");
}

#[test]
fn one_that_falls_silent_when_its_findings_are_shown_again_does_not_hold_up_the_end() {
    if !python("programs that fall silent") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // Wrong about each variable while cases are compared; no answers after half of the time.
    let script = "o = right(); \
                  [v.update(bytes=v['bytes'].replace('1', '2')) for v in o.get('variables', {}).values() if v.get('bytes')]; \
                  say(o) if time.time() < began + 2.2 else time.sleep(1000)";
    let script = format!("began = globals().setdefault('began', time.time()); {script}");
    let subject = served(at, &script);
    let arguments = ["run", "--focus", "initializers", "--jobs", "1", "--out", "out"];
    let output = within_time(at, &arguments, &subject);
    assert!([1, 3].contains(&status(&output)), "{}{}", stdout(&output), stderr(&output));
    assert!(at.join("out/report.json").exists());
}

#[test]
fn files_that_there_was_no_time_for_are_told() {
    if !python("programs that never answer") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for (name, variable) in [("a.ptx", "told"), ("b.ptx", "silent"), ("c.ptx", "told")] {
        file(at, name, &module(&format!(".global .u8 {variable} = 1;")));
    }
    let subject = served(at, &format!("{SILENT} if 'silent' in q['ptx'] else say(right())"));
    let output = within_time(at, &["check", "a.ptx", "b.ptx", "c.ptx", "--jobs", "1"], &subject);
    let said = stderr(&output);
    assert!(said.contains("--time was over; not all files are in the result"), "{said}{}", stdout(&output));
}

#[test]
fn reducing_ends_in_time_with_the_smallest_program_so_far() {
    if !python("programs that never answer") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let program = ".global .u8 x = 7;\n.global .u8 a[4] = {1, 2, 3, 4};\n.global .u8 y = 9;";
    file(at, "a.ptx", &module(program));
    let wrong = "o = right(); [v.update(bytes='02' + v['bytes'][2:]) for v in o.get('variables', {}).values()]; \
                 say(o) if count < 12 else time.sleep(1000)";
    let output =
        within_time(at, &["reduce", "a.ptx", "--out", "least.ptx", "--jobs", "1"], &served(at, wrong));
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert!(stderr(&output).contains("stopped before the end"), "{}", stderr(&output));
    // If not even the first request was answered, there is no result.
    let output = within_time(at, &["reduce", "a.ptx", "--out", "none.ptx"], &served(at, SILENT));
    assert_eq!(status(&output), 3, "{}{}", stdout(&output), stderr(&output));
    assert!(stderr(&output).contains("--time was over"), "{}", stderr(&output));
}
