//! Programs that are not under test and that we trust: pip, apt, dpkg, a compiler asked for its version.
//!
//! They only get a time limit. Programs under test, and programs that may hang, crash or exhaust memory on some input,
//! run under [`run`](super::run) instead.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use duct::Expression;

use super::{Cancel, Captured, End, Error, Finished};

/// Interval at which the time limit and the cancel flag are checked.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a program to its end in a directory, which also receives its temporary files and its output. The program is
/// killed at the time limit and on cancellation; its own children are not.
///
/// # Errors
/// If it cannot be run, or was cancelled.
pub fn run_trusted(
    program: &Path,
    args: &[impl AsRef<OsStr>],
    directory: &Path,
    limit: Duration,
    cancel: &Cancel,
) -> Result<Finished, Error> {
    let machine = |doing| {
        move |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => Error::NotFound(program.to_owned()),
            io::ErrorKind::PermissionDenied => Error::NotExecutable(program.to_owned()),
            _ => Error::Machine { program: program.to_owned(), doing, source },
        }
    };
    if cancel.is_cancelled() {
        return Err(Error::Cancelled(program.to_owned()));
    }
    // Use files: a grandchild could keep a pipe open, and reading would wait for it.
    let [stdout, stderr] = ["stdout.txt", "stderr.txt"].map(|name| directory.join(name));
    let started = Instant::now();
    let args = args.iter().map(|arg| arg.as_ref().to_owned());
    let command: Expression = duct::cmd(program.as_os_str(), args)
        .dir(directory)
        .env("TMPDIR", directory)
        .stdin_null()
        .stdout_path(&stdout)
        .stderr_path(&stderr)
        .unchecked();
    let child = command.start().map_err(machine("start it"))?;
    let end = loop {
        if let Some(output) = child.wait_timeout(LOOK).map_err(machine("wait for it"))? {
            break end_of(output.status);
        }
        let late = started.elapsed() > limit;
        if late || cancel.is_cancelled() {
            child.kill().map_err(machine("end it"))?;
            child.wait().map_err(machine("wait for it"))?;
            if !late {
                return Err(Error::Cancelled(program.to_owned()));
            }
            break End::TimedOut;
        }
    };
    let read = |path: &Path| {
        let bytes = std::fs::read(path).map_err(machine("read what it printed"))?;
        std::fs::remove_file(path).map_err(machine("read what it printed"))?;
        Ok(Captured { bytes, dropped: 0 })
    };
    Ok(Finished { end, stdout: read(&stdout)?, stderr: read(&stderr)?, wall: started.elapsed() })
}

fn end_of(status: std::process::ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration, cancel: &Cancel) -> Result<Finished, Error> {
        let directory = tempfile::tempdir().unwrap();
        run_trusted(Path::new("sh"), &["-c", script], directory.path(), limit, cancel)
    }

    #[test]
    fn what_a_program_prints_and_its_status_are_kept() {
        let finished =
            sh("echo out; echo $TMPDIR >&2; pwd >&2; exit 3", Duration::from_secs(60), &Cancel::new())
                .unwrap();
        assert_eq!((finished.end, &*finished.stdout.text()), (End::Exited(3), "out\n"));
        let lines: Vec<String> = finished.stderr.text().lines().map(str::to_owned).collect();
        assert_eq!(lines[0], lines[1]);
    }

    #[test]
    fn a_program_is_killed_at_the_limit_though_a_grandchild_lives() {
        let finished = sh("sleep 60 & sleep 60", Duration::from_millis(100), &Cancel::new()).unwrap();
        assert_eq!(finished.end, End::TimedOut);
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
        assert!(matches!(sh("sleep 60", Duration::from_secs(60), &cancel), Err(Error::Cancelled(_))));
        stop.join().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let missing = run_trusted(
            Path::new("/nonexistent/program"),
            &["x"],
            directory.path(),
            Duration::from_secs(1),
            &Cancel::new(),
        );
        assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    }
}
