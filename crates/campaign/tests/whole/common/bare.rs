//! Processes in which no tool is installed, whatever the machine has: what would install one does not.

use std::io::Write;
use std::process::{Command, Stdio};

/// Where no tool is found and none can be installed.
const NOWHERE: &str = "/dev/null/ptxsmith";

/// Whether this is such a process. Else one is started, which runs this test, by its full name, and is given
/// this input. It finds no programs by name either.
pub fn is_bare(test: &str, input: &str) -> bool {
    is_without_tools(test, input, Some(""))
}

/// The same, where programs are found in these directories, or as here.
pub fn is_without_tools(test: &str, input: &str, path: Option<&str>) -> bool {
    if std::env::var_os("PTXSMITH_CACHE").is_some_and(|cache| cache == NOWHERE) {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact"]).env("PTXSMITH_CACHE", NOWHERE).envs(path.map(|path| ("PATH", path)));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    // A name that no test has would run none.
    assert!(output.status.success() && said.contains("1 passed"), "{test}: {said}");
    false
}
