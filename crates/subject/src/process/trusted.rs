//! Programs that are not under test and that we trust: pip, apt, dpkg, a compiler asked for its version.
//!
//! They only get a time limit. Programs under test, and programs that may hang, crash or exhaust memory on
//! some input, run under [`run`](super::run) instead.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::time::{Duration, Instant};

use duct::Expression;
use rustix::fs::{MemfdFlags, memfd_create};

use super::{Cancel, Captured, Finished, ProcessEnd, ProcessError};

/// Interval at which the time limit and the cancel flag are checked.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a program to its end in a directory, which also receives its temporary files. The program is killed at
/// the time limit and on cancellation; its own children are not.
///
/// # Errors
/// If it cannot be run, or was cancelled.
pub fn run_trusted(
    program: &Path,
    args: &[impl AsRef<OsStr>],
    directory: &Path,
    limit: Duration,
    cancel: &Cancel,
) -> Result<Finished, ProcessError> {
    if cancel.is_cancelled() {
        return Err(ProcessError::Cancelled(program.to_owned()));
    }
    // Use files: a grandchild could keep a pipe open, and reading would wait for it. Use memory: what a
    // program says about a full disk must arrive.
    let output = || output_file().map_err(machine(program, "keep what it prints"));
    let (stdout, stderr) = (output()?, output()?);
    let for_child = |file: &File| file.try_clone().map_err(machine(program, "keep what it prints"));
    let started = Instant::now();
    let args = args.iter().map(|arg| arg.as_ref().to_owned());
    let command: Expression = duct::cmd(program.as_os_str(), args)
        .dir(directory)
        .env("TMPDIR", directory)
        .stdin_null()
        .stdout_file(for_child(&stdout)?)
        .stderr_file(for_child(&stderr)?)
        .unchecked();
    let child = command.start().map_err(machine(program, "start it"))?;
    let end = loop {
        if let Some(output) = child.wait_timeout(LOOK).map_err(machine(program, "wait for it"))? {
            break process_end(output.status);
        }
        let late = started.elapsed() > limit;
        if late || cancel.is_cancelled() {
            child.kill().map_err(machine(program, "end it"))?;
            child.wait().map_err(machine(program, "wait for it"))?;
            if !late {
                return Err(ProcessError::Cancelled(program.to_owned()));
            }
            break ProcessEnd::TimedOut;
        }
    };
    let stdout = read_output(stdout).map_err(machine(program, "read what it printed"))?;
    let stderr = read_output(stderr).map_err(machine(program, "read what it printed"))?;
    Ok(Finished { end, stdout, stderr, wall: started.elapsed() })
}

/// Explains why an operation on a program failed.
fn machine(program: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> ProcessError {
    let program = program.to_owned();
    move |source| match source.kind() {
        io::ErrorKind::NotFound => ProcessError::NotFound(program),
        io::ErrorKind::PermissionDenied => ProcessError::NotExecutable(program),
        _ => ProcessError::Machine { program, doing, source },
    }
}

/// Creates a file in memory for the output of a program.
fn output_file() -> io::Result<File> {
    Ok(File::from(memfd_create("ptxsmith-output", MemfdFlags::CLOEXEC)?))
}

fn read_output(mut file: File) -> io::Result<Captured> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(Captured { bytes, dropped: 0 })
}

fn process_end(status: std::process::ExitStatus) -> ProcessEnd {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => ProcessEnd::Exited(code),
        (None, signal) => ProcessEnd::Signalled(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration, cancel: &Cancel) -> Result<Finished, ProcessError> {
        let directory = tempfile::tempdir().unwrap();
        run_trusted(Path::new("sh"), &["-c", script], directory.path(), limit, cancel)
    }

    #[test]
    fn what_a_program_prints_and_its_status_are_kept() {
        let finished =
            sh("echo out; echo $TMPDIR >&2; pwd >&2; exit 3", Duration::from_secs(60), &Cancel::new())
                .unwrap();
        assert_eq!((finished.end, &*finished.stdout.text()), (ProcessEnd::Exited(3), "out\n"));
        let lines: Vec<String> = finished.stderr.text().lines().map(str::to_owned).collect();
        assert_eq!(lines[0], lines[1]);
    }

    #[test]
    fn what_a_program_prints_arrives_where_no_file_can_be_written() {
        let directory = Path::new("/proc");
        let limit = Duration::from_secs(60);
        let finished = run_trusted(
            Path::new("sh"),
            &["-c", "touch file || echo full >&2"],
            directory,
            limit,
            &Cancel::new(),
        );
        assert!(finished.unwrap().stderr.text().ends_with("full\n"));
    }

    #[test]
    fn a_program_is_killed_at_the_limit_though_a_grandchild_lives() {
        let finished = sh("sleep 60 & sleep 60", Duration::from_millis(100), &Cancel::new()).unwrap();
        assert_eq!(finished.end, ProcessEnd::TimedOut);
        assert!(finished.wall < Duration::from_secs(30), "{:?}", finished.wall);
    }

    #[test]
    fn a_program_that_is_cancelled_or_not_there_is_an_error() {
        let cancel = Cancel::new();
        let late = cancel.clone();
        let stop = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            late.cancel();
        });
        assert!(matches!(sh("sleep 60", Duration::from_secs(60), &cancel), Err(ProcessError::Cancelled(_))));
        stop.join().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let missing = run_trusted(
            Path::new("/nonexistent/program"),
            &["x"],
            directory.path(),
            Duration::from_secs(1),
            &Cancel::new(),
        );
        assert!(matches!(missing, Err(ProcessError::NotFound(_))), "{missing:?}");
    }
}
