//! Runs one child process to its end, whatever it does: hang, fill a pipe, fork, eat memory, ignore signals.
//!
//! A child gets an argument vector (no shell), a directory, no standard input, a process group of its own, a memory,
//! a file size and a time limit. Both pipes are drained on the calling thread while the child runs, and the whole
//! group is killed at the end in every case, so a grandchild that kept a pipe open neither hangs the caller nor
//! outlives the run. A grandchild that leaves the group (`setsid`) is out of reach; it can hang nobody either.
//!
//! There is no `pre_exec`: with it `std` gives up `posix_spawn`, and the price of a `fork` grows with the memory of
//! this process. The limits are therefore set on the child from outside, right after it was started.

mod session;

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, kill_process_group, pidfd_open, prlimit,
};

pub use session::{Reply, Session};

/// What a child process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from start to end. Default: 10 s.
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

/// Stops running children from another thread or a signal handler; clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// Raises the flag: every child that watches it is killed within a tenth of a second.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How glibc's `malloc` asks the system for memory: in large pages, where the system grants them on request, and some more than
/// it needs at once. To get memory is a good part of what a short child does: of a start of ptxas for one variable a sixth.
/// Whoever sets it for this program sets it for its children.
const TUNABLES: &str = "GLIBC_TUNABLES";
const LARGE_PAGES: &str = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=4194304";

/// One program to run.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: PathBuf,
    /// Its arguments, passed as they are.
    pub args: Vec<OsString>,
    /// Its working directory; `None` for that of this process.
    pub directory: Option<PathBuf>,
    /// Where it shall put temporary files (`TMPDIR`): a directory that is removed after the run, so that a child that
    /// is killed leaves nothing behind.
    pub temporary: PathBuf,
}

/// How a child came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
    /// It was killed at the time limit.
    TimedOut,
}

/// What was kept of one output stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, up to [`Limits::output`].
    pub bytes: Vec<u8>,
    /// How many bytes came after them and were dropped.
    pub dropped: u64,
}

impl Captured {
    /// The bytes as text, with a replacement character for what is not UTF-8.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// Everything that is known of a child that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// Wall-clock time from before the start to after the end.
    pub wall: Duration,
}

/// Why a child could not be run: a failure of this machine or of our code, never of the child.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program.
    #[error("{}: no such program", .0.display())]
    NotFound(PathBuf),
    /// The file may not be executed.
    #[error("{}: not executable", .0.display())]
    NotExecutable(PathBuf),
    /// The file is no program of this machine.
    #[error("{}: not a program for this machine (exec format error)", .0.display())]
    WrongFormat(PathBuf),
    /// The machine failed otherwise.
    #[error("{}: cannot {doing}: {source}", .program.display())]
    Machine {
        /// The program.
        program: PathBuf,
        /// What failed.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// [`Cancel::cancel`] was called; the child was killed.
    #[error("{}: stopped on request", .0.display())]
    Cancelled(PathBuf),
}

/// How many threads of a child can run at once. Asked once: the answer is read from several files.
static CORES: LazyLock<u64> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, |cores| cores.get() as u64));

/// How often the cancel flag is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Runs the program to its end.
pub fn run(invocation: &Invocation, limits: &Limits, cancel: &Cancel) -> Result<Finished, Error> {
    if cancel.is_cancelled() {
        return Err(Error::Cancelled(invocation.program.clone()));
    }
    let started = Instant::now();
    let mut group = Group::spawn(invocation, Stdio::null())?;
    let result = attend(&mut group, limits, cancel, started);
    // The group dies before its leader is reaped: until then the group's number cannot be taken by another.
    let status = group.end();
    let fail = |doing| move |source| Error::Machine { program: invocation.program.clone(), doing, source };
    let (killed, mut stdout, mut stderr) = match result {
        Ok(attended) => attended,
        Err(Stop::Cancelled) => return Err(Error::Cancelled(invocation.program.clone())),
        Err(Stop::Failed(doing, source)) => return Err(fail(doing)(source)),
    };
    let status = status.map_err(fail("wait for it"))?;
    // What it wrote last is still in the pipes. Nobody of its group can write now, so this ends.
    stdout.drain().map_err(fail("read its output"))?;
    stderr.drain().map_err(fail("read its output"))?;
    let end = match (killed, status.code(), status.signal()) {
        (true, ..) => End::TimedOut,
        (false, Some(code), _) => End::Exited(code),
        (false, None, signal) => End::Signalled(signal.unwrap_or(0)),
    };
    Ok(Finished { end, stdout: stdout.kept, stderr: stderr.kept, wall: started.elapsed() })
}

/// Why attending a child stopped early.
enum Stop {
    Cancelled,
    Failed(&'static str, io::Error),
}

type Attended = (bool, Stream, Stream);

/// Sets the limits, then reads both pipes until the leader ends (false) or its time is over (true).
fn attend(group: &mut Group, limits: &Limits, cancel: &Cancel, started: Instant) -> Result<Attended, Stop> {
    let failed = |doing: &'static str| move |errno: Errno| Stop::Failed(doing, errno.into());
    let pid = group.pid;
    restrict(pid, limits).map_err(|source| Stop::Failed("set its limits", source))?;
    // Never reached under our eyes, however many threads it has. It ends a child that spins on after this process was
    // itself killed.
    restrict_cpu(pid, limits.time).map_err(|source| Stop::Failed("set its limits", source))?;

    let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(failed("watch it"))?;
    let missing = || Stop::Failed("open its pipes", io::Error::other("no pipe"));
    let mut stdout = Stream::new(group.child.stdout.take().ok_or_else(missing)?.into(), limits.output)?;
    let mut stderr = Stream::new(group.child.stderr.take().ok_or_else(missing)?.into(), limits.output)?;
    loop {
        if cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        let left = limits.time.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok((true, stdout, stderr));
        }
        let wait = left.min(TICK);
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
        let mut fds = Vec::with_capacity(3);
        fds.push(PollFd::new(&pidfd, PollFlags::IN));
        let open = [stdout.open, stderr.open];
        for stream in [&stdout, &stderr].into_iter().filter(|stream| stream.open) {
            fds.push(PollFd::new(&stream.pipe, PollFlags::IN));
        }
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Stop::Failed("watch it", errno.into())),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let ended = ready.next().unwrap_or(false);
        let read_stdout = open[0] && ready.next().unwrap_or(false);
        let read_stderr = open[1] && ready.next().unwrap_or(false);
        drop(ready);
        if ended {
            return Ok((false, stdout, stderr));
        }
        for (stream, ready) in [(&mut stdout, read_stdout), (&mut stderr, read_stderr)] {
            if ready {
                stream.read_once().map_err(|source| Stop::Failed("read its output", source))?;
            }
        }
    }
}

/// Sets the limits of a child but for time.
fn restrict(pid: Pid, limits: &Limits) -> io::Result<()> {
    set_limit(pid, Resource::Core, 0)?;
    for (resource, value) in [(Resource::As, limits.memory), (Resource::Fsize, limits.file)] {
        if value != u64::MAX {
            set_limit(pid, resource, value)?;
        }
    }
    Ok(())
}

/// Limits a child to more processor time than it can use in this time.
fn restrict_cpu(pid: Pid, time: Duration) -> io::Result<()> {
    let cpu = time.as_secs().saturating_add(1).saturating_mul(*CORES).saturating_add(60);
    set_limit(pid, Resource::Cpu, cpu)
}

fn set_limit(pid: Pid, resource: Resource, value: u64) -> io::Result<()> {
    // Whoever started us may have set a lower bound, which holds for the child too and which nobody may raise.
    let value = getrlimit(resource).maximum.map_or(value, |most| value.min(most));
    // The processor time of a child that serves on is raised again and again: that needs its upper bound left open.
    let maximum = if matches!(resource, Resource::Cpu) { None } else { Some(value) };
    match prlimit(Some(pid), resource, Rlimit { current: Some(value), maximum }) {
        // It may be over already.
        Ok(_) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// A child and its process group, both killed when dropped.
#[derive(Debug)]
struct Group {
    child: Child,
    pid: Pid,
    ended: bool,
}

impl Group {
    fn spawn(invocation: &Invocation, stdin: Stdio) -> Result<Self, Error> {
        let program = || invocation.program.clone();
        let mut command = Command::new(&invocation.program);
        command
            .args(&invocation.args)
            .env("TMPDIR", &invocation.temporary)
            // A module that the CUDA driver takes from its cache tells nothing of the driver's compiler.
            .env("CUDA_CACHE_DISABLE", "1")
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if std::env::var_os(TUNABLES).is_none() {
            command.env(TUNABLES, LARGE_PAGES);
        }
        if let Some(directory) = &invocation.directory {
            command.current_dir(directory);
        }
        let mut tries = 0;
        let child = loop {
            match command.spawn() {
                // A program that was written a moment ago is busy as long as a child that another thread is
                // just starting holds the descriptor it was written through.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && tries < 50 => {
                    tries += 1;
                    thread::sleep(Duration::from_millis(2));
                }
                other => break other,
            }
        };
        let child = child.map_err(|source| {
            if invocation.directory.as_deref().is_some_and(|directory| !directory.is_dir()) {
                return Error::Machine { program: program(), doing: "enter its directory", source };
            }
            match Errno::from_io_error(&source) {
                Some(Errno::NOENT | Errno::NOTDIR) => Error::NotFound(program()),
                Some(Errno::ACCESS | Errno::PERM | Errno::ISDIR) => Error::NotExecutable(program()),
                Some(Errno::NOEXEC) => Error::WrongFormat(program()),
                _ => Error::Machine { program: program(), doing: "start it", source },
            }
        })?;
        let pid = Pid::from_child(&child);
        Ok(Group { child, pid, ended: false })
    }

    /// Kills whoever is left of the group and reaps the leader.
    fn end(&mut self) -> io::Result<std::process::ExitStatus> {
        self.ended = true;
        // An error means that nobody is left.
        let _ = kill_process_group(self.pid, Signal::KILL);
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.end();
        }
    }
}

/// Our end of one pipe.
struct Stream {
    pipe: std::os::fd::OwnedFd,
    kept: Captured,
    limit: usize,
    open: bool,
}

impl Stream {
    fn new(pipe: std::os::fd::OwnedFd, limit: usize) -> Result<Self, Stop> {
        let failed = |errno: Errno| Stop::Failed("prepare its pipes", errno.into());
        let flags = fcntl_getfl(pipe.as_fd()).map_err(failed)?;
        fcntl_setfl(pipe.as_fd(), flags | OFlags::NONBLOCK).map_err(failed)?;
        Ok(Stream { pipe, kept: Captured::default(), limit, open: true })
    }

    /// Reads what one call gives; false when there is nothing now.
    fn read_once(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 64 << 10];
        match rustix::io::read(&self.pipe, &mut buffer) {
            Ok(0) => {
                self.open = false;
                Ok(false)
            }
            Ok(count) => {
                let room = self.limit.saturating_sub(self.kept.bytes.len()).min(count);
                self.kept.bytes.extend_from_slice(&buffer[..room]);
                self.kept.dropped += (count - room) as u64;
                Ok(true)
            }
            Err(Errno::AGAIN) => Ok(false),
            Err(Errno::INTR) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads what is left in the pipe without waiting for more. A process that left the group might write on for
    /// ever, so at most one full pipe is read: Linux caps an unprivileged pipe at 1 MiB.
    fn drain(&mut self) -> io::Result<()> {
        for _ in 0..64 {
            if !self.open || !self.read_once()? {
                break;
            }
        }
        Ok(())
    }
}

/// A private directory for one run, removed when dropped.
///
/// It lies in memory (`/dev/shm`) where that is writable and has `room` bytes left, else in the temporary directory:
/// a run writes two small files, and on a disk that costs more than a short child does.
pub fn scratch(room: u64) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("ptxsmith-");
    if left_in(Path::new(SHARED_MEMORY)).is_some_and(|left| left >= room)
        && let Ok(directory) = builder.tempdir_in(SHARED_MEMORY)
    {
        return Ok(directory);
    }
    builder.tempdir()
}

const SHARED_MEMORY: &str = "/dev/shm";

/// How many bytes are left where [`scratch`] puts a directory for so many; `None` where the system does not tell.
/// What a program does whose disk is full is hard to tell from a deviation: ptxas dies of a
/// signal, or reads its own temporary file as empty.
pub fn scratch_left(room: u64) -> Option<u64> {
    let shared = left_in(Path::new(SHARED_MEMORY)).filter(|&left| left >= room);
    shared.or_else(|| left_in(&std::env::temp_dir()))
}

fn left_in(directory: &Path) -> Option<u64> {
    let fs = rustix::fs::statvfs(directory).ok()?;
    Some(fs.f_bavail.saturating_mul(fs.f_frsize))
}

#[cfg(test)]
mod tests;
