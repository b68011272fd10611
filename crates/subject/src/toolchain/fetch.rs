//! Common parts of fetching with pip and with apt: running them, and their errors.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;

use crate::process::{self, Cancel, Finished, ProcessEnd};

/// Why a release could not be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The wheels are for another platform.
    #[error(
        "NVIDIA's wheels are used for Linux on x86-64 only: elsewhere name a ptxas by its path, `ptxas:/path`"
    )]
    Platform,
    /// Python is missing.
    #[error("python3 is needed to install a release, and there is none in PATH")]
    NoPython,
    /// Python has no pip.
    #[error("python3 -m pip is needed to install a release, and does not run: {0}")]
    NoPip(String),
    /// pip failed.
    #[error(
        "pip cannot install {wheel}: {reason}; \
         without it, name a ptxas by its path (ptxas:/PATH) or set CUDA_HOME"
    )]
    Pip {
        /// Package and version.
        wheel: String,
        /// Last error line of pip.
        reason: String,
    },
    /// apt failed.
    #[error("apt cannot fetch {package} from Debian {suite}: {reason}")]
    Apt {
        /// Package and version.
        package: String,
        /// The Debian release.
        suite: &'static str,
        /// Last error line of apt.
        reason: String,
    },
    /// The wheel was installed, but its contents are not as expected.
    #[error("{wheel} is not as expected: {reason}")]
    Unexpected {
        /// Package and version.
        wheel: String,
        /// The difference from the expected contents.
        reason: String,
    },
    /// The installed file differs from the file that was installed.
    #[error(transparent)]
    Damaged(#[from] super::Damaged),
    /// A program could not be run, or the installation was cancelled.
    #[error(transparent)]
    Process(#[from] process::ProcessError),
    /// The directory of releases cannot be written.
    #[error("{}: {reason}", .path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
}

impl InstallError {
    pub(super) fn file(path: &Path) -> impl Fn(io::Error) -> InstallError {
        let path = path.to_owned();
        move |reason| InstallError::File { path: path.clone(), reason }
    }
}

/// Runs pip or apt in a private directory, which also receives their temporary files. Returns their last
/// error if they fail, exceed [`LIMIT`], or write a file of more than [`LARGEST`] bytes: a broken mirror may
/// send without end.
pub(super) fn run(
    program: &Path,
    args: &[&str],
    work: &Path,
    cancel: &Cancel,
) -> Result<Result<(), String>, InstallError> {
    let program = program.to_string_lossy();
    let blocks = (LARGEST / 512).to_string();
    let unset =
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(|name| is_ignored(name));
    let unset: Vec<String> = unset.map(|name| format!("--unset={name}")).collect();
    let mut shell = vec!["-c", "ulimit -f \"$0\"; exec env \"$@\"", &*blocks];
    shell.extend(unset.iter().map(String::as_str));
    shell.push(&program);
    let args = [&shell, args].concat();
    let finished = process::run_trusted(Path::new("/bin/sh"), &args, work, LIMIT, cancel)?;
    Ok(match finished.end {
        ProcessEnd::Exited(0) => Ok(()),
        _ => Err(last_error(&finished)),
    })
}

/// The settings of pip that say where packages come from. They are kept.
const KEPT: [&str; 13] = [
    "PIP_CACHE_DIR",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_NO_CACHE_DIR",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_RETRIES",
    "PIP_TIMEOUT",
    "PIP_TRUSTED_HOST",
];

/// Returns true for variables that change what pip does, other than from where.
fn is_ignored(variable: &str) -> bool {
    variable.starts_with("PIP_") && !KEPT.contains(&variable)
}

const LIMIT: Duration = Duration::from_secs(900);
/// Ten times the largest file of a package.
const LARGEST: u64 = 2 << 30;

/// Extracts the cause of a broken connection from a line in which pip prints its internal objects.
fn cause(line: &str) -> &str {
    let behind = line.rsplit_once("object at 0x").and_then(|(_, rest)| rest.split_once(": "));
    behind.map_or(line, |(_, cause)| cause.split("')").next().unwrap_or(cause))
}

/// Returns the last error line of pip or apt, or their last line.
fn last_error(finished: &Finished) -> String {
    if finished.end == ProcessEnd::TimedOut {
        return format!("no end after {:?}", LIMIT);
    }
    if finished.end == ProcessEnd::Signalled(Signal::XFSZ.as_raw()) {
        return format!("it wrote a file of more than {LARGEST} bytes");
    }
    let text = finished.stderr.text();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // If pip cannot reach the index, its last message is "No matching distribution found"; the cause is in
    // the warning before it.
    let network = lines.clone().rfind(|line| line.contains("connection broken by"));
    let error = lines.clone().rfind(|line| line.starts_with("ERROR:") || line.starts_with("E:"));
    let line = match (network, error) {
        (Some(network), Some(error)) if error.contains("No matching distribution") => Some(cause(network)),
        (_, error) => error.or_else(|| lines.clone().next_back()),
    };
    let Some(line) = line else { return format!("{:?} without a word", finished.end) };
    line.trim_start_matches("ERROR:")
        .trim_start_matches("E:")
        .trim_start_matches("WARNING:")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Captured;

    fn failed(stderr: &str) -> Finished {
        Finished {
            end: ProcessEnd::Exited(1),
            stdout: Captured::default(),
            stderr: Captured { bytes: stderr.into(), dropped: 0 },
            wall: Duration::ZERO,
        }
    }

    #[test]
    fn variables_that_change_what_is_installed_are_ignored() {
        let names = ["PIP_TARGET", "PIP_INDEX_URL", "PIP_DRY_RUN", "PATH", "PIP_NO_DEPS"];
        let ignored: Vec<&str> = names.into_iter().filter(|name| is_ignored(name)).collect();
        assert_eq!(ignored, ["PIP_TARGET", "PIP_DRY_RUN", "PIP_NO_DEPS"]);
    }

    #[test]
    fn a_mirror_without_end_is_told() {
        let too_large = Finished { end: ProcessEnd::Signalled(25), ..failed("") };
        assert!(last_error(&too_large).contains("more than 2147483648 bytes"), "{}", last_error(&too_large));
    }

    #[test]
    fn an_error_is_one_line_of_what_pip_said() {
        let text = "WARNING: something\nERROR: first\nERROR: Hashes differ\n\nnotice\n";
        assert_eq!(last_error(&failed(text)), "Hashes differ");
        assert_eq!(
            last_error(&failed("/usr/bin/python3: No module named pip\n")),
            "/usr/bin/python3: No module named pip"
        );
        assert_eq!(last_error(&failed("")), "Exited(1) without a word");
    }

    #[test]
    fn without_a_network_the_cause_is_told() {
        let text = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NameResolutionError(x)': /simple/\n\
                    ERROR: Could not find a version that satisfies the requirement x\n\
                    ERROR: No matching distribution found for x\n";
        assert_eq!(
            last_error(&failed(text)),
            "Retrying (Retry(total=0)) after connection broken by 'NameResolutionError(x)': /simple/"
        );
        let text = "WARNING: Retrying (Retry(total=0)) after connection broken by \
                    'NewConnectionError('<pip._vendor.HTTPSConnection object at 0x7f00>: Failed to establish a new \
                    connection: [Errno 101] Network is unreachable')': /simple/x/\nERROR: No matching distribution found for x\n";
        assert_eq!(
            last_error(&failed(text)),
            "Failed to establish a new connection: [Errno 101] Network is unreachable"
        );
    }
}
