//! Source spans, and names with their spans.

use crate::Text;

/// A byte range in the source of a tree.
///
/// All spans compare equal, so two trees are equal if they spell the same program, wherever it was in the source. A tree
/// that was built rather than parsed has [`Span::NONE`] throughout.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span of a node that was built rather than parsed.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// Returns true if the span refers to the source.
    pub fn is_known(self) -> bool {
        self.end > 0
    }

    /// The span from the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl std::hash::Hash for Span {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// A name and its source span.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The name as written.
    pub text: Text,
    /// The source span.
    pub span: Span,
}

impl Name {
    /// Creates a name without a source span.
    pub fn new(text: impl Into<Text>) -> Name {
        Name { text: text.into(), span: Span::NONE }
    }
}

/// An index of line starts, to convert many byte offsets without rescanning the source.
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    text: &'t [u8],
    /// The offset of the first byte of each line.
    starts: Vec<u32>,
    /// The number of characters before every [`STRIDE`]th byte. Empty for ASCII source, where each byte is a character.
    characters: Vec<u32>,
}

/// The number of bytes between two character counts, which bounds the scan for a column.
const STRIDE: usize = 256;

impl<'t> Lines<'t> {
    /// Builds the index in one pass.
    pub fn new(text: &'t str) -> Lines<'t> {
        let bytes = text.as_bytes();
        let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect();
        let mut characters = Vec::new();
        if !text.is_ascii() {
            let mut before = 0;
            for block in bytes.chunks(STRIDE) {
                characters.push(before);
                before += characters_in(block);
            }
        }
        Lines { text: bytes, starts, characters }
    }

    /// The 1-based line of a byte offset; offsets past the end count as the end.
    pub fn line(&self, offset: u32) -> u32 {
        let offset = offset.min(self.text.len() as u32);
        self.starts.partition_point(|&start| start <= offset) as u32
    }

    /// The 1-based line and column (in characters) of a byte offset; offsets past the end count as the end.
    pub fn place(&self, offset: u32) -> (u32, u32) {
        let mut offset = (offset as usize).min(self.text.len());
        while self.text.get(offset).is_some_and(|&byte| !begins_character(byte)) {
            offset -= 1;
        }
        let line = self.line(offset as u32);
        let start = self.starts[line as usize - 1] as usize;
        (line, self.characters_before(offset) - self.characters_before(start) + 1)
    }

    fn characters_before(&self, offset: usize) -> u32 {
        if self.characters.is_empty() {
            return offset as u32;
        }
        let block = (offset / STRIDE).min(self.characters.len() - 1);
        self.characters[block] + characters_in(&self.text[block * STRIDE..offset])
    }
}

/// Whether a byte is the first one of a character in UTF-8.
fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

fn characters_in(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| begins_character(byte)).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let place = |text: &str, offset| Lines::new(text).place(offset);
        assert_eq!(place("ab\ncd", 0), (1, 1));
        assert_eq!(place("ab\ncd", 4), (2, 2));
        assert_eq!(place("é\né!", 5), (2, 2));
        assert_eq!(place("ab", 99), (1, 3));
    }
    /// Blocks of 256 bytes begin and end within characters of two, three and four bytes.
    #[test]
    fn places_of_one_table_are_those_that_counting_from_the_start_gives() {
        let texts = [
            "",
            "\n",
            "a\nb\n\nc",
            &"é\n\u{20ac}x\u{1f600}yz".repeat(200),
            &"é".repeat(700),
            &"ab\n".repeat(300),
        ];
        for text in texts {
            let lines = Lines::new(text);
            for offset in 0..text.len() as u32 + 2 {
                let mut end = (offset as usize).min(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                let line = text[..end].matches('\n').count() as u32 + 1;
                let column = text[..end].chars().rev().take_while(|&c| c != '\n').count() as u32 + 1;
                assert_eq!(lines.place(offset), (line, column), "{offset} in {text:?}");
                assert_eq!(lines.line(offset), line);
            }
        }
    }
}
