//! Runs one child process to its end, even if it hangs, fills a pipe, forks, exhausts memory or ignores
//! signals.
//!
//! A child gets an argument vector (no shell), a directory, no standard input, its own process group, and
//! limits on memory, file size and time. Both pipes are drained on the calling thread while the child runs.
//! The whole group is always killed at the end, so a grandchild that kept a pipe open neither hangs the
//! caller nor outlives the run. A grandchild that leaves the group (`setsid`) cannot be killed; it cannot
//! hang the caller either.
//!
//! There is no `pre_exec`: it makes `std` give up `posix_spawn`, and the cost of a `fork` grows with the
//! memory of this process. The limits are therefore set on the child from outside, right after it has
//! started. Users' programs set them themselves, by way of a shell ([`Invocation::limited_from_start`]).

mod child;
mod fork;
mod scratch;
mod session;
mod trusted;
mod untrusted;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use child::MonitoredChild;
pub use fork::{Servers, Start};
pub use scratch::{Scratch, scratch, scratch_left};
pub use session::{Reply, Session};
pub use trusted::run_trusted;

/// Resource limits of a child process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from start to end, for an input shorter than a mebibyte
    /// ([`for_text`](Limits::for_text)). Default: 10 s.
    pub time: Duration,
    /// Bytes of address space; [`u64::MAX`] for no limit. Default: 4 GiB.
    pub memory: u64,
    /// Bytes kept of each output stream; the rest is read and dropped. Default: 4 MiB.
    pub output: usize,
    /// Bytes of the largest file that it may write; [`u64::MAX`] for no limit. Default: 1 GiB.
    pub file: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { time: Duration::from_secs(10), memory: 4 << 30, output: 4 << 20, file: 1 << 30 }
    }
}

impl Limits {
    /// Returns the limits for an input of `bytes` bytes: each full mebibyte adds the time limit once more, so
    /// that a compiler that is slow on a long input does not count as hanging.
    pub fn for_text(&self, bytes: usize) -> Limits {
        let times = u32::try_from(bytes >> 20).unwrap_or(u32::MAX).saturating_add(1);
        Limits { time: self.time.saturating_mul(times), ..self.clone() }
    }
}

/// Stops running children from another thread, from a signal handler or at a deadline. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<CancelFlag>);

#[derive(Debug, Default)]
struct CancelFlag {
    raised: AtomicBool,
    deadline: Mutex<Option<Instant>>,
}

impl Cancel {
    /// Creates a flag that is not raised.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// Raises the flag: every child that watches it is killed within a tenth of a second.
    pub fn cancel(&self) {
        self.0.raised.store(true, Ordering::Relaxed);
    }

    /// Sets the deadline at which the flag counts as raised. Replaces an earlier deadline.
    pub fn cancel_at(&self, deadline: Instant) {
        *self.0.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(deadline);
    }

    /// Whether the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.raised.load(Ordering::Relaxed) || self.is_past_deadline()
    }

    /// Whether only the deadline raised the flag, that is, [`cancel`](Cancel::cancel) was not called.
    pub fn is_late(&self) -> bool {
        !self.0.raised.load(Ordering::Relaxed) && self.is_past_deadline()
    }

    fn is_past_deadline(&self) -> bool {
        let deadline = *self.0.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// One program to run.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: PathBuf,
    /// Arguments, passed unchanged.
    pub args: Vec<OsString>,
    /// Working directory; `None` for the directory of this process.
    pub directory: Option<PathBuf>,
    /// Directory for temporary files (`TMPDIR`). It is removed after the run, so that a killed child leaves
    /// nothing behind.
    pub temporary: PathBuf,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It exited with this status.
    Exited(i32),
    /// It was killed by this signal.
    Signalled(i32),
    /// It was killed at the time limit.
    TimedOut,
}

/// The captured part of an output stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, up to [`Limits::output`].
    pub bytes: Vec<u8>,
    /// Number of bytes after those in `bytes`, which were dropped.
    pub dropped: u64,
}

impl Captured {
    /// Returns the bytes as text, with replacement characters for invalid UTF-8.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// The result of a child that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: ProcessEnd,
    /// Captured standard output.
    pub stdout: Captured,
    /// Captured standard error.
    pub stderr: Captured,
    /// Wall-clock time from before the start to after the end.
    pub wall: Duration,
}

/// Why a child could not be run: a failure of this machine or of our code, never of the child.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The program does not exist.
    #[error("{}: no such program", .0.display())]
    NotFound(PathBuf),
    /// The file is not executable.
    #[error("{}: not executable", .0.display())]
    NotExecutable(PathBuf),
    /// The file is not a program for this machine.
    #[error("{}: not a program for this machine (exec format error)", .0.display())]
    WrongFormat(PathBuf),
    /// Another failure of this machine.
    #[error("{}: cannot {doing}: {source}", .program.display())]
    Machine {
        /// The program.
        program: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The flag of [`Cancel`] was raised; the child was killed.
    #[error("{}: stopped on request", .0.display())]
    Cancelled(PathBuf),
}

/// Runs the program to its end.
pub fn run(invocation: &Invocation, limits: &Limits, cancel: &Cancel) -> Result<Finished, ProcessError> {
    spawn(invocation, limits, cancel, |_| ())
}

/// Runs a program that writes more than should be kept. Standard output is not kept: `read` receives it in
/// chunks of any length while the program runs.
pub fn run_reading(
    invocation: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    mut read: impl FnMut(&[u8]),
) -> Result<Finished, ProcessError> {
    spawn(invocation, limits, cancel, |stdout| {
        read(stdout);
        stdout.clear();
    })
}

/// Starts the program and monitors it until it ends.
fn spawn(
    invocation: &Invocation,
    limits: &Limits,
    cancel: &Cancel,
    read: impl FnMut(&mut Vec<u8>),
) -> Result<Finished, ProcessError> {
    if cancel.is_cancelled() {
        return Err(ProcessError::Cancelled(invocation.program.clone()));
    }
    let started = Instant::now();
    let mut child = MonitoredChild::start(invocation, limits, Stdio::null())?;
    child.restrict_cpu(limits.time)?;
    attend(&mut child, limits, cancel, started, read)
}

/// Reads the child's output until it ends or its time is over. Calls `read` on the unread part of standard
/// output after each read.
fn attend(
    child: &mut MonitoredChild,
    limits: &Limits,
    cancel: &Cancel,
    started: Instant,
    mut read: impl FnMut(&mut Vec<u8>),
) -> Result<Finished, ProcessError> {
    let killed = loop {
        child.check(cancel)?;
        let left = limits.time.saturating_sub(started.elapsed());
        if left.is_zero() {
            break true;
        }
        if child.wait(left, None)? {
            break false;
        }
        child.read_once(limits.output, &mut read)?;
    };
    // Kill the group before its leader is reaped: until then no other process can get the group's number.
    let end = child.end()?;
    // The last output is still in the pipes. A process that left the group might write for ever, so read at
    // most one full pipe: Linux caps an unprivileged pipe at 1 MiB.
    for _ in 0..64 {
        if !child.read_once(limits.output, &mut read)? {
            break;
        }
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let end = if killed { ProcessEnd::TimedOut } else { end };
    Ok(Finished { end, stdout, stderr, wall: started.elapsed() })
}

#[cfg(test)]
mod tests;
