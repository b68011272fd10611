//! Escapes untrusted text and JSON so that they cannot control a terminal, and shortens texts and numbers for
//! people.

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

/// Replaces the characters in a JSON text that control a terminal or hide or reorder others by escape
/// sequences. The value of the JSON stays the same.
pub fn json(text: String) -> String {
    let Some(first) = text.find(is_harmful_in_json) else { return text };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_harmful_in_json(c) {
            // One `\u` escape is enough, because all of these characters are in the Basic Multilingual Plane.
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

fn is_harmful_in_json(c: char) -> bool {
    c != '\n' && is_harmful(c)
}

/// Cuts a text after `most` characters and appends its size in bytes. A text that is only slightly longer is
/// kept.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) if text.len() - end > 40 => {
            Cow::Owned(format!("{}... ({} bytes)", &text[..end], HumanCount(text.len() as u64)))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Formats a number with separators: `12,345`.
pub fn count(number: impl Borrow<u64>) -> HumanCount {
    HumanCount(*number.borrow())
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_harmful(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_harmful(c) && !keep(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a character controls a terminal, is invisible, or reorders its neighbours.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_has_the_same_value_and_no_harmful_characters() {
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
    fn characters_that_control_a_terminal_are_escaped() {
        assert_eq!(line("a\u{1b}[2J\nb\u{202e}é\u{9b}"), "a\\u{1b}[2J\\nb\\u{202e}é\\u{9b}");
        assert_eq!(lines("a\u{7}\n\tb\r"), "a\\u{7}\n\tb\\r");
        assert!(matches!(line("plain\ttext"), Cow::Borrowed(_)));
    }
}
