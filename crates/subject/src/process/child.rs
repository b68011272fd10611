//! One child process while it runs: started in its own group, limited from outside, its pipes read without
//! blocking.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use ptxsmith_forkserver::Server;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, kill_process_group, pidfd_open, prlimit,
};

use super::{Cancel, Captured, Invocation, Limits, ProcessEnd, ProcessError};

/// Makes glibc's `malloc` request large pages, where the system grants them on request, and somewhat more
/// than it needs at once. Requesting memory is a good part of the cost of a short child: a sixth of a ptxas
/// run on one variable. If the user has set this variable for ptxsmith, children inherit that setting
/// instead.
pub(super) const TUNABLES: &str = "GLIBC_TUNABLES";
pub(super) const LARGE_PAGES: &str = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=4194304";

/// Number of threads that can run at once. Cached, because the answer is read from several files.
pub(super) static CORES: LazyLock<u64> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, |cores| cores.get() as u64));

/// Interval at which the cancel flag is checked.
const TICK: Duration = Duration::from_millis(50);

/// A child with the pipes that it writes to. Dropping it kills the child and its group.
#[derive(Debug)]
pub(super) struct MonitoredChild {
    program: PathBuf,
    group: ProcessGroup,
    pub stdin: Option<OwnedFd>,
    pub stdout: Pipe,
    pub stderr: Pipe,
}

impl MonitoredChild {
    /// Starts the program under all limits except time.
    pub fn start(
        invocation: &Invocation,
        limits: &Limits,
        stdin: Stdio,
    ) -> Result<MonitoredChild, ProcessError> {
        let program = invocation.program.clone();
        let mut group = ProcessGroup::spawn(invocation, stdin)?;
        let Leader::Started { child, pid, .. } = &mut group.0 else { unreachable!("it was spawned") };
        restrict(*pid, limits).map_err(machine(&program, "set its limits"))?;
        let stdin = child.stdin.take().map(|stdin| unblocked(Some(stdin))).transpose();
        let stdin = stdin.map_err(machine(&program, "prepare its pipes"))?;
        let stdout = Pipe::new(child.stdout.take()).map_err(machine(&program, "prepare its pipes"))?;
        let stderr = Pipe::new(child.stderr.take()).map_err(machine(&program, "prepare its pipes"))?;
        Ok(MonitoredChild { program, group, stdin, stdout, stderr })
    }

    /// Forks a waiting server process into this directory, under all limits except time.
    pub fn fork(
        mut server: Server,
        directory: &File,
        invocation: &Invocation,
        limits: &Limits,
    ) -> io::Result<MonitoredChild> {
        let (stdout, its_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, its_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stdout, stderr) = (Pipe::new(Some(stdout))?, Pipe::new(Some(stderr))?);
        let limits = ptxsmith_forkserver::ForkLimits {
            memory: limits.memory,
            file: limits.file,
            cpu: most_cpu(limits.time),
        };
        let outputs = [its_stdout.as_fd(), its_stderr.as_fd()];
        server.fork(directory.as_fd(), outputs, &invocation.temporary, &limits)?;
        let (program, group) = (invocation.program.clone(), ProcessGroup(Leader::Forked(server)));
        Ok(MonitoredChild { program, group, stdin: None, stdout, stderr })
    }

    /// Returns the server that the child was forked from, if it can fork again.
    pub fn into_server(mut self) -> Option<Server> {
        match &mut self.group.0 {
            Leader::Ended(server) => server.take(),
            Leader::Started { .. } | Leader::Forked(_) => None,
        }
    }

    /// Creates the error for a failure of this machine.
    pub fn failed(&self, doing: &'static str) -> impl FnOnce(io::Error) -> ProcessError {
        machine(&self.program, doing)
    }

    /// Returns an error if the run was cancelled.
    pub fn check(&self, cancel: &Cancel) -> Result<(), ProcessError> {
        if cancel.is_cancelled() { Err(ProcessError::Cancelled(self.program.clone())) } else { Ok(()) }
    }

    /// Limits the child's processor time to more than it can use within `time`.
    pub fn restrict_cpu(&self, time: Duration) -> Result<(), ProcessError> {
        // A fork gets all its limits when it starts.
        let Leader::Started { pid, .. } = self.group.0 else { return Ok(()) };
        set_limit(pid, Resource::Cpu, most_cpu(time)).map_err(self.failed("set its limits"))
    }

    /// Waits until the child ends, writes, or can receive more input (if `unsent`), for at most `left` and at
    /// most until the next check of the cancel flag. Returns true if the child has ended.
    pub fn wait(&self, left: Duration, unsent: Option<&OwnedFd>) -> Result<bool, ProcessError> {
        let wait = left.min(TICK);
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
        let mut fds = Vec::with_capacity(4);
        let Some(end) = self.group.end_shows() else { return Ok(true) };
        fds.push(PollFd::new(&end, PollFlags::IN));
        for pipe in [&self.stdout, &self.stderr] {
            if pipe.open {
                fds.push(PollFd::new(&pipe.end, PollFlags::IN));
            }
        }
        fds.extend(unsent.map(|stdin| PollFd::new(stdin, PollFlags::OUT)));
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(!fds[0].revents().is_empty()),
            Err(errno) => Err(self.failed("watch it")(errno.into())),
        }
    }

    /// Reads once from each pipe. `take` sees standard output first; then each stream is cut to its first
    /// `limit` bytes. Returns false if there was nothing to read.
    pub fn read_once(
        &mut self,
        limit: usize,
        take: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<bool, ProcessError> {
        let mut some = false;
        for pipe in [&mut self.stdout, &mut self.stderr] {
            some |= pipe.read_once().map_err(machine(&self.program, "read its output"))?;
        }
        take(&mut self.stdout.bytes);
        self.stdout.keep_first(limit);
        self.stderr.keep_first(limit);
        Ok(some)
    }

    /// Whether the child has ended, without waiting. True also if that cannot be determined.
    pub fn has_ended(&self) -> bool {
        self.wait(Duration::ZERO, None).unwrap_or(true)
    }

    /// Kills the rest of the group and returns how the child ended.
    pub fn end(&mut self) -> Result<ProcessEnd, ProcessError> {
        let status = self.group.end().map_err(self.failed("wait for it"))?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => ProcessEnd::Exited(code),
            (None, signal) => ProcessEnd::Signalled(signal.unwrap_or(0)),
        })
    }
}

/// Returns a processor time limit in seconds that a child monitored for `time` never reaches, however many
/// threads it runs. The limit stops a child that keeps spinning after this process was itself killed.
fn most_cpu(time: Duration) -> u64 {
    time.as_secs().saturating_add(1).saturating_mul(*CORES).saturating_add(60)
}

/// Creates the error for a failure of this machine while `doing` something for a program.
fn machine(program: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> ProcessError {
    let program = program.to_owned();
    move |source| ProcessError::Machine { program, doing, source }
}

/// Makes our end of a pipe non-blocking.
fn unblocked(end: Option<impl Into<OwnedFd>>) -> io::Result<OwnedFd> {
    let end = end.ok_or_else(|| io::Error::other("no pipe"))?.into();
    let flags = fcntl_getfl(end.as_fd())?;
    fcntl_setfl(end.as_fd(), flags | OFlags::NONBLOCK)?;
    Ok(end)
}

/// Our end of a pipe that a child writes to.
#[derive(Debug)]
pub(super) struct Pipe {
    end: OwnedFd,
    /// The bytes that were read and kept.
    pub bytes: Vec<u8>,
    /// Number of bytes read after those in `bytes` and dropped.
    dropped: u64,
    pub open: bool,
}

impl Pipe {
    fn new(end: Option<impl Into<OwnedFd>>) -> io::Result<Pipe> {
        Ok(Pipe { end: unblocked(end)?, bytes: Vec::new(), dropped: 0, open: true })
    }

    /// Reads once; returns false if there is nothing to read now.
    fn read_once(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 64 << 10];
        match rustix::io::read(&self.end, &mut buffer) {
            Ok(0) => {
                self.open = false;
                Ok(false)
            }
            Ok(count) => {
                self.bytes.extend_from_slice(&buffer[..count]);
                Ok(true)
            }
            Err(Errno::AGAIN) => Ok(false),
            Err(Errno::INTR) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads the available bytes, until more than `limit` bytes are kept.
    pub fn read(&mut self, limit: usize) -> io::Result<()> {
        while self.open && self.bytes.len() <= limit && self.read_once()? {}
        Ok(())
    }

    fn keep_first(&mut self, limit: usize) {
        self.dropped += self.bytes.len().saturating_sub(limit) as u64;
        self.bytes.truncate(limit);
    }

    /// Drops all but the last `limit` bytes.
    pub fn keep_last(&mut self, limit: usize) {
        self.bytes.drain(..self.bytes.len().saturating_sub(limit));
    }

    /// Returns the kept bytes and leaves none.
    pub fn take(&mut self) -> Captured {
        Captured { bytes: std::mem::take(&mut self.bytes), dropped: self.dropped }
    }
}

/// Sets all limits of a child except time.
fn restrict(pid: Pid, limits: &Limits) -> io::Result<()> {
    set_limit(pid, Resource::Core, 0)?;
    for (resource, value) in [(Resource::As, limits.memory), (Resource::Fsize, limits.file)] {
        if value != u64::MAX {
            set_limit(pid, resource, value)?;
        }
    }
    Ok(())
}

fn set_limit(pid: Pid, resource: Resource, value: u64) -> io::Result<()> {
    // The parent may have set a lower hard limit, which the child inherits and cannot raise.
    let value = getrlimit(resource).maximum.map_or(value, |most| value.min(most));
    // The processor time of a child that serves many requests is raised repeatedly, so its hard limit stays
    // open.
    let maximum = if matches!(resource, Resource::Cpu) { None } else { Some(value) };
    match prlimit(Some(pid), resource, Rlimit { current: Some(value), maximum }) {
        // The child may have ended already.
        Ok(_) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// A child and its process group, both killed when dropped.
#[derive(Debug)]
struct ProcessGroup(Leader);

#[derive(Debug)]
enum Leader {
    /// Started by this process.
    Started { child: Child, pid: Pid, pidfd: OwnedFd },
    /// Forked by a waiting server process, which kills and reaps it.
    Forked(Server),
    /// It has ended. Holds the server if that can fork again.
    Ended(Option<Server>),
}

impl ProcessGroup {
    fn spawn(invocation: &Invocation, stdin: Stdio) -> Result<Self, ProcessError> {
        let mut command = command(invocation);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = unless_busy(|| command.spawn());
        let mut child = child.map_err(|source| not_started(invocation, source))?;
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Ok(ProcessGroup(Leader::Started { child, pid, pidfd })),
            Err(errno) => {
                // A child that cannot be watched must be killed here.
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = child.wait();
                Err(machine(&invocation.program, "watch it")(errno.into()))
            }
        }
    }

    /// Returns a descriptor that becomes readable when the child has ended; `None` if it has been reaped.
    fn end_shows(&self) -> Option<BorrowedFd<'_>> {
        match &self.0 {
            Leader::Started { pidfd, .. } => Some(pidfd.as_fd()),
            Leader::Forked(server) => Some(server.ended()),
            Leader::Ended(_) => None,
        }
    }

    /// Kills the rest of the group and reaps the leader.
    fn end(&mut self) -> io::Result<ExitStatus> {
        match std::mem::replace(&mut self.0, Leader::Ended(None)) {
            Leader::Started { mut child, pid, .. } => {
                // An error means that no process is left.
                let _ = kill_process_group(pid, Signal::KILL);
                child.wait()
            }
            Leader::Forked(mut server) => {
                let status = server.end()?;
                self.0 = Leader::Ended(Some(server));
                Ok(status)
            }
            Leader::Ended(_) => Err(io::Error::other("it was reaped before")),
        }
    }
}

/// Explains why a program could not be started.
fn not_started(invocation: &Invocation, source: io::Error) -> ProcessError {
    let program = invocation.program.clone();
    if invocation.directory.as_deref().is_some_and(|directory| !directory.is_dir()) {
        return ProcessError::Machine { program, doing: "enter its directory", source };
    }
    match Errno::from_io_error(&source) {
        Some(Errno::NOENT | Errno::NOTDIR) => ProcessError::NotFound(program),
        Some(Errno::ACCESS | Errno::PERM | Errno::ISDIR) => ProcessError::NotExecutable(program),
        Some(Errno::NOEXEC) => ProcessError::WrongFormat(program),
        _ => ProcessError::Machine { program, doing: "start it", source },
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // An error means that the child was reaped before or cannot be killed; neither can be handled here.
        let _ = self.end();
    }
}

/// Retries while the program's file is busy. A file written a moment ago is busy as long as a child that
/// another thread is starting holds the descriptor through which it was written.
pub(super) fn unless_busy<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut tries = 0;
    loop {
        match start() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && tries < 50 => {
                tries += 1;
                thread::sleep(Duration::from_millis(2));
            }
            other => return other,
        }
    }
}

/// Builds the command: program, arguments, directory and environment.
pub(super) fn command(invocation: &Invocation) -> Command {
    let mut command = Command::new(&invocation.program);
    command
        .args(&invocation.args)
        .env("TMPDIR", &invocation.temporary)
        // A module from the CUDA driver's cache says nothing about the driver's compiler.
        .env("CUDA_CACHE_DISABLE", "1")
        // The stack of a crash is not looked at, and its symbols take a second.
        .env("LLVM_DISABLE_SYMBOLIZATION", "1");
    if std::env::var_os(TUNABLES).is_none() {
        command.env(TUNABLES, LARGE_PAGES);
    }
    if let Some(directory) = &invocation.directory {
        command.current_dir(directory);
    }
    command
}
