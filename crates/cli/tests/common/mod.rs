//! What the tests of the program share.
#![allow(dead_code, reason = "every test file is a program of its own and uses a part of this")]

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// The program under test, where no release of ptxas is installed, none can be found, and none can be put, not even by
/// the superuser.
pub fn ptxsmith() -> Command {
    let mut command = Command::cargo_bin("ptxsmith").expect("the program was built with its tests");
    command.env("PTXSMITH_CACHE", "/dev/null/ptxsmith").env_remove("CUDA_HOME").env_remove("CUDA_PATH");
    command
}

/// A subject that follows the specification under some reading: the program itself, since `eval --json` prints what an
/// implementation is asked to print.
pub fn oracle_as_subject(readings: &[&str]) -> String {
    let mut subject = format!("exec:{} eval --json", assert_cmd::cargo::cargo_bin!("ptxsmith").display());
    for reading in readings {
        subject.push_str(&format!(" --reading {reading}"));
    }
    subject
}

/// Lines of a shell script that answer the first, known program, whatever the script does with others.
pub const PROBED: &str = r#"grep -q ptxsmith_probe "$1" && { echo '{"outcome": "refused"}'; exit 0; }"#;

/// A subject that answers every module with what a shell script prints, with the module's path in `$1`.
pub fn script(directory: &Path, script: &str) -> String {
    let path = directory.join("subject.sh");
    let text = format!("[ \"$1\" = --describe ] && exit 1\n{PROBED}\n{script}\n");
    std::fs::write(&path, text).expect("the directory of a test can be written");
    format!("exec:sh {}", path.display())
}

/// Whether there is a Python; says which test needs one where there is none.
pub fn python(test: &str) -> bool {
    let there = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !there {
        eprintln!("NOT TESTED: {test}: no python3");
    }
    there
}

/// A file in the directory.
pub fn file(directory: &Path, name: &str, contents: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, contents).expect("the directory of a test can be written");
    path
}

/// A module with the header that everything takes.
pub fn module(declarations: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n{declarations}\n")
}

/// The exit status.
pub fn status(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are UTF-8")
}

/// The one line of a clear error, with the exit status of bad input.
pub fn one_line_error(output: &Output) -> String {
    let text = stderr(output);
    assert_eq!(status(output), 2, "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}
