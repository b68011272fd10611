//! A child process that is kept alive and asked one line at a time.
//!
//! The same care as for a child that runs once: a group of its own, limits from outside, pipes that are drained while it
//! works, everything killed at the end. It can answer with anything, at any speed, or not at all: a question ends by its
//! time limit in every case.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, pidfd_open};

use super::{Cancel, End, Error, Group, Invocation, Limits, TICK, restrict, restrict_cpu};

/// How long a child that closed its output may take to end.
const TO_END: Duration = Duration::from_millis(500);
/// Bytes kept of what it prints on standard error: its last words.
const LAST_WORDS: usize = 4096;

/// What came of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A line, without its end.
    Line(Vec<u8>),
    /// More bytes than [`Limits::output`] without the end of a line. The child was killed.
    TooLong,
    /// It ended, or closed its output, without a whole line; how it ended, once it was dead.
    Ended(End),
    /// No whole line came in time. The child was killed.
    TimedOut,
}

/// A child process that answers lines with lines.
#[derive(Debug)]
pub struct Session {
    group: Group,
    pidfd: OwnedFd,
    stdin: OwnedFd,
    stdout: Pipe,
    stderr: Pipe,
    limits: Limits,
    invocation: Invocation,
    started: Instant,
}

/// Our end of a pipe that it writes to.
#[derive(Debug)]
struct Pipe {
    end: OwnedFd,
    bytes: Vec<u8>,
    open: bool,
}

impl Pipe {
    /// Reads what is there now, up to a limit on what is kept unread.
    fn read(&mut self, limit: usize) -> io::Result<()> {
        let mut buffer = [0; 64 << 10];
        while self.open && self.bytes.len() <= limit {
            match rustix::io::read(&self.end, &mut buffer) {
                Ok(0) => self.open = false,
                Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}

impl Session {
    /// Starts the child. [`Limits::time`] is that of one question, [`Limits::output`] that of one answer; memory and file
    /// size are limits of its whole life.
    pub fn start(invocation: Invocation, limits: Limits) -> Result<Session, Error> {
        let failed = |doing| {
            let program = invocation.program.clone();
            move |source: io::Error| Error::Machine { program, doing, source }
        };
        let mut group = Group::spawn(&invocation, Stdio::piped())?;
        restrict(group.pid, &limits).map_err(failed("set its limits"))?;
        let pidfd =
            pidfd_open(group.pid, PidfdFlags::empty()).map_err(|errno| failed("watch it")(errno.into()))?;
        let prepare = |pipe: Option<OwnedFd>| -> io::Result<OwnedFd> {
            let pipe = pipe.ok_or_else(|| io::Error::other("no pipe"))?;
            let flags = fcntl_getfl(pipe.as_fd())?;
            fcntl_setfl(pipe.as_fd(), flags | OFlags::NONBLOCK)?;
            Ok(pipe)
        };
        let pipe = |end: Option<OwnedFd>| -> io::Result<Pipe> {
            Ok(Pipe { end: prepare(end)?, bytes: Vec::new(), open: true })
        };
        let (stdin, stdout, stderr) =
            (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
        let stdin = prepare(stdin.map(Into::into)).map_err(failed("prepare its pipes"))?;
        let stdout = pipe(stdout.map(Into::into)).map_err(failed("prepare its pipes"))?;
        let stderr = pipe(stderr.map(Into::into)).map_err(failed("prepare its pipes"))?;
        Ok(Session { group, pidfd, stdin, stdout, stderr, limits, invocation, started: Instant::now() })
    }

    /// Whether it lives, and has said nothing since its last answer: only then does its next line answer the next
    /// question.
    pub fn is_waiting(&mut self) -> bool {
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let lives = matches!(poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0));
        lives
            && self.stdout.read(self.limits.output).is_ok()
            && self.stdout.open
            && self.stdout.bytes.iter().all(u8::is_ascii_whitespace)
    }

    /// What it last printed on standard error: its last line that is not blank.
    pub fn last_words(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.stderr.bytes);
        let line = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some(line.trim().chars().take(300).collect())
    }

    /// Writes a line, and waits for one. After anything but a line the child is dead.
    pub fn ask(&mut self, line: &[u8], cancel: &Cancel) -> Result<Reply, Error> {
        let name = self.invocation.program.clone();
        let program = || name.clone();
        let failed = |program, doing, source| Error::Machine { program, doing, source };
        let asked = Instant::now();
        // What it may use from its start to the end of this question.
        restrict_cpu(self.group.pid, self.started.elapsed() + self.limits.time)
            .map_err(|source| failed(program(), "set its limits", source))?;
        self.stdout.bytes.clear();
        let mut unsent = line.to_vec();
        unsent.push(b'\n');
        let mut unsent = &unsent[..];
        let mut searched = 0;
        // When to stop, and whether only its end is waited for.
        let (mut until, mut closed) = (asked + self.limits.time, false);
        loop {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled(program()));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let end = self.end().map_err(|source| failed(program(), "wait for it", source))?;
                return Ok(if closed { Reply::Ended(end) } else { Reply::TimedOut });
            }
            let wait = left.min(TICK);
            let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
            let mut fds = vec![PollFd::new(&self.pidfd, PollFlags::IN)];
            for pipe in [&self.stdout, &self.stderr] {
                if pipe.open {
                    fds.push(PollFd::new(&pipe.end, PollFlags::IN));
                }
            }
            if !unsent.is_empty() {
                fds.push(PollFd::new(&self.stdin, PollFlags::OUT));
            }
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(failed(program(), "watch it", errno.into())),
            }
            let ended = !fds[0].revents().is_empty();
            drop(fds);
            while !unsent.is_empty() {
                match rustix::io::write(&self.stdin, unsent) {
                    Ok(count) => unsent = &unsent[count..],
                    Err(Errno::AGAIN | Errno::INTR) => break,
                    // It reads no more; what it still says, or how it ends, is the answer.
                    Err(Errno::PIPE) => unsent = &[],
                    Err(errno) => return Err(failed(program(), "write to it", errno.into())),
                }
            }
            let reading = |source| failed(program(), "read its output", source);
            self.stderr.read(1 << 20).map_err(reading)?;
            let excess = self.stderr.bytes.len().saturating_sub(LAST_WORDS);
            self.stderr.bytes.drain(..excess);
            self.stdout.read(self.limits.output).map_err(reading)?;
            if let Some(end) = self.stdout.bytes[searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.stdout.bytes.split_off(searched + end + 1);
                let mut line = std::mem::replace(&mut self.stdout.bytes, rest);
                line.pop();
                return Ok(Reply::Line(line));
            }
            searched = self.stdout.bytes.len();
            if searched > self.limits.output {
                self.end().map_err(|source| failed(program(), "wait for it", source))?;
                return Ok(Reply::TooLong);
            }
            if ended {
                let end = self.end().map_err(|source| failed(program(), "wait for it", source))?;
                return Ok(Reply::Ended(end));
            }
            if !self.stdout.open && !closed {
                closed = true;
                until = until.min(Instant::now() + TO_END);
            }
        }
    }

    /// Kills it, if it lives, and tells how it ended.
    fn end(&mut self) -> io::Result<End> {
        let status = self.group.end()?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => End::Signalled(signal.unwrap_or(0)),
        })
    }
}
