//! Starts a program once and forks it where it opens its input, so that a run costs no start.
//!
//! Most of what a compiler does for a small input is to start: it is loaded, and makes its tables. A small library of ours
//! (`server.c`) is loaded into it by `LD_PRELOAD`. It interposes the C library's `fopen` and `open`: where the program opens
//! its input, it stays, and serves. Each request gets a fork of it, which goes on with a directory, an output and limits of its
//! own. The program itself never reads an input. This is the technique of AFL's fork server; no file of the program is read or
//! changed for it.
//!
//! A fork is what a process that was started would be: a process group of its own that is killed whole, limits of its own,
//! standard input empty, no descriptor but its three. What it shares with others is what the program did before it opened its
//! input, and the addresses that the system gave it.
//!
//! Whether a program can be served shows when it is asked ([`Server::start`]): one that is linked statically, has several
//! threads by then, or opens its input in another way cannot.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    Shutdown, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// The library that is preloaded; empty where it could not be built.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/server.so"));

/// How long a program may take until it opens its input.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a server may take to end once it has nothing to serve.
const LAST_WORDS: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The longest path of a directory for temporary files, its closing zero included.
const LONGEST_PATH: usize = 4096;

/// Why a program cannot be served. It can be started for each run instead.
#[derive(Debug, thiserror::Error)]
pub enum NoServer {
    /// This build has no library to preload.
    #[error("built without a C compiler")]
    NotBuilt,
    /// The program did not stop where it opens its input.
    #[error("it {0}")]
    Unfit(&'static str),
    /// The system failed.
    #[error("cannot {0}: {1}")]
    Machine(&'static str, io::Error),
}

impl From<NoServer> for io::Error {
    /// An error of the same kind where the system failed.
    fn from(error: NoServer) -> io::Error {
        let kind = match &error {
            NoServer::Machine(_, source) => source.kind(),
            NoServer::NotBuilt | NoServer::Unfit(_) => io::ErrorKind::Unsupported,
        };
        io::Error::new(kind, error)
    }
}

/// What a fork may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of address space; [`u64::MAX`] for no limit.
    pub memory: u64,
    /// Bytes of the largest file that it may write; [`u64::MAX`] for no limit.
    pub file: u64,
    /// Seconds of processor time; [`u64::MAX`] for no limit.
    pub cpu: u64,
}

/// What the server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Ready,
    Started(i32),
    Ended(i32),
    Failed(i32),
}

/// A program that waits where it opens its input. Killed when dropped, with the fork that it has.
///
/// One fork runs at a time: [`fork`](Server::fork), then [`end`](Server::end).
#[derive(Debug)]
pub struct Server {
    process: Child,
    control: OwnedFd,
}

impl Server {
    /// Starts a program and waits until it opens `input`, a path as its arguments have it: best a relative one, since each
    /// fork has a directory of its own. The command's directory must not matter to what the program does before that.
    ///
    /// # Errors
    /// [`NoServer`] says why it cannot be served; the program has been killed then.
    pub fn start(command: &mut Command, input: &str) -> Result<Server, NoServer> {
        let failed = |doing| move |error: Errno| NoServer::Machine(doing, error.into());
        let library = library()?;
        let (control, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(failed("make a socket"))?;
        // Its end is its standard input, which is the only descriptor that it inherits: nothing that another thread starts
        // meanwhile gets it too.
        command
            .env("LD_PRELOAD", format!("/proc/{}/fd/{}", std::process::id(), library.as_raw_fd()))
            .env("PTXSMITH_FORK_INPUT", input)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let process = command.spawn().map_err(|error| NoServer::Machine("start it", error))?;
        // Our copy of its end is closed, so that its end shows.
        command.stdin(Stdio::null());
        let server = Server { process, control };
        if !server.is_readable(PATIENCE).map_err(failed("wait for it"))? {
            return Err(NoServer::Unfit("does not open its input"));
        }
        match server.receive() {
            Ok(Answer::Ready) => Ok(server),
            Ok(Answer::Failed(_)) => Err(NoServer::Unfit("has several threads where it opens its input")),
            _ => Err(NoServer::Unfit("ended, or cannot be preloaded")),
        }
    }

    /// Forks it: the fork goes on in this directory, with these outputs and limits, and with `temporary` for `TMPDIR`.
    /// Returns its process, which leads a group of its own.
    ///
    /// # Errors
    /// If the server is gone or the system has no more processes. The server is of no more use then.
    pub fn fork(
        &mut self,
        directory: BorrowedFd<'_>,
        [stdout, stderr]: [BorrowedFd<'_>; 2],
        temporary: &Path,
        limits: &Limits,
    ) -> io::Result<Pid> {
        let temporary = temporary.as_os_str().as_bytes();
        if temporary.len() >= LONGEST_PATH {
            return Err(Errno::NAMETOOLONG.into());
        }
        let mut request = Vec::with_capacity(32 + LONGEST_PATH);
        request.extend(1_u64.to_ne_bytes());
        for limit in [limits.memory, limits.file, limits.cpu] {
            request.extend(limit.to_ne_bytes());
        }
        request.extend(temporary);
        request.resize(32 + LONGEST_PATH, 0);
        self.send(&request, &[directory, stdout, stderr])?;
        match self.receive()? {
            Answer::Started(pid) => Pid::from_raw(pid).ok_or_else(|| io::Error::other("no process")),
            Answer::Failed(errno) => Err(io::Error::from_raw_os_error(errno)),
            other => Err(io::Error::other(format!("the fork server answers {other:?}"))),
        }
    }

    /// Readable once the fork has ended, and its group with it.
    pub fn ended(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }

    /// Ends the fork, if it has not ended: its whole group is killed, and then it is reaped. Returns how it ended.
    ///
    /// # Errors
    /// If the server is gone.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_readable(Duration::ZERO)? {
            // It may end at this moment: the server passes over an order that comes too late.
            self.send(&[0; 32 + LONGEST_PATH], &[])?;
        }
        match self.receive()? {
            Answer::Ended(status) => Ok(ExitStatus::from_raw(status)),
            other => Err(io::Error::other(format!("the fork server answers {other:?}"))),
        }
    }

    /// Bytes of memory that the waiting program has for itself; `None` where the system does not tell.
    pub fn memory(&self) -> Option<u64> {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.process.id())).ok()?;
        let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    fn is_readable(&self, wait: Duration) -> Result<bool, Errno> {
        let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        loop {
            match poll(&mut [PollFd::new(&self.control, PollFlags::IN)], Some(&timeout)) {
                Err(Errno::INTR) => {}
                answer => return Ok(answer? > 0),
            }
        }
    }

    fn send(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        loop {
            match sendmsg(&self.control, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                sent => return sent.map(drop).map_err(io::Error::from),
            }
        }
    }

    fn receive(&self) -> io::Result<Answer> {
        let mut bytes = [0; 8];
        let received = loop {
            let mut ancillary = RecvAncillaryBuffer::default();
            let mut parts = [IoSliceMut::new(&mut bytes)];
            match recvmsg(&self.control, &mut parts, &mut ancillary, RecvFlags::empty()) {
                Err(Errno::INTR) => {}
                received => break received?.bytes,
            }
        };
        let [kind, value] =
            [0, 4].map(|at| i32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
        match (received, kind) {
            (8, 1) => Ok(Answer::Ready),
            (8, 2) => Ok(Answer::Started(value)),
            (8, 3) => Ok(Answer::Ended(value)),
            (8, 4) => Ok(Answer::Failed(value)),
            (0, _) => Err(io::Error::other("the fork server is gone")),
            _ => Err(io::Error::other("the fork server does not keep to its protocol")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) else { return };
        // A server whose client is gone kills the group of its fork, which is not its own, and exits.
        let _ = rustix::net::shutdown(&self.control, Shutdown::Both);
        if let Ok(watch) = pidfd_open(pid, PidfdFlags::empty()) {
            let _ = poll(&mut [PollFd::new(&watch, PollFlags::IN)], Some(&LAST_WORDS));
        }
        // What is no server, or none any more. An error means that it has ended.
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = self.process.wait();
    }
}

/// The library as a file in memory, which any process of ours can open by its name under `/proc`.
fn library() -> Result<&'static File, NoServer> {
    static FILE: OnceLock<File> = OnceLock::new();
    if LIBRARY.is_empty() {
        return Err(NoServer::NotBuilt);
    }
    if let Some(file) = FILE.get() {
        return Ok(file);
    }
    let failed = |error: io::Error| NoServer::Machine("make a file in memory", error);
    let file =
        memfd_create("ptxsmith-forkserver", MemfdFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
    let mut file = File::from(file);
    file.write_all(LIBRARY).map_err(failed)?;
    Ok(FILE.get_or_init(|| file))
}
