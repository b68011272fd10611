//! A child process that is kept alive and asked one line at a time.
//!
//! The same care as for a child that runs once: a group of its own, limits from outside, pipes that are drained while it
//! works, everything killed at the end. It can answer with anything, at any speed, or not at all: a question ends by its
//! time limit in every case.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::child::Attended;
use super::{Cancel, End, Error, Invocation, Limits};

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
    child: Attended,
    limits: Limits,
    started: Instant,
}

impl Session {
    /// Starts the child. [`Limits::time`] is that of one question ([by its length](Limits::for_text)), [`Limits::output`] that of one answer; memory and file
    /// size are limits of its whole life.
    pub fn start(invocation: &Invocation, limits: Limits) -> Result<Session, Error> {
        let child = Attended::start(invocation, &limits, Stdio::piped())?;
        Ok(Session { child, limits, started: Instant::now() })
    }

    /// Whether it lives, and has said nothing since its last answer: only then does its next line answer the next
    /// question.
    pub fn is_waiting(&mut self) -> bool {
        let lives = !self.child.has_ended();
        let stdout = &mut self.child.stdout;
        lives
            && stdout.read(self.limits.output).is_ok()
            && stdout.open
            && stdout.bytes.iter().all(u8::is_ascii_whitespace)
    }

    /// What it last printed on standard error: its last line that is not blank.
    pub fn last_words(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.child.stderr.bytes);
        let line = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some(line.trim().chars().take(300).collect())
    }

    /// What it printed on standard output of an answer that did not come to its end.
    pub fn unfinished(&self) -> &[u8] {
        &self.child.stdout.bytes
    }

    /// Writes a line, and waits for one. After anything but a line the child is dead.
    pub fn ask(&mut self, line: &[u8], cancel: &Cancel) -> Result<Reply, Error> {
        let Limits { time, .. } = self.limits.for_text(line.len());
        self.ask_within(time, line, cancel)
    }

    /// The same, with a time of its own.
    pub fn ask_within(&mut self, time: Duration, line: &[u8], cancel: &Cancel) -> Result<Reply, Error> {
        let asked = Instant::now();
        // What it may use from its start to the end of this question.
        self.child.restrict_cpu(self.started.elapsed() + time)?;
        self.child.stdout.bytes.clear();
        let line = [line, b"\n"].concat();
        let mut unsent = &line[..];
        let mut searched = 0;
        // When to stop, and whether only its end is waited for.
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

    /// Writes as much as it takes now.
    fn send(&self, unsent: &mut &[u8]) -> Result<(), Error> {
        let Some(stdin) = &self.child.stdin else { return Ok(()) };
        while !unsent.is_empty() {
            match rustix::io::write(stdin, unsent) {
                Ok(count) => *unsent = &unsent[count..],
                Err(Errno::AGAIN | Errno::INTR) => break,
                // It reads no more; what it still says, or how it ends, is the answer.
                Err(Errno::PIPE) => *unsent = &[],
                Err(errno) => return Err(self.child.failed("write to it")(errno.into())),
            }
        }
        Ok(())
    }

    /// Reads what it has written.
    fn read(&mut self) -> Result<(), Error> {
        let Attended { stdout, stderr, .. } = &mut self.child;
        let read = stderr.read(1 << 20).and_then(|()| stdout.read(self.limits.output));
        stderr.keep_last(LAST_WORDS);
        read.map_err(self.child.failed("read its output"))
    }
}
