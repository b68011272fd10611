//! What goes to the terminal, without what a terminal must not act upon.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Reset, Style};
use ptxsmith_campaign::Failure;

pub use ptxsmith_report::harmless::line;

use crate::interrupt;

/// Headings and names.
pub const BOLD: Style = Style::new().bold();
/// What deviates, and errors.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// What conforms.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What was expected to differ, and notes.
pub const NOTE: Style = AnsiColor::Yellow.on_default();
/// Where a style ends.
pub const END: Reset = Reset;

/// Where messages and results go.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// No progress and no notes.
    pub quiet: bool,
    /// Whether styles are kept.
    pub color: ColorChoice,
}

impl Console {
    /// Writes a result to standard output.
    ///
    /// A reader that has seen enough (`| head`) is no failure: the command goes on, so that its files are written and
    /// its exit status is what it would have been.
    pub fn print(&self, text: &str) -> io::Result<()> {
        match self.try_print(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// Writes to standard output; a closed pipe is an error like any other.
    pub fn try_print(&self, text: &str) -> io::Result<()> {
        let mut out = AutoStream::new(io::stdout().lock(), self.color_of(&io::stdout()));
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|error| io::Error::new(error.kind(), format!("cannot write standard output: {error}")))
    }

    /// Says something that is no result, unless it should be quiet.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.message(NOTE, "note", message);
        }
    }

    /// Says what went wrong.
    pub fn error(&self, message: &str) {
        self.message(BAD, "error", message);
    }

    /// Says why something could not be done.
    pub fn failure(&self, failure: &Failure) {
        match failure {
            Failure::BadInput(message) => self.error(message),
            // What a subject was asked and what it said stands on lines of its own.
            Failure::NoSubject(message) => {
                let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
                self.error(first);
                for more in rest.lines() {
                    self.stderr(&format!("{}\n", line(more)));
                }
            }
            Failure::Rendered(text) => self.stderr(text),
            Failure::Harness(error) => self.error(&format!("{error:#}")),
            Failure::Interrupted => self.error(&format!("stopped by {}", interrupt::name())),
        }
    }

    fn message(&self, style: Style, kind: &str, message: &str) {
        self.stderr(&format!("{style}{kind}:{style:#} {}\n", line(message)));
    }

    /// Writes to standard error. Where that fails there is no other place to report it.
    pub fn stderr(&self, text: &str) {
        let mut err = AutoStream::new(io::stderr().lock(), self.color_of(&io::stderr()));
        let _ = err.write_all(text.as_bytes());
    }

    fn color_of(&self, stream: &impl anstream::stream::RawStream) -> ColorChoice {
        match self.color {
            // Looks at NO_COLOR, CLICOLOR, TERM and whether it is a terminal.
            ColorChoice::Auto => AutoStream::choice(stream),
            fixed => fixed,
        }
    }
}
