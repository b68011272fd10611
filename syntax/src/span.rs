//! Places in a source text, and names with theirs.

use crate::Text;

/// A range of bytes in the text that a tree was parsed from.
///
/// Spans say where something stood, not what it says, so they take no part in equality: two trees are equal
/// when they spell the same program. A tree that was not parsed carries [`Span::NONE`] throughout.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The span of something that was made rather than parsed.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// Whether it stood anywhere.
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

/// A name and where it stood.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The name as it is written.
    pub text: Text,
    /// Where it stood.
    pub span: Span,
}

impl Name {
    /// A name that was made rather than parsed.
    pub fn new(text: impl Into<Text>) -> Name {
        Name { text: text.into(), span: Span::NONE }
    }
}

/// The 1-based line and column (in characters) of a byte offset; offsets past the end count as the end.
pub fn line_column(text: &str, offset: u32) -> (u32, u32) {
    let mut offset = (offset as usize).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.bytes().filter(|&b| b == b'\n').count() as u32 + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        assert_eq!(line_column("ab\ncd", 0), (1, 1));
        assert_eq!(line_column("ab\ncd", 4), (2, 2));
        assert_eq!(line_column("é\né!", 5), (2, 2));
        assert_eq!(line_column("ab", 99), (1, 3));
    }
}
