//! A program that does not follow the protocol is detected with the first, known program. The error comes
//! soon, and shows what was sent, received and expected.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::*;

/// Creates a Python program that answers each request with `told`. In it, `id` is the number of the request
/// and `value` the value in the probe program.
fn served(directory: &Path, told: &str) -> String {
    let script = format!(
        "import json, sys, time\n\
         if sys.argv[-1] == '--describe': sys.exit(1)\n\
         value = dict(space='global', size=4, bytes='01020304', addresses=[])\n\
         def say(id, **observation): print(json.dumps(dict(id=id, observation=observation)), flush=True)\n\
         for line in sys.stdin:\n    id = json.loads(line)['id']\n    {told}\n"
    );
    format!("serve:python3 {}", file(directory, "subject.py", &script).display())
}

/// Long enough for a busy machine, and much shorter than a campaign in which every case times out.
const SOON: Duration = Duration::from_secs(30);

/// Runs a command that must soon end with status 3. Returns its messages.
fn refused(directory: &Path, arguments: &[&str], subject: &str) -> String {
    let program = file(directory, "program.ptx", &module(".global .u8 a = 1;"));
    let mut command = ptxsmith();
    command
        .current_dir(directory)
        .args(arguments)
        .args(["--subject", subject])
        .env_remove("PYTHONUNBUFFERED");
    if arguments != ["run"] {
        command.arg(program);
    }
    let began = Instant::now();
    let output = command.output().unwrap();
    let said = stderr(&output);
    assert_eq!(status(&output), 3, "{arguments:?} {subject}: {said}{}", stdout(&output));
    assert!(began.elapsed() < SOON, "{arguments:?} {subject}: {:?}", began.elapsed());
    said
}

/// Returns true if the message has its three parts and none is empty.
fn is_whole(said: &str) -> bool {
    ["\n  sent: ", "\n  received: ", "\n  expected: "].iter().all(|part| {
        said.split_once(part)
            .is_some_and(|(_, rest)| !rest.lines().next().unwrap_or_default().trim().is_empty())
    })
}

#[test]
fn one_that_answers_as_no_implementation_does_ends_each_command_soon() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let answers = |answer: &str| {
        let script = format!("[ \"$1\" = --describe ] && exit 1\necho '{answer}'\n");
        let name = format!("subject-{}.sh", std::fs::read_dir(at).unwrap().count());
        format!("exec:sh {}", file(at, &name, &script).display())
    };
    let no_file = at.join("none.sh").display().to_string();
    for (subject, reason) in [
        (format!("exec:sh {no_file}"), "exit status "),
        (format!("serve:sh {no_file}"), "it ended with exit status "),
        ("exec:true".to_owned(), "its output is no observation: EOF"),
        (answers("hello"), "its output is no observation: expected value"),
        (answers(r#"{"outcome": "fine"}"#), "unknown variant `fine`"),
        (answers(r#"{"result": "accepted"}"#), "missing field `outcome`"),
        (answers(r#"{"outcome": "accepted", "vars": {}}"#), "it has `vars`"),
        (
            answers(
                r#"{"outcome": "accepted", "variables": {"_Z5probe": {"size": 4, "bytes": "01020304"}}}"#,
            ),
            "its variables are `_Z5probe`, and the program declares `ptxsmith_probe`",
        ),
        (
            answers(
                r#"{"outcome": "accepted", "variables": {"ptxsmith_probe": {"size": 4, "bytes": "0x01020304"}}}"#,
            ),
            "its output is no observation: ",
        ),
        (
            answers(
                r#"{"outcome": "accepted", "variables": {"ptxsmith_probe": {"size": 4, "value": "01020304"}}}"#,
            ),
            "the variable has `value`",
        ),
        (
            answers(r#"{"outcome": "accepted", "variables": {"ptxsmith_probe": {"bytes": "04030201"}}}"#),
            "its bytes are in reverse order",
        ),
        (answers(r#"{"outcome": "Accepted"}"#), "unknown variant `Accepted`"),
        (answers(r#"{"outcome": "accepted", "variables": []}"#), "its output is no observation: "),
        (
            answers(r#"{"outcome": "accepted", "variables": {"ptxsmith_probe": {"bytes": [1, 2, 3, 4]}}}"#),
            "its output is no observation: ",
        ),
        (answers("{\"outcome\": \"refused\"}' >&2 #"), "its output is no observation: EOF"),
        (answers("done\n{\"outcome\": \"refused\"}"), "its output is no observation: "),
        ("exec:sleep 1000 {ptx}".to_owned(), "exit status"),
    ] {
        let said = refused(at, &["run"], &subject);
        assert!(said.contains(reason) && is_whole(&said), "{subject}: {said}");
        assert!(
            said.contains("ptxsmith_probe") && said.contains(subject.split(' ').next().unwrap()),
            "{said}"
        );
        for command in ["check", "reduce"] {
            assert!(refused(at, &[command], &subject).contains(reason), "{command} {subject}");
        }
        assert!(!at.join("ptxsmith-out").exists(), "a campaign began");
    }
}

#[test]
fn one_that_serves_without_an_answer_is_told_what_may_be_wrong() {
    if !python("programs that serve") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for (told, reason) in [
        ("time.sleep(1000)", "is the output flushed?"),
        ("print(json.dumps(dict(id=id, observation=dict(outcome='refused'))))", "is the output flushed?"),
        ("print('{\"id\": ', end='', flush=True); time.sleep(1000)", "is the output flushed?"),
        ("say(id + 1, outcome='refused')", "its id is not that of the request"),
        // It is one answer late.
        ("say(id - 1, outcome='refused')", "its id is not that of the request"),
        ("print('ready', flush=True); say(id, outcome='refused')", "expected value"),
        ("sys.exit()", "it ended with exit status 0"),
        ("print(json.dumps(dict(outcome='refused')), flush=True)", "missing field `id`"),
        ("say(id, outcome='accepted', variables={'a': value})", "its variables are `a`"),
        (
            "value['bytes'] = '0x01020304'; say(id, outcome='accepted', variables=dict(ptxsmith_probe=value))",
            "no answer",
        ),
        ("say(id, outcome='unavailable', reason='no device')", "no device"),
    ] {
        let said = refused(directory.path(), &["run"], &served(directory.path(), told));
        assert!(said.contains(reason) && is_whole(&said), "{told}: {said}");
        // The request is shown on one line, as it was sent.
        assert!(said.contains("\n  sent:     {\"id\":1,\"ptx\":\".version "), "{said}");
    }
}

/// The probe tests only the protocol: limitations and deviations of an implementation pass it.
#[test]
fn one_that_refuses_parses_or_is_wrong_is_judged() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let program = file(at, "program.ptx", &module(".global .u8 a = 1;"));
    for (answer, expected) in [
        (r#"{"outcome": "refused"}"#, 3),
        (r#"{"outcome": "unsupported"}"#, 3),
        (r#"{"outcome": "accepted"}"#, 0),
        (r#"{"outcome": "accepted", "variables": {}, "seconds": 1}"#, 0),
    ] {
        let script = format!("[ \"$1\" = --describe ] && exit 1\necho '{answer}'\n");
        let subject = format!("exec:sh {}", file(at, "subject.sh", &script).display());
        let output = ptxsmith().args(["check", "--subject", &subject]).arg(&program).output().unwrap();
        assert_eq!(status(&output), expected, "{answer}: {}{}", stdout(&output), stderr(&output));
        assert!(!stderr(&output).contains("first program"), "{}", stderr(&output));
    }
}

/// A program may start slowly if the user allows it.
#[test]
fn one_that_is_slow_to_start_is_waited_for_as_long_as_the_user_says() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let program = file(at, "program.ptx", &module(".global .u8 a = 1;"));
    let script = "[ \"$1\" = --describe ] && exit 1\nsleep 3; echo '{\"outcome\": \"unsupported\"}'\n";
    let subject = format!("exec:sh {}", file(at, "subject.sh", script).display());
    let check = |more: &[&str]| {
        let mut command = ptxsmith();
        stderr(&command.args(["check", "--subject", &subject]).args(more).arg(&program).output().unwrap())
    };
    assert!(check(&[]).contains("no end after 2s"), "{}", check(&[]));
    let said = check(&["--timeout", "60s"]);
    assert!(!said.contains("first program"), "{said}");
}
