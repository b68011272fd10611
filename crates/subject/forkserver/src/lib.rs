//! Starts a program once and forks it when it opens its input, so that runs skip the start.
//!
//! For a small input, a compiler spends most of its time on starting: it is loaded and builds its tables.
//! This crate loads a small library (`server.c`) into the program with `LD_PRELOAD`. The library interposes
//! the C library's `fopen` and `open`: when the program opens its input, it stops there and becomes a server.
//! Each request forks it; the fork continues with its own directory, outputs and limits. The original process
//! never reads an input. This is the technique of AFL's fork server; no file of the program is read or
//! changed.
//!
//! A fork behaves like a newly started process: it has its own process group, which is killed as a whole, its
//! own limits, an empty standard input, and no descriptors except those three. All forks share what the
//! program did before it opened its input, and its address layout.
//!
//! Only an attempt shows whether a program can be served ([`Server::start`]). A program that is statically
//! linked, has several threads by then, or opens its input in another way cannot.

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

/// The library to preload; empty if it could not be built.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/server.so"));

/// Time limit for a program to open its input.
const PATIENCE: Duration = Duration::from_secs(20);

/// Time limit for a server to end after its connection is closed.
const LAST_WORDS: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Maximum length of the path of a directory for temporary files, including the terminating zero.
const LONGEST_PATH: usize = 4096;

/// Why a program cannot be served. It can be started anew for each run instead.
#[derive(Debug, thiserror::Error)]
pub enum NoServer {
    /// This build contains no library to preload.
    #[error("built without a C compiler")]
    NotBuilt,
    /// The program did not stop on opening its input.
    #[error("it {0}")]
    Unfit(&'static str),
    /// A system call failed.
    #[error("cannot {0}: {1}")]
    Machine(&'static str, io::Error),
}

impl From<NoServer> for io::Error {
    /// Converts to an error with the same kind if a system call failed.
    fn from(error: NoServer) -> io::Error {
        let kind = match &error {
            NoServer::Machine(_, source) => source.kind(),
            NoServer::NotBuilt | NoServer::Unfit(_) => io::ErrorKind::Unsupported,
        };
        io::Error::new(kind, error)
    }
}

/// Resource limits of a fork.
#[derive(Clone, Copy, Debug)]
pub struct ForkLimits {
    /// Bytes of address space; [`u64::MAX`] for no limit.
    pub memory: u64,
    /// Bytes of the largest file that it may write; [`u64::MAX`] for no limit.
    pub file: u64,
    /// Seconds of processor time; [`u64::MAX`] for no limit.
    pub cpu: u64,
}

/// A message from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerMessage {
    Ready,
    Started(i32),
    Ended(i32),
    Failed(i32),
}

/// A program that is stopped on opening its input. Dropping it kills it and its current fork.
///
/// One fork runs at a time: [`fork`](Server::fork), then [`end`](Server::end).
#[derive(Debug)]
pub struct Server {
    process: Child,
    control: OwnedFd,
}

impl Server {
    /// Starts a program and waits until it opens `input`, a path as written in its arguments. The path should
    /// be relative, since each fork has its own directory. Until then the program must not depend on the
    /// command's directory.
    ///
    /// # Errors
    /// [`NoServer`] says why the program cannot be served; the program has then been killed.
    pub fn start(command: &mut Command, input: &str) -> Result<Server, NoServer> {
        if is_preloaded(command) {
            return Err(NoServer::Unfit(
                "has a library of the user's in LD_PRELOAD, which a fork would lack",
            ));
        }
        let library = library()?;
        let (control, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|errno| NoServer::Machine("make a socket", errno.into()))?;
        // The server's end of the socket is its standard input, the only descriptor that it inherits, so that
        // a process started meanwhile by another thread does not inherit it.
        command
            .env(PRELOAD, format!("/proc/{}/fd/{}", std::process::id(), library.as_raw_fd()))
            .env("PTXSMITH_FORK_INPUT", input)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let process = command.spawn().map_err(|error| NoServer::Machine("start it", error))?;
        // Close our copy of the server's end, so that a closed connection is noticed.
        command.stdin(Stdio::null());
        let server = Server { process, control };
        let opens_input = server.is_readable(PATIENCE);
        if !opens_input.map_err(|errno| NoServer::Machine("wait for it", errno.into()))? {
            return Err(NoServer::Unfit("does not open its input"));
        }
        match server.receive() {
            Ok(ServerMessage::Ready) => Ok(server),
            Ok(ServerMessage::Failed(_)) => {
                Err(NoServer::Unfit("has several threads where it opens its input"))
            }
            _ => Err(NoServer::Unfit("ended, or cannot be preloaded")),
        }
    }

    /// Forks the program. The fork continues in this directory, with these outputs and limits, and with
    /// `temporary` as `TMPDIR`. Returns the process of the fork, which leads its own group.
    ///
    /// # Errors
    /// If the server is gone or the system has no more processes. The server is then unusable.
    pub fn fork(
        &mut self,
        directory: BorrowedFd<'_>,
        [stdout, stderr]: [BorrowedFd<'_>; 2],
        temporary: &Path,
        limits: &ForkLimits,
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
            ServerMessage::Started(pid) => Pid::from_raw(pid).ok_or_else(|| io::Error::other("no process")),
            ServerMessage::Failed(errno) => Err(io::Error::from_raw_os_error(errno)),
            other => Err(io::Error::other(format!("the fork server answers {other:?}"))),
        }
    }

    /// Returns a descriptor that becomes readable when the fork and its group have ended.
    pub fn ended(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }

    /// Ends the fork unless it has ended: kills its whole group and reaps it. Returns how it ended.
    ///
    /// # Errors
    /// If the server is gone.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_readable(Duration::ZERO)? {
            // The fork may end just now: the server ignores an order that comes too late.
            self.send(&[0; 32 + LONGEST_PATH], &[])?;
        }
        match self.receive()? {
            ServerMessage::Ended(status) => Ok(ExitStatus::from_raw(status)),
            other => Err(io::Error::other(format!("the fork server answers {other:?}"))),
        }
    }

    /// Returns the private memory of the waiting program in bytes; `None` if the system does not report it.
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

    fn receive(&self) -> io::Result<ServerMessage> {
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
            (8, 1) => Ok(ServerMessage::Ready),
            (8, 2) => Ok(ServerMessage::Started(value)),
            (8, 3) => Ok(ServerMessage::Ended(value)),
            (8, 4) => Ok(ServerMessage::Failed(value)),
            (0, _) => Err(io::Error::other("the fork server is gone")),
            _ => Err(io::Error::other("the fork server does not keep to its protocol")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) else { return };
        // When its client is gone, a server kills the group of its fork, which is separate from its own, and
        // exits.
        let _ = rustix::net::shutdown(&self.control, Shutdown::Both);
        if let Ok(watch) = pidfd_open(pid, PidfdFlags::empty()) {
            let _ = poll(&mut [PollFd::new(&watch, PollFlags::IN)], Some(&LAST_WORDS));
        }
        // Kill a process that is not a server, or no longer one. An error means that it has ended.
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = self.process.wait();
    }
}

const PRELOAD: &str = "LD_PRELOAD";

/// Returns true if the user preloads a library of his own into a program.
fn is_preloaded(command: &Command) -> bool {
    let set = command.get_envs().find(|(name, _)| *name == PRELOAD);
    let value = set.map_or_else(|| std::env::var_os(PRELOAD), |(_, value)| value.map(Into::into));
    value.is_some_and(|value| !value.is_empty())
}

/// Returns the library as a file in memory, which any of our processes can open by its name under `/proc`.
fn library() -> Result<&'static File, NoServer> {
    static FILE: OnceLock<File> = OnceLock::new();
    if LIBRARY.is_empty() {
        return Err(NoServer::NotBuilt);
    }
    if let Some(file) = FILE.get() {
        return Ok(file);
    }
    let file = library_in_memory().map_err(|error| NoServer::Machine("make a file in memory", error))?;
    Ok(FILE.get_or_init(|| file))
}

fn library_in_memory() -> io::Result<File> {
    let mut file = File::from(memfd_create("ptxsmith-forkserver", MemfdFlags::CLOEXEC)?);
    file.write_all(LIBRARY)?;
    Ok(file)
}
