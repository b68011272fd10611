//! Splits C++ text into tokens, without comments.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CppToken<'a> {
    /// The offset of the first byte.
    pub offset: usize,
    /// The number of the line within the text, from 1.
    pub line: u32,
    /// A word, a number, a whole literal, or one character of punctuation.
    pub text: &'a str,
}

impl CppToken<'_> {
    /// Whether the token is a name or a keyword.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// Whether the token is a string or a character literal.
    pub fn is_quoted(&self) -> bool {
        self.text.ends_with(['"', '\''])
    }
}

/// Returns the tokens of a text.
pub fn tokens(text: &str) -> Vec<CppToken<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut offset = 0;
    let mut line = 1;
    while let Some(&byte) = bytes.get(offset) {
        let rest = &text[offset..];
        let is_space = byte.is_ascii_whitespace() || byte == b'\\';
        let length = match byte {
            _ if is_space => 1,
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            byte if byte.is_ascii_digit() => number_length(rest),
            _ => literal_length(rest)
                .or_else(|| word_length(rest))
                .unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8)),
        };
        if !is_space && !rest.starts_with("//") && !rest.starts_with("/*") {
            tokens.push(CppToken { offset, line, text: &rest[..length] });
        }
        line += bytes[offset..offset + length].iter().filter(|&&byte| byte == b'\n').count() as u32;
        offset += length;
    }
    tokens
}

/// Returns the length of the number at the beginning of a text. A quote between digits is part of the number.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    (1..).find(|&index| !is_part_of_number(bytes, index)).unwrap_or(text.len())
}

fn is_part_of_number(text: &[u8], index: usize) -> bool {
    match text.get(index) {
        Some(b'.' | b'_') => true,
        Some(b'\'') => text.get(index + 1).is_some_and(u8::is_ascii_alphanumeric),
        Some(byte) => byte.is_ascii_alphanumeric(),
        None => false,
    }
}

/// Returns the length of the string or character literal at the beginning of a text, including its prefix.
fn literal_length(text: &str) -> Option<usize> {
    let prefix = ["u8R", "LR", "uR", "UR", "R", "u8", "L", "u", "U", ""]
        .into_iter()
        .find(|prefix| text.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['"', '\''])))?;
    let rest = &text[prefix.len()..];
    if prefix.ends_with('R') {
        let delimiter = rest.strip_prefix('"')?.split('(').next()?;
        let end = format!("){delimiter}\"");
        return Some(text.find(&end).map_or(text.len(), |begin| begin + end.len()));
    }
    let bytes = rest.as_bytes();
    let mut index = 1;
    // A literal without a closing quote ends with its line.
    while bytes.get(index).is_some_and(|&byte| byte != bytes[0] && byte != b'\n') {
        index += if bytes[index] == b'\\' { 2 } else { 1 };
    }
    let end = prefix.len() + (index + usize::from(bytes.get(index) == bytes.first())).min(rest.len());
    Some((end..=text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len()))
}

/// Returns the length of the word at the beginning of a text.
fn word_length(text: &str) -> Option<usize> {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_');
    match end.unwrap_or(text.len()) {
        0 => None,
        length => Some(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_a_literal_is_one_token() {
        let text = "int a[/* sizeof( */ k]; // k\n\"k\" 'k' R\"x(k\")x\" L\"\\\"\" 1'000'0u k1 \u{e4}";
        let texts: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
        let second = ["\"k\"", "'k'", "R\"x(k\")x\"", "L\"\\\"\"", "1'000'0u", "k1", "\u{e4}"];
        assert_eq!(texts, [&["int", "a", "[", "k", "]", ";"][..], &second].concat());
        assert_eq!(tokens(text).iter().map(|token| token.line).max(), Some(2));
        assert_eq!(tokens("\"no end\nk '").len(), 3);
        assert_eq!(tokens("/* no end").len(), 0);
    }
}
