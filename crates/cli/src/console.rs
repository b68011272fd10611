//! Terminal output, with control characters removed.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Reset, Style};
use ptxsmith_campaign::Failure;

pub use ptxsmith_report::harmless::line;

use crate::interrupt;

/// Style of headings and names.
pub const BOLD: Style = Style::new().bold();
/// Style of errors and deviations.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Style of conforming results.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Style of notes and of expected differences.
pub const NOTE: Style = AnsiColor::Yellow.on_default();
/// Ends a style.
pub const END: Reset = Reset;

/// Writes messages and results to the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// If true, progress and notes are not shown.
    pub quiet: bool,
    /// Whether to write colors and other styles.
    pub color: ColorChoice,
}

impl Console {
    /// Writes a result to standard output.
    ///
    /// A closed pipe (`| head`) is not an error: the command continues, so that its files are written and its
    /// exit status does not change.
    pub fn print(&self, text: &str) -> io::Result<()> {
        match self.try_print(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// Writes to standard output. A closed pipe is an error like any other.
    pub fn try_print(&self, text: &str) -> io::Result<()> {
        let mut out = AutoStream::new(io::stdout().lock(), self.color_of(&io::stdout()));
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|error| io::Error::new(error.kind(), format!("cannot write standard output: {error}")))
    }

    /// Shows a note on standard error, unless [`Console::quiet`] is set.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.message(NOTE, "note", message);
        }
    }

    /// Shows an error message on standard error.
    pub fn error(&self, message: &str) {
        self.message(BAD, "error", message);
    }

    /// Shows why a command failed.
    pub fn failure(&self, failure: &Failure) {
        match failure {
            Failure::BadInput(message) => self.error(message),
            // The message of `NoSubject` has several lines: the error, then the request to the subject and
            // its response.
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

    /// Writes to standard error. A failure is ignored, since it cannot be reported anywhere else.
    pub fn stderr(&self, text: &str) {
        let mut err = AutoStream::new(io::stderr().lock(), self.color_of(&io::stderr()));
        let _ = err.write_all(text.as_bytes());
    }

    fn color_of(&self, stream: &impl anstream::stream::RawStream) -> ColorChoice {
        match self.color {
            // `choice` considers NO_COLOR, CLICOLOR, TERM and whether the stream is a terminal.
            ColorChoice::Auto => AutoStream::choice(stream),
            fixed => fixed,
        }
    }
}
