//! A child process that is kept alive and asked one line at a time.
//!
//! Takes the same precautions as for a child that runs once: its own group, limits from outside, pipes that
//! are drained while it works, everything killed at the end. The child may answer with anything, at any
//! speed, or not at all: every question ends by its time limit.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::child::MonitoredChild;
use super::{Cancel, Invocation, Limits, ProcessEnd, ProcessError};

/// Time for a child that closed its output to end.
const TO_END: Duration = Duration::from_millis(500);
/// Number of bytes of standard error that are kept.
const LAST_WORDS: usize = 4096;

/// The result of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A line, without its line end.
    Line(Vec<u8>),
    /// More than [`Limits::output`] bytes without a line end. The child was killed.
    TooLong,
    /// The child ended, or closed its output and was killed, without a complete line.
    Ended(ProcessEnd),
    /// No complete line in time. The child was killed.
    TimedOut,
}

/// A child process that answers each line with a line.
#[derive(Debug)]
pub struct Session {
    child: MonitoredChild,
    limits: Limits,
    started: Instant,
}

impl Session {
    /// Starts the child. [`Limits::time`] applies to one question ([by its length](Limits::for_text)) and
    /// [`Limits::output`] to one answer; the limits on memory and file size apply to the child's whole life.
    pub fn start(invocation: &Invocation, limits: Limits) -> Result<Session, ProcessError> {
        let child = MonitoredChild::start(invocation, &limits, Stdio::piped())?;
        Ok(Session { child, limits, started: Instant::now() })
    }

    /// Whether the child is alive and has printed nothing since its last answer. Only then can its next line
    /// be taken as the answer to the next question.
    pub fn is_waiting(&mut self) -> bool {
        let lives = !self.child.has_ended();
        let stdout = &mut self.child.stdout;
        lives
            && stdout.read(self.limits.output).is_ok()
            && stdout.open
            && stdout.bytes.iter().all(u8::is_ascii_whitespace)
    }

    /// Returns the last line on standard error that is not blank.
    pub fn last_words(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.child.stderr.bytes);
        let line = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some(line.trim().chars().take(300).collect())
    }

    /// Returns the bytes of an incomplete answer on standard output.
    pub fn unfinished(&self) -> &[u8] {
        &self.child.stdout.bytes
    }

    /// Writes a line and waits for a line. After any other result than a line the child has been killed.
    pub fn ask(&mut self, line: &[u8], cancel: &Cancel) -> Result<Reply, ProcessError> {
        let Limits { time, .. } = self.limits.for_text(line.len());
        self.ask_within(time, line, cancel)
    }

    /// Asks as [`ask`](Session::ask) does, with a given time limit.
    pub fn ask_within(
        &mut self,
        time: Duration,
        line: &[u8],
        cancel: &Cancel,
    ) -> Result<Reply, ProcessError> {
        let asked = Instant::now();
        // The limit on processor time counts from the start of the child, so add this question's time to its
        // age.
        self.child.restrict_cpu(self.started.elapsed() + time)?;
        self.child.stdout.bytes.clear();
        let line = [line, b"\n"].concat();
        let mut unsent = &line[..];
        let mut searched = 0;
        // The deadline, and whether the child has closed its output and only has to end.
        let (mut until, mut closed) = (asked + time, false);
        loop {
            self.child.check(cancel)?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let end = self.child.end()?;
                return Ok(if closed { Reply::Ended(end) } else { Reply::TimedOut });
            }
            let stdin = self.child.stdin.as_ref().filter(|_| !unsent.is_empty());
            let ended = self.child.wait(left, stdin)?;
            self.send(&mut unsent)?;
            self.read()?;
            let stdout = &mut self.child.stdout;
            if let Some(end) = stdout.bytes[searched..].iter().position(|byte| *byte == b'\n') {
                let rest = stdout.bytes.split_off(searched + end + 1);
                let mut line = std::mem::replace(&mut stdout.bytes, rest);
                line.pop();
                return Ok(Reply::Line(line));
            }
            searched = stdout.bytes.len();
            if searched > self.limits.output {
                self.child.end()?;
                return Ok(Reply::TooLong);
            }
            if ended {
                return Ok(Reply::Ended(self.child.end()?));
            }
            if !stdout.open && !closed {
                closed = true;
                until = until.min(Instant::now() + TO_END);
            }
        }
    }

    /// Writes as much as the child accepts now.
    fn send(&self, unsent: &mut &[u8]) -> Result<(), ProcessError> {
        let Some(stdin) = &self.child.stdin else { return Ok(()) };
        while !unsent.is_empty() {
            match rustix::io::write(stdin, unsent) {
                Ok(count) => *unsent = &unsent[count..],
                Err(Errno::AGAIN | Errno::INTR) => break,
                // The child no longer reads; its remaining output, or how it ends, is the answer.
                Err(Errno::PIPE) => *unsent = &[],
                Err(errno) => return Err(self.child.failed("write to it")(errno.into())),
            }
        }
        Ok(())
    }

    /// Reads the output that is available.
    fn read(&mut self) -> Result<(), ProcessError> {
        let MonitoredChild { stdout, stderr, .. } = &mut self.child;
        let read = stderr.read(1 << 20).and_then(|()| stdout.read(self.limits.output));
        stderr.keep_last(LAST_WORDS);
        read.map_err(self.child.failed("read its output"))
    }
}
