//! What goes to the terminal, and what a terminal must not act upon.

use std::borrow::Cow;
use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// Headings and names.
pub const BOLD: Style = Style::new().bold();
/// What deviates, and errors.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// What conforms.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What was expected to differ, and notes.
pub const NOTE: Style = AnsiColor::Yellow.on_default();

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

    /// Says what went wrong, in a form that is complete.
    pub fn rendered(&self, message: &str) {
        self.stderr(message);
    }

    fn message(&self, style: Style, kind: &str, message: &str) {
        self.stderr(&format!("{style}{kind}:{style:#} {}\n", line(message)));
    }

    /// There is nobody left to tell where standard error cannot be written.
    fn stderr(&self, text: &str) {
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

/// The text on one line, harmless to a terminal: whatever a file name, a program or a tool puts into a message.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\t')
}

/// The text with its line breaks, otherwise harmless to a terminal.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\t' | '\n'))
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let acts = |c: char| (c.is_control() || reorders(c)) && !keep(c);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Characters that hide themselves or reorder their neighbours.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_upon_is_escaped() {
        assert_eq!(line("a\u{1b}[2J\nb\u{202e}é\u{9b}"), "a\\u{1b}[2J\\nb\\u{202e}é\\u{9b}");
        assert_eq!(lines("a\u{7}\n\tb\r"), "a\\u{7}\n\tb\\r");
        assert!(matches!(line("plain\ttext"), Cow::Borrowed(_)));
    }
}
