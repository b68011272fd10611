//! Escapes untrusted text so that it cannot control a terminal.

use std::borrow::{Borrow, Cow};

use indicatif::HumanCount;

/// Escapes a text for one line of a terminal: a file name, a part of a program, or a tool's message.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\t')
}

/// Escapes a text for a terminal but keeps its line breaks.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\t' | '\n'))
}

/// Replaces the characters in a JSON text that control a terminal or hide or reorder others by escape sequences. The value of the JSON
/// stays the same.
pub fn json(text: String) -> String {
    let acts = |c: char| (c.is_control() && c != '\n') || reorders(c);
    let Some(first) = text.find(acts) else { return text };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match acts(c) {
            // One `\u` escape is enough, because all of these characters are in the Basic Multilingual Plane.
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

/// Cuts a text after `most` characters and appends its size in bytes. A text that is only slightly longer is kept.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((at, _)) if text.len() - at > 40 => {
            Cow::Owned(format!("{}... ({} bytes)", &text[..at], HumanCount(text.len() as u64)))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Formats a number with separators: `12,345`.
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

/// Whether a character is invisible or reorders its neighbours.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_the_same_without_characters_that_act() {
        let text = "{\"a\": \"x\u{202e}y\u{9b}\u{7f}é\"}\n";
        let safe = json(text.to_owned());
        assert_eq!(safe, "{\"a\": \"x\\u202ey\\u009b\\u007fé\"}\n");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&safe), value(text));
    }

    #[test]
    fn a_long_text_is_cut_with_its_size() {
        assert_eq!(cut(&"é".repeat(600), 3), "ééé... (1,200 bytes)");
        assert_eq!(cut("short", 3), "short");
    }

    #[test]
    fn what_a_terminal_would_act_upon_is_escaped() {
        assert_eq!(line("a\u{1b}[2J\nb\u{202e}é\u{9b}"), "a\\u{1b}[2J\\nb\\u{202e}é\\u{9b}");
        assert_eq!(lines("a\u{7}\n\tb\r"), "a\\u{7}\n\tb\\r");
        assert!(matches!(line("plain\ttext"), Cow::Borrowed(_)));
    }
}
