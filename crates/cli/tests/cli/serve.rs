//! Long-lived subjects: the documented examples, hostile ones, and the library that runs in such a process.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::common::*;
use serde_json::Value;

/// Creates a Python subject that answers each request with the result of `answer(question)`, a dictionary or
/// a string. It rejects the probe program.
fn served(directory: &Path, describe: &str, answer: &str) -> String {
    let script = format!(
        "import json, os, signal, sys, time\n\
         def observation(outcome, **more):\n    \
             return dict(schema='ptxsmith.module/1', outcome=outcome, variables={{}}, **more)\n\
         {answer}\n\
         if sys.argv[-1] == '--describe':\n    print(json.dumps({describe})); sys.exit()\n\
         for line in sys.stdin:\n    q = json.loads(line)\n    \
         told = observation('refused') if 'ptxsmith_probe' in q['ptx'] else answer(q)\n    \
         print(told if isinstance(told, str) else json.dumps(dict(id=q['id'], observation=told)), flush=True)\n"
    );
    format!("serve:python3 {}", file(directory, "subject.py", &script).display())
}

fn report(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap()
}

fn check(subject: &str, what: &Path, out: &Path, timeout: &str) -> Output {
    let mut command = ptxsmith();
    command.args(["check", "--quiet", "--jobs", "2", "--timeout", timeout, "--subject", subject, "--out"]);
    command.arg(out).arg(what).output().unwrap()
}

#[test]
fn a_named_implementation_is_asked_the_smallest_program() {
    let directory = tempfile::tempdir().unwrap();
    let takes = file(directory.path(), "takes.sh", "echo '{\"outcome\": \"accepted\"}'");
    let takes = format!("exec:sh {} {{ptx}}", takes.display());
    let mut command = ptxsmith();
    command.args([
        "subjects",
        "--json",
        "--subject",
        "exec:false",
        "--subject",
        &takes,
        "--subject",
        "serve:false",
    ]);
    let output = command.output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let answers: Vec<_> = listed["subjects"].as_array().unwrap().iter().map(|one| &one["answer"]).collect();
    assert_eq!(answers, ["crashed", "accepted", "crashed"]);
    let words = ptxsmith().args(["subjects", "--subject", "exec:false"]).output().unwrap();
    assert!(stdout(&words).contains("the smallest program: died: exit status 1"), "{}", stdout(&words));
}

#[test]
fn the_example_in_python_conforms_through_both_entry_points() {
    if !python("the example in Python") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/toy_subject.py");
    let text = module(
        ".visible .global .u32 a = 5;\n.const .align 8 .s16 b[4] = {-1, 0x10, 017};\n.global .u8 c[] = {0b11, 2};",
    );
    let module = file(directory.path(), "module.ptx", &text);
    for entry_point in ["exec", "serve"] {
        let out = directory.path().join(entry_point);
        let subject = format!("{entry_point}:python3 {}", example.display());
        let output = check(&subject, &module, &out, "60s");
        assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
        let report = report(&out);
        assert_eq!(report["compared"], 3, "{report}");
        assert_eq!(report["conform"], 3);
        assert_eq!(report["subjects"][0]["lineage"], "toy");
    }
}

#[test]
fn a_generated_module_has_a_version_and_a_target_that_the_subject_describes() {
    if !python("descriptions") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let describe = "{'schema': 'ptxsmith.subject/1', 'name': 'old', 'max_ptx': '6.3', 'targets': ['sm_90']}";
    let answer = "def answer(q):\n    \
        lines = q['ptx'].split('\\n')\n    \
        fits = lines[0] == '.version 6.3' and lines[1] == '.target sm_90' and q['target'] == 'sm_90'\n    \
        return observation('unsupported', reason='fits') if fits else os._exit(1)";
    let subject = served(directory.path(), describe, answer);
    let out = directory.path().join("out");
    let output = ptxsmith()
        .args(["run", "--quiet", "--cases", "200", "--focus", "expressions", "--subject", &subject, "--out"])
        .arg(&out)
        .output()
        .unwrap();
    let report = report(&out);
    assert_eq!(status(&output), 3, "nothing is compared, and nothing died: {report}");
    assert!(report["not_compared"]["unsupported"].as_u64().unwrap() > 100, "{report}");
}

#[test]
fn a_hostile_subject_ends_the_run_with_the_right_verdict_for_each_module() {
    if !python("hostile subjects") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let modules = directory.path().join("modules");
    std::fs::create_dir(&modules).unwrap();
    let behaviours = ["fine", "garbage", "half", "huge", "nothing", "wrong_id", "dies", "late", "fine_again"];
    for behaviour in behaviours {
        file(&modules, &format!("{behaviour}.ptx"), &module(&format!(".global .u8 {behaviour} = 1;")));
    }
    let answer = "def answer(q):\n    \
        name = q['ptx'].split('.u8 ')[1].split(' ')[0]\n    \
        held = dict(space='global', size=1, align=None, bytes='01', addresses=[])\n    \
        good = dict(observation('accepted'), variables={name: held})\n    \
        if name == 'garbage': return 'garbage'\n    \
        if name == 'half': sys.stdout.write('{\"id\": '); sys.stdout.flush(); os._exit(0)\n    \
        if name == 'huge':\n        \
            while True: sys.stdout.write('x' * (1 << 20))\n    \
        if name == 'nothing': time.sleep(1000)\n    \
        if name == 'wrong_id': return json.dumps(dict(id=q['id'] + 1000, observation=good))\n    \
        if name == 'dies': os.kill(os.getpid(), signal.SIGFPE)\n    \
        if name == 'late': print(json.dumps(dict(id=q['id'], observation=good)), flush=True); return 'a late word'\n    \
        return good";
    let subject = served(directory.path(), "{}", answer);
    let (out, started) = (directory.path().join("out"), Instant::now());
    let output = check(&subject, &modules, &out, "8s");
    assert!(started.elapsed() < Duration::from_secs(240), "{:?}", started.elapsed());
    assert_eq!(status(&output), 1, "{}{}", stdout(&output), stderr(&output));
    let report = report(&out);
    let mut verdicts: Vec<(String, String)> = Vec::new();
    for finding in report["findings"].as_array().unwrap() {
        let (class, program) = (finding["class"].as_str().unwrap(), finding["program"].as_str().unwrap());
        for behaviour in behaviours {
            if program.contains(&format!(".u8 {behaviour} ")) {
                verdicts.push((behaviour.to_owned(), class.to_owned()));
            }
        }
    }
    // Similar findings are shown once, so not every crash is named.
    assert!(
        verdicts.iter().all(|(behaviour, _)| !behaviour.starts_with("fine") && behaviour != "late"),
        "{verdicts:?}"
    );
    assert!(verdicts.contains(&("dies".into(), "crash".into())), "{verdicts:?}");
    // On a slow machine 2 GB take longer than the time limit.
    let hangs = |behaviour: &str| behaviour == "nothing" || behaviour == "huge";
    assert!(verdicts.iter().any(|(behaviour, class)| hangs(behaviour) && class == "hang"), "{verdicts:?}");
    assert!(verdicts.iter().all(|(behaviour, class)| class == "crash" || hangs(behaviour)), "{verdicts:?}");
    let died: u64 =
        report["findings"].as_array().unwrap().iter().map(|finding| finding["count"].as_u64().unwrap()).sum();
    assert_eq!(died, 6, "garbage, half, huge, nothing, wrong_id and dies: {report}");
    assert_eq!(report["conform"], 3, "{report}");
}

#[test]
fn a_program_that_is_not_there_is_bad_input() {
    let directory = tempfile::tempdir().unwrap();
    let file = file(directory.path(), "a.ptx", &module(".global .u8 a;"));
    let message = one_line_error(&check("serve:/nonexistent/tool", &file, directory.path(), "10s"));
    assert!(message.contains("/nonexistent/tool"), "{message}");
}

/// Returns the program under test, with the releases installed on this machine.
fn with_releases() -> assert_cmd::Command {
    assert_cmd::Command::cargo_bin("ptxsmith").expect("the program was built with its tests")
}

/// Returns true if a release of the library is installed.
fn nvjitlink(test: &str) -> bool {
    let output =
        with_releases().args(["subjects", "--subject", "nvjitlink@13.5", "--json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let there = json["subjects"][0]["available"] == true;
    if !there {
        eprintln!("NOT TESTED: {test}: {}", json["subjects"][0]["reason"]);
    }
    there
}

#[test]
fn the_library_holds_what_the_specification_says_and_survives_a_module_that_kills_it() {
    if !nvjitlink("nvJitLink in its worker") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let modules = directory.path().join("modules");
    std::fs::create_dir(&modules).unwrap();
    file(&modules, "a.ptx", &module(".visible .global .u32 a[3] = {1, 2};\n.global .u64 p = a+4;"));
    file(&modules, "b.ptx", &module(".global .s64 b = (.s64)0x8000000000000000 / -1;"));
    file(&modules, "c.ptx", &module(".visible .global .s16 c = -2;"));
    file(&modules, "d.ptx", &module(".global .u32 d = 1 / 0;"));
    let out = directory.path().join("out");
    let output = with_releases()
        .args(["check", "--quiet", "--jobs", "1", "--subject", "nvjitlink@13.5", "--out"])
        .args([&out, &modules])
        .output()
        .unwrap();
    let report = report(&out);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report}");
    assert_eq!(findings[0]["class"], "crash");
    assert_eq!(findings[0]["observed"]["signal"], 8);
    assert!(report["conform"].as_u64().unwrap() >= 3, "{report} {}", stderr(&output));
    assert_eq!(report["subjects"][0]["lineage"], "nvidia");
}
