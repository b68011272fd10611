//! Splits any text into tokens, whether or not it is PTX.
//!
//! The lexer of `ptxsmith-syntax` rejects invalid tokens, but the text to be reduced may contain them. This
//! lexer accepts everything.

/// A token, and the gap before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPiece<'t> {
    /// The white space and comments before the token.
    pub(crate) gap: &'t str,
    /// The characters of the token; empty only for the last piece of a text that ends in a gap.
    pub(crate) text: &'t str,
}

/// Splits a text into pieces. Joining the gaps and texts of all pieces gives the original text.
pub(crate) fn pieces(text: &str) -> Vec<TextPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (gap, behind) = rest.split_at(gap_length(rest));
        let (text, behind) = behind.split_at(token_length(behind));
        pieces.push(TextPiece { gap, text });
        rest = behind;
    }
    pieces
}

/// Returns the number of tokens in a text.
pub(crate) fn count(text: &str) -> usize {
    pieces(text).iter().filter(|piece| !piece.text.is_empty()).count()
}

fn gap_length(text: &str) -> usize {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        rest = if trimmed.starts_with("//") {
            trimmed.find('\n').map_or("", |end| &trimmed[end..])
        } else if let Some(end) = trimmed.strip_prefix("/*").and_then(|comment| comment.find("*/")) {
            &trimmed[end + 4..]
        } else {
            return text.len() - trimmed.len();
        };
    }
}

fn token_length(text: &str) -> usize {
    const PAIRS: [&str; 9] = ["::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"];
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (None, _) => 0,
        (Some(first), _) if first.is_ascii_digit() => {
            // Numbers follow the rules of the C preprocessor.
            let mut end = end_of_number(text, 1);
            while text[..end].ends_with(['e', 'E'])
                && !text.starts_with("0x")
                && text[end..].starts_with(['+', '-'])
            {
                end = end_of_number(text, end + 1);
            }
            end
        }
        (Some('.' | '%' | '$'), Some(second)) if is_word(second) => end_of_word(text, 1),
        (Some(first), _) if is_word(first) => end_of_word(text, first.len_utf8()),
        (Some('"'), _) => {
            let line = text.find('\n').unwrap_or(text.len());
            text[1..line].find('"').map_or(1, |length| length + 2)
        }
        (Some(_), _) if PAIRS.iter().any(|pair| text.starts_with(pair)) => 2,
        (Some(first), _) => first.len_utf8(),
    }
}

/// Returns the end of the word that begins at or before `from`.
fn end_of_word(text: &str, from: usize) -> usize {
    text[from..].find(|c| !is_word(c)).map_or(text.len(), |length| from + length)
}

/// Returns the end of the digits, letters and points from `from` on.
fn end_of_number(text: &str, from: usize) -> usize {
    text[from..].find(|c| !is_word(c) && c != '.').map_or(text.len(), |length| from + length)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<&str> {
        let pieces = pieces(text);
        assert_eq!(
            pieces.iter().map(|piece| format!("{}{}", piece.gap, piece.text)).collect::<String>(),
            text
        );
        pieces.iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn tokens_are_those_of_ptx() {
        assert_eq!(
            tokens(".b8 a[]={%r1<<1.5e-3};"),
            [".b8", "a", "[", "]", "=", "{", "%r1", "<<", "1.5e-3", "}", ";"]
        );
        assert_eq!(tokens("a /* b */ // c\n$d \"e f\" "), ["a", "$d", "\"e f\"", ""]);
    }

    #[test]
    fn invalid_tokens_are_split_too() {
        assert_eq!(tokens("\"a /*\u{1b}é\0#"), ["\"", "a", "/", "*", "\u{1b}", "é", "\0", "#"]);
        assert_eq!(tokens("0x1e+5 1e+"), ["0x1e", "+", "5", "1e+"]);
        assert_eq!(count(" a b "), 2);
    }
}
