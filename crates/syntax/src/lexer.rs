//! Splits source into tokens. It copies nothing: a token is a span of the source.

use crate::{
    error::{ParseError, ParseErrorKind},
    ops::{BinaryOp, UnaryOp},
    span::Span,
    tree::Gap,
};

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    /// The end of the source.
    End,
    /// Not a token: an invalid character, or an unterminated string or comment. See [`Lexer::error`].
    Bad,
    /// An identifier.
    Name,
    /// A dot and a word: a directive, a type or a qualifier.
    Dotted,
    /// A token that starts like a number, well-formed or not.
    Number,
    /// A string, quotes included.
    String,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Semicolon,
    Colon,
    DoubleColon,
    Question,
    At,
    Assign,
    /// An infix operator. `+` and `-` are prefix operators too.
    Infix(BinaryOp),
    /// A prefix operator that is not also an infix operator.
    Prefix(UnaryOp),
}

/// A token and the gap before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub(crate) kind: LexemeKind,
    pub(crate) gap: Gap,
    pub(crate) span: Span,
}

/// Produces the tokens of the source one at a time.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    error: Option<ParseError>,
}

impl<'t> Lexer<'t> {
    /// Creates a lexer at the start of the source. Fails if offsets would not fit into a [`Span`].
    pub(crate) fn new(text: &'t str) -> Result<Lexer<'t>, ParseError> {
        if u32::try_from(text.len()).is_err() {
            return Err(ParseError { kind: ParseErrorKind::TooLarge, span: Span::NONE });
        }
        Ok(Lexer { text, at: 0, error: None })
    }

    /// Returns the characters of a span.
    pub(crate) fn slice(&self, span: Span) -> &'t str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Returns the error of the last token, if it is [`LexemeKind::Bad`].
    pub(crate) fn error(&self) -> Option<&ParseError> {
        self.error.as_ref()
    }

    /// Returns true if the lexer cannot continue after a [`LexemeKind::Bad`] token: a string or comment is unterminated.
    pub(crate) fn is_stuck(&self) -> bool {
        self.error.as_ref().is_some_and(|e| !matches!(e.kind, ParseErrorKind::UnexpectedCharacter(_)))
    }

    /// Returns the next token. At the end of the source it returns [`LexemeKind::End`] on every call.
    pub(crate) fn next(&mut self) -> Lexeme {
        let Some(gap) = self.skip_gap() else {
            return Lexeme { kind: LexemeKind::Bad, gap: Gap::Space, span: span(self.at, self.at) };
        };
        let start = self.at;
        let Some(first) = self.byte(0) else {
            return Lexeme { kind: LexemeKind::End, gap, span: span(start, start) };
        };
        let kind = match FIRST[first as usize] {
            FirstByte::Letter => self.word(1, LexemeKind::Name),
            FirstByte::Digit => self.number(),
            FirstByte::Prefix if is_word(self.byte(1)) => self.word(2, LexemeKind::Name),
            FirstByte::Dot => match self.byte(1).map(|byte| FIRST[byte as usize]) {
                Some(FirstByte::Letter) => self.word(2, LexemeKind::Dotted),
                Some(FirstByte::Digit) => self.number(),
                _ => self.unexpected(),
            },
            FirstByte::Quote => self.string(),
            FirstByte::Prefix | FirstByte::Other => self.mark(first),
        };
        Lexeme { kind, gap, span: span(start, self.at) }
    }

    #[inline]
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Skips white space and comments. Returns `None` if a comment is unterminated.
    fn skip_gap(&mut self) -> Option<Gap> {
        let bytes = self.text.as_bytes();
        let mut gap = Gap::Joined;
        loop {
            match self.byte(0) {
                Some(b'\n') => {
                    gap = Gap::Line;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r' | b'\x0c') => {
                    gap = if gap == Gap::Joined { Gap::Space } else { gap };
                    self.at += 1;
                }
                Some(b'/') if self.byte(1) == Some(b'/') => {
                    gap = if gap == Gap::Joined { Gap::Space } else { gap };
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                Some(b'/') if self.byte(1) == Some(b'*') => {
                    let Some(length) = self.text[self.at + 2..].find("*/") else {
                        self.fail(ParseErrorKind::UnterminatedComment, span(self.at, self.at + 2));
                        return None;
                    };
                    let end = self.at + 2 + length;
                    if bytes[self.at..end].contains(&b'\n') {
                        gap = Gap::Line;
                    } else if gap == Gap::Joined {
                        gap = Gap::Space;
                    }
                    self.at = end + 2;
                }
                _ => return Some(gap),
            }
        }
    }

    /// Reads the longest punctuation token that begins with this byte.
    fn mark(&mut self, first: u8) -> LexemeKind {
        let marks = &MARKS[first as usize];
        let second = self.byte(1);
        if let Some(&(_, kind)) = marks.two.iter().flatten().find(|(byte, _)| Some(*byte) == second) {
            return self.punctuation(2, kind);
        }
        match marks.one {
            Some(kind) => self.punctuation(1, kind),
            None => self.unexpected(),
        }
    }

    fn punctuation(&mut self, length: usize, kind: LexemeKind) -> LexemeKind {
        self.at += length;
        kind
    }

    /// Reads a token whose first `length` bytes are already checked, up to the last word character.
    fn word(&mut self, length: usize, kind: LexemeKind) -> LexemeKind {
        self.at += length;
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| !WORD[b as usize]).unwrap_or(rest.len());
        kind
    }

    /// Reads a number greedily, like a preprocessing number in C, so that a malformed number stays a single token. A sign is
    /// part of the number only after the `e` of a decimal number; in `0x1e+5` it is an operator.
    fn number(&mut self) -> LexemeKind {
        let bytes = self.text.as_bytes();
        let mut decimal = true;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'0'..=b'9' | b'.' => {}
                b'e' | b'E' if decimal => {
                    decimal = false;
                    if let Some(b'+' | b'-') = bytes.get(self.at + 1) {
                        self.at += 1;
                    }
                }
                _ if WORD[byte as usize] => decimal = false,
                _ => break,
            }
            self.at += 1;
        }
        LexemeKind::Number
    }

    fn string(&mut self) -> LexemeKind {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte(0) {
                Some(b'"') => return self.punctuation(1, LexemeKind::String),
                // Skip only ASCII characters after a backslash, so that the token cannot end inside a character.
                Some(b'\\') if self.byte(1).is_some_and(|b| b.is_ascii() && b != b'\n') => self.at += 2,
                None | Some(b'\n') => {
                    return self.fail(ParseErrorKind::UnterminatedString, span(start, self.at));
                }
                Some(_) => self.at += 1,
            }
        }
    }

    #[cold]
    fn unexpected(&mut self) -> LexemeKind {
        let character = self.text[self.at..].chars().next().unwrap_or_default();
        let start = self.at;
        self.at += character.len_utf8();
        self.fail(ParseErrorKind::UnexpectedCharacter(character), span(start, self.at))
    }

    #[cold]
    fn fail(&mut self, kind: ParseErrorKind, span: Span) -> LexemeKind {
        self.error = Some(ParseError { kind, span });
        LexemeKind::Bad
    }
}

/// Creates a span. `Lexer::new` has checked that offsets fit.
fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

/// The tokens that can begin with a given byte.
#[derive(Clone, Copy)]
enum FirstByte {
    /// Punctuation, if it is in [`MARKS`].
    Other,
    /// A letter or `_`. A lone `_` is the destination of a result that is not wanted.
    Letter,
    Digit,
    Dot,
    Quote,
    /// `$` and `%`, which begin a name if a word character follows.
    Prefix,
}

const FIRST: [FirstByte; 256] = {
    let mut table = [FirstByte::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => FirstByte::Letter,
            b'0'..=b'9' => FirstByte::Digit,
            b'.' => FirstByte::Dot,
            b'"' => FirstByte::Quote,
            b'$' | b'%' => FirstByte::Prefix,
            _ => FirstByte::Other,
        };
        byte += 1;
    }
    table
};

/// Punctuation other than operators.
const PUNCTUATION: [(&str, LexemeKind); 13] = [
    ("(", LexemeKind::OpenParen),
    (")", LexemeKind::CloseParen),
    ("[", LexemeKind::OpenBracket),
    ("]", LexemeKind::CloseBracket),
    ("{", LexemeKind::OpenBrace),
    ("}", LexemeKind::CloseBrace),
    (",", LexemeKind::Comma),
    (";", LexemeKind::Semicolon),
    (":", LexemeKind::Colon),
    ("::", LexemeKind::DoubleColon),
    ("?", LexemeKind::Question),
    ("@", LexemeKind::At),
    ("=", LexemeKind::Assign),
];

/// The punctuation tokens that begin with a given byte: the byte alone, or with a second byte.
#[derive(Clone, Copy)]
struct Punctuation {
    one: Option<LexemeKind>,
    two: [Option<(u8, LexemeKind)>; 2],
}

/// All punctuation, by its first byte.
static MARKS: [Punctuation; 256] = {
    let mut table = [Punctuation { one: None, two: [None; 2] }; 256];
    let mut at = 0;
    while at < UnaryOp::ALL.len() {
        add(&mut table, UnaryOp::ALL[at].symbol(), LexemeKind::Prefix(UnaryOp::ALL[at]));
        at += 1;
    }
    // An infix operator replaces the prefix operator with the same symbol.
    at = 0;
    while at < BinaryOp::ALL.len() {
        add(&mut table, BinaryOp::ALL[at].symbol(), LexemeKind::Infix(BinaryOp::ALL[at]));
        at += 1;
    }
    at = 0;
    while at < PUNCTUATION.len() {
        add(&mut table, PUNCTUATION[at].0, PUNCTUATION[at].1);
        at += 1;
    }
    table
};

const fn add(table: &mut [Punctuation; 256], text: &str, kind: LexemeKind) {
    match *text.as_bytes() {
        [only] => table[only as usize].one = Some(kind),
        [first, second] => match &mut table[first as usize].two {
            [free @ None, _] | [_, free @ None] => *free = Some((second, kind)),
            _ => panic!("more than two tokens of two characters begin with one of them"),
        },
        _ => panic!("a token of punctuation has one character or two"),
    }
}

/// The characters that continue a word: `[a-zA-Z0-9_$]`.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte as u8 == b'$';
        byte += 1;
    }
    table
};

fn is_word(byte: Option<u8>) -> bool {
    byte.is_some_and(|b| WORD[b as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(LexemeKind, &str)> {
        let mut lexer = Lexer::new(text).unwrap();
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next();
            if matches!(token.kind, LexemeKind::End | LexemeKind::Bad) {
                return tokens;
            }
            tokens.push((token.kind, lexer.slice(token.span)));
        }
    }

    #[test]
    fn whatever_starts_like_a_number_is_one_token() {
        for text in [
            "0",
            "42U",
            "5u",
            "08",
            "0x1U",
            "0XfFg",
            "0b12",
            "1.5",
            "1.",
            ".5",
            ".5.x",
            "1.2.3",
            "1e5",
            "1e+5",
            "1.5E-3",
            "0f3f800000",
            "0d3FF0000000000000",
            "1_000",
            "1$",
            "2.5e+",
            ".2d.v4.f32",
        ] {
            assert_eq!(tokens(text), [(LexemeKind::Number, text)]);
        }
    }

    #[test]
    fn a_sign_belongs_to_a_number_behind_a_decimal_exponent_only() {
        use LexemeKind::{Infix, Number};
        assert_eq!(tokens("0x1e+5"), [(Number, "0x1e"), (Infix(BinaryOp::Add), "+"), (Number, "5")]);
        assert_eq!(
            tokens("0f3f80000e-1"),
            [(Number, "0f3f80000e"), (Infix(BinaryOp::Sub), "-"), (Number, "1")]
        );
        assert_eq!(tokens("1e+5e+5"), [(Number, "1e+5e"), (Infix(BinaryOp::Add), "+"), (Number, "5")]);
        assert_eq!(tokens("1+5"), [(Number, "1"), (Infix(BinaryOp::Add), "+"), (Number, "5")]);
    }

    #[test]
    fn a_percent_sign_begins_a_name_where_it_can() {
        use LexemeKind::{Dotted, Infix, Name, Number};
        assert_eq!(tokens("1%3"), [(Number, "1"), (Name, "%3")]);
        assert_eq!(tokens("1% 3"), [(Number, "1"), (Infix(BinaryOp::Rem), "%"), (Number, "3")]);
        assert_eq!(tokens("a%(").len(), 3);
        assert_eq!(tokens("%tid.x"), [(Name, "%tid"), (Dotted, ".x")]);
        assert_eq!(
            tokens("_ $a _1 V.x5"),
            [(Name, "_"), (Name, "$a"), (Name, "_1"), (Name, "V"), (Dotted, ".x5")]
        );
    }

    #[test]
    fn operators_take_two_characters_where_they_can() {
        let texts = |text| tokens(text).iter().map(|&(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts("<<=>>=<=>==="), ["<<", "=", ">>", "=", "<=", ">=", "=="]);
        assert_eq!(texts("&&&|||!=!:::"), ["&&", "&", "||", "|", "!=", "!", "::", ":"]);
        assert_eq!(texts("< > = ! & | ? @"), ["<", ">", "=", "!", "&", "|", "?", "@"]);
    }

    #[test]
    fn every_mark_is_the_token_of_its_text() {
        for op in BinaryOp::ALL {
            assert_eq!(tokens(op.symbol()), [(LexemeKind::Infix(op), op.symbol())]);
        }
        for op in [UnaryOp::Not, UnaryOp::Complement] {
            assert_eq!(tokens(op.symbol()), [(LexemeKind::Prefix(op), op.symbol())]);
        }
        for (text, kind) in PUNCTUATION {
            assert_eq!(tokens(text), [(kind, text)]);
        }
    }

    #[test]
    fn every_character_that_begins_no_token_is_refused() {
        for text in ["#", "$", ".", "..", "`", "'", "\\", "é", "\0", "\u{feff}", "\u{a0}"] {
            let mut lexer = Lexer::new(text).unwrap();
            assert_eq!(lexer.next().kind, LexemeKind::Bad);
            let error = lexer.error().unwrap();
            let first = text.chars().next().unwrap();
            assert_eq!(error.kind, ParseErrorKind::UnexpectedCharacter(first));
            assert_eq!(error.span.end as usize, first.len_utf8());
        }
    }

    #[test]
    fn comments_count_as_spaces_or_line_breaks() {
        let gaps = |text: &'static str| {
            let mut lexer = Lexer::new(text).unwrap();
            [lexer.next().gap, lexer.next().gap]
        };
        assert_eq!(gaps("a+")[1], Gap::Joined);
        assert_eq!(gaps("a +")[1], Gap::Space);
        assert_eq!(gaps("a/**/+")[1], Gap::Space);
        assert_eq!(gaps("a // b")[1], Gap::Space);
        assert_eq!(gaps("a\r\n+")[1], Gap::Line);
        assert_eq!(gaps("a/*\n*/ +")[1], Gap::Line);
        assert_eq!(gaps("a// b\n+")[1], Gap::Line);
    }

    #[test]
    fn a_string_ends_at_the_first_quote_that_is_not_escaped() {
        assert_eq!(
            tokens(r#""a\"b\\" "é//""#),
            [(LexemeKind::String, r#""a\"b\\""#), (LexemeKind::String, "\"é//\"")]
        );
    }
}
