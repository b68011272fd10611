//! The tokens of C++ text, comments left out.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Where it begins, in bytes.
    pub offset: usize,
    /// Its line, from 1, where the text's first line is that.
    pub line: u32,
    /// What it says: a word, a number, a whole literal, or one character of punctuation.
    pub text: &'a str,
}

impl Token<'_> {
    /// Whether it is a name or a keyword.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// Whether it is a literal of characters.
    pub fn is_quoted(&self) -> bool {
        self.text.ends_with(['"', '\''])
    }
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut place, mut line) = (0, 1);
    while let Some(&byte) = bytes.get(place) {
        let rest = &text[place..];
        let is_space = byte.is_ascii_whitespace() || byte == b'\\';
        let length = match byte {
            _ if is_space => 1,
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            byte if byte.is_ascii_digit() => number(rest),
            _ => literal(rest)
                .or_else(|| word(rest))
                .unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8)),
        };
        if !is_space && !rest.starts_with("//") && !rest.starts_with("/*") {
            found.push(Token { offset: place, line, text: &rest[..length] });
        }
        line += bytes[place..place + length].iter().filter(|&&byte| byte == b'\n').count() as u32;
        place += length;
    }
    found
}

/// How long the number is that begins here; a quote between digits belongs to it.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_part = |index: usize| {
        let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_alphanumeric);
        digit(index)
            || matches!(bytes.get(index), Some(b'.' | b'_'))
            || bytes.get(index) == Some(&b'\'') && digit(index + 1)
    };
    (1..).find(|&index| !is_part(index)).unwrap_or(text.len())
}

/// How long the literal of characters is that begins here, with its prefix.
fn literal(text: &str) -> Option<usize> {
    let prefix = ["u8R", "LR", "uR", "UR", "R", "u8", "L", "u", "U", ""]
        .into_iter()
        .find(|prefix| text.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['"', '\''])))?;
    let rest = &text[prefix.len()..];
    if prefix.ends_with('R') {
        let delimiter = rest.strip_prefix('"')?.split('(').next()?;
        let end = format!("){delimiter}\"");
        return Some(text.find(&end).map_or(text.len(), |at| at + end.len()));
    }
    let bytes = rest.as_bytes();
    let mut place = 1;
    // What has no end ends with its line.
    while bytes.get(place).is_some_and(|&byte| byte != bytes[0] && byte != b'\n') {
        place += if bytes[place] == b'\\' { 2 } else { 1 };
    }
    let end = prefix.len() + (place + usize::from(bytes.get(place) == bytes.first())).min(rest.len());
    Some((end..=text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len()))
}

fn word(text: &str) -> Option<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match text.bytes().position(|byte| !is_part(&byte)).unwrap_or(text.len()) {
        0 => None,
        length => Some(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_tokens_and_literals_are_one_each() {
        let text = "int a[/* sizeof( */ k]; // k\n\"k\" 'k' R\"x(k\")x\" L\"\\\"\" 1'000'0u k1 \u{e4}";
        let texts: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
        let second = ["\"k\"", "'k'", "R\"x(k\")x\"", "L\"\\\"\"", "1'000'0u", "k1", "\u{e4}"];
        assert_eq!(texts, [&["int", "a", "[", "k", "]", ";"][..], &second].concat());
        assert_eq!(tokens(text).iter().map(|token| token.line).max(), Some(2));
        assert_eq!(tokens("\"no end\nk '").len(), 3);
        assert_eq!(tokens("/* no end").len(), 0);
    }
}
