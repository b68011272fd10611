//! Text of others, made harmless to a terminal.

use std::borrow::{Borrow, Cow};

use indicatif::HumanCount;

/// The text on one line, harmless to a terminal: whatever a file name, a program or a tool puts into a message.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\t')
}

/// The text with its line breaks, otherwise harmless to a terminal.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\t' | '\n'))
}

/// A number as people read it: `12,345`.
pub fn count(of: impl Borrow<u64>) -> HumanCount {
    HumanCount(*of.borrow())
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
