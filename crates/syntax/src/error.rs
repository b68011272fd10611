//! Errors for source that is not a PTX module.

use std::fmt::Write;

use crate::{
    Text,
    span::{Lines, Span},
};

/// Why and where the source failed to parse.
///
/// `Display` gives the message alone; [`ParseError::render`] adds the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ParseError {
    /// The kind of error.
    pub kind: ParseErrorKind,
    /// The unexpected token, or the start of an unterminated string or comment.
    pub span: Span,
}

/// The kinds of parse errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The parser expected another token.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The expected token, in words: "`;`", "a name".
        expected: &'static str,
        /// The token found instead, shortened and safe to print.
        found: Text,
    },
    /// A character that starts no token.
    #[error("unexpected character `{}`", .0.escape_default())]
    UnexpectedCharacter(char),
    /// A string without a closing quote on its line.
    #[error("the string has no closing quote on its line")]
    UnterminatedString,
    /// A block comment without an end.
    #[error("the comment has no end")]
    UnterminatedComment,
    /// More levels of parentheses, prefix operators, conditionals, braces and blocks than
    /// [`MAX_NESTING`].
    #[error("nested more than {} levels deep", MAX_NESTING)]
    TooDeep,
    /// The source is too large for the 32-bit offsets of spans.
    #[error("the text is 4 GiB or larger")]
    TooLarge,
}

/// The nesting limit, for parentheses, prefix operators, conditionals, initializer braces and blocks together.
///
/// Visitors and destructors recurse through declarations and blocks, so the depth has to be limited. A single limit for
/// all constructs is easy to respect. Chains of infix operators do not count and may have any length.
pub const MAX_NESTING: usize = 256;

/// The longest part of a source line that a message shows, in characters.
const WINDOW: usize = 120;

impl ParseError {
    /// Renders the error as `file:line:column: error: message`, the source line, and a marker below the span.
    ///
    /// Shortens a long line with `...` and replaces characters that a terminal would interpret, so the result is safe to
    /// print for any input. `text` must be the source that was parsed.
    ///
    /// ```
    /// let text = ".version 7.8\n.global .s32 x }\n";
    /// let error = ptxsmith_syntax::parse(text).unwrap_err();
    /// assert_eq!(
    ///     error.render("a.ptx", text),
    ///     "a.ptx:2:16: error: expected `;`, found `}`\n.global .s32 x }\n               ^\n"
    /// );
    /// ```
    pub fn render(&self, file: &str, text: &str) -> String {
        let (line, column) = Lines::new(text).place(self.span.start);
        let mut out = format!("{file}:{line}:{column}: error: {self}\n");

        let mut start = (self.span.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let (before, after) = (&text[line_start..start], text[start..line_end].trim_end_matches('\r'));

        // Show the error a third into the window: the code after its start explains more than the code before it.
        let column = column as usize - 1;
        let length = column + after.chars().take(WINDOW + 1).count();
        let first = if length <= WINDOW { 0 } else { column.saturating_sub(WINDOW / 3) };
        if first > 0 {
            out.push_str("...");
        }
        let shown = before.chars().skip(first).chain(after.chars()).take(WINDOW);
        out.extend(shown.map(harmless));
        if length > first + WINDOW {
            out.push_str("...");
        }
        out.push('\n');

        let margin = column - first + if first > 0 { 3 } else { 0 };
        let marked = (self.span.end.saturating_sub(self.span.start) as usize).min(after.len());
        let marked =
            after.char_indices().take_while(|&(at, _)| at < marked).take(WINDOW - (column - first)).count();
        let _ = writeln!(out, "{:margin$}{:^<width$}", "", "", width = marked.max(1));
        out
    }
}

/// Returns a character that is safe to print in a terminal; Latin characters occupy one column. Tabs become spaces;
/// control, invisible and bidirectional characters become U+FFFD.
fn harmless(c: char) -> char {
    match c {
        '\t' => ' ',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            '\u{fffd}'
        }
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use crate::{parse, parse_expr};

    fn error(text: &str) -> super::ParseError {
        parse(text).map_or_else(|error| error, |module| module.unread().next().unwrap().error.clone())
    }

    fn rendered(text: &str) -> String {
        error(text).render("a.ptx", text)
    }

    #[test]
    fn messages_name_the_expected_and_the_found_token() {
        let message = |text| parse_expr(text).unwrap_err().to_string();
        assert_eq!(message("1 +"), "expected an expression, found the end of the text");
        assert_eq!(message("(1 ]"), "expected `)`, found `]`");
        assert_eq!(message("1 ? 2"), "expected `:`, found the end of the text");
        assert_eq!(message("(.f64)1"), "expected `.s64` or `.u64`, found `.f64`");
        assert_eq!(message("1 \u{1b}"), "unexpected character `\\u{1b}`");
        assert_eq!(message("/* 1"), "the comment has no end");
        assert_eq!(message("\"1\n\""), "the string has no closing quote on its line");
        assert_eq!(message(&"(".repeat(1000)), "nested more than 256 levels deep");
    }

    #[test]
    fn a_long_token_is_shortened_and_made_safe() {
        let error = parse_expr(&format!("1 \"\u{1b}[2J{}\"", "x".repeat(1_000_000))).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("expected the end of the text, found `\"\\u{1b}[2Jxxx"), "{message}");
        assert!(message.len() < 120, "{message}");
    }

    #[test]
    fn the_whole_token_is_marked() {
        assert_eq!(
            rendered(".version 7.8\r\n.target\t12345\r\n"),
            "a.ptx:2:9: error: expected the name of a target, found `12345`\n.target 12345\n        ^^^^^\n"
        );
    }

    #[test]
    fn the_end_of_the_text_is_a_place() {
        assert_eq!(
            rendered(".global .s32 x"),
            "a.ptx:1:15: error: expected `;`, found the end of the text\n.global .s32 x\n              ^\n"
        );
        assert_eq!(
            rendered(".global .s32 x\n"),
            "a.ptx:2:1: error: expected `;`, found the end of the text\n\n^\n"
        );
    }

    #[test]
    fn a_line_of_a_megabyte_is_shown_around_the_place() {
        let many = "1, ".repeat(400_000);
        let text = format!(".global .s32 x[] = {{{many}], {many}}};\n");
        let rendered = rendered(&text);
        let [_, line, marker] = rendered.lines().collect::<Vec<_>>()[..] else { panic!("{rendered}") };
        assert_eq!(line.len(), 126, "{line}");
        assert_eq!(&line[marker.find('^').unwrap()..][..1], "]", "{rendered}");

        let text = format!(".global .s32 x[] = {{ ], {many}}};\n");
        let rendered = self::rendered(&text);
        let [_, line, marker] = rendered.lines().collect::<Vec<_>>()[..] else { panic!("{rendered}") };
        assert_eq!(line.len(), 123, "{line}");
        assert_eq!(&line[marker.find('^').unwrap()..][..1], "]", "{rendered}");
    }

    #[test]
    fn terminal_control_characters_are_replaced() {
        let text = ".file 1 \"\u{1b}[2J\u{202e}\u{9b}é\" ]\n";
        let rendered = rendered(text);
        assert!(rendered.contains(".file 1 \"\u{fffd}[2J\u{fffd}\u{fffd}é\" ]\n"), "{rendered}");
    }

    #[test]
    fn a_text_that_was_not_parsed_does_no_harm() {
        let error = error(&format!("{}]", "\n".repeat(50)));
        assert_eq!(error.render("a.ptx", "é").lines().count(), 3);
    }
}
