//! Helpers shared by the tests of the command line program.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// Returns the program under test in an environment without any release of ptxas. None can be found, and none
/// can be installed, not even by root.
pub fn ptxsmith() -> Command {
    let mut command = Command::cargo_bin("ptxsmith").expect("the program was built with its tests");
    command.env("PTXSMITH_CACHE", "/dev/null/ptxsmith").env_remove("CUDA_HOME").env_remove("CUDA_PATH");
    command
}

/// Creates a subject that follows the specification under some interpretations. It is ptxsmith itself,
/// because `eval
/// --json` prints the output that is expected of an implementation.
pub fn oracle_as_subject(readings: &[&str]) -> String {
    let mut subject = format!("exec:{} eval --json", assert_cmd::cargo::cargo_bin!("ptxsmith").display());
    for reading in readings {
        subject.push_str(&format!(" --interpretation {reading}"));
    }
    subject
}

/// Lines of a shell script that give the correct answer to the probe program, whatever the script does with
/// other programs.
pub const PROBED: &str = r#"grep -q ptxsmith_probe "$1" && { echo '{"outcome": "refused"}'; exit 0; }"#;

/// Creates a subject that runs a shell script for every module. `$1` is the path of the module, and the
/// output is the answer.
pub fn script(directory: &Path, script: &str) -> String {
    let path = directory.join("subject.sh");
    let text = format!("[ \"$1\" = --describe ] && exit 1\n{PROBED}\n{script}\n");
    std::fs::write(&path, text).expect("the directory of a test can be written");
    format!("exec:sh {}", path.display())
}

/// Returns true if Python is available. Otherwise reports that the test was skipped.
pub fn python(test: &str) -> bool {
    let there = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !there {
        eprintln!("NOT TESTED: {test}: no python3");
    }
    there
}

/// Writes a file in the directory and returns its path.
pub fn file(directory: &Path, name: &str, contents: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, contents).expect("the directory of a test can be written");
    path
}

/// Returns a module with a header that every implementation accepts.
pub fn module(declarations: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n{declarations}\n")
}

pub fn status(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are UTF-8")
}

/// Asserts that a command failed with the status of bad input and a clear error of one line, and returns the
/// line.
pub fn one_line_error(output: &Output) -> String {
    let text = stderr(output);
    assert_eq!(status(output), 2, "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}
