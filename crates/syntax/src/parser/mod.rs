//! Parses tokens into a tree by recursive descent, with one current token and no look-ahead.
//!
//! The parser checks the grammar only, not whether a word is valid in its place. It recurses only where the source nests
//! and counts the depth; see [`MAX_NESTING`]. A statement outside the grammar is kept as tokens
//! ([`Unread`](crate::Unread)). The parser fails only if it cannot split the source into statements.

mod declaration;
mod expression;
mod function;
mod instruction;
mod kept;

use crate::{
    Text,
    error::{MAX_NESTING, ParseError, ParseErrorKind},
    expr::{Builder, Expr},
    lexer::{Lexeme, LexemeKind, Lexer},
    span::{Name, Span},
    tree::{Declaration, Gap, Item, Module},
};

/// Parses a module. It includes the statements that the parser does not understand; see [`Module::unread`].
///
/// # Errors
/// If the source cannot be split into statements: an unbalanced brace, or an unterminated comment or string.
/// If it has 4 GiB or more.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let mut parser = Parser::new(text)?;
    let mut module = Module::default();
    while parser.current.kind != LexemeKind::End {
        let item = parser.or_unread(Parser::item, Item::Unread, false)?;
        module.items.push(item);
    }
    Ok(module)
}

/// Splits source into tokens, whether or not they form a module.
///
/// # Errors
/// If a part of the source is not a token.
pub fn tokens(text: &str) -> Result<crate::Tokens, ParseError> {
    each_token(text).collect()
}

/// Returns an iterator over the tokens of the source, for callers that need not hold them all. It ends after an error.
pub fn each_token(text: &str) -> impl Iterator<Item = Result<crate::Token, ParseError>> + '_ {
    let mut parser = Some(Parser::new(text));
    let mut is_first = true;
    std::iter::from_fn(move || {
        let reading = match parser.as_mut()? {
            Ok(reading) => reading,
            Err(_) => return parser.take()?.err().map(Err),
        };
        match reading.current.kind {
            LexemeKind::End => None,
            LexemeKind::Bad => {
                let error = reading.expected("a token");
                parser = None;
                Some(Err(error))
            }
            _ => {
                let lexeme = reading.advance();
                Some(Ok(reading.kept(lexeme, std::mem::take(&mut is_first))))
            }
        }
    })
}

/// Parses a constant expression. Any further token is an error.
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    let mut parser = Parser::new(text)?;
    let expr = parser.expression()?;
    parser.end()?;
    Ok(expr)
}

/// Parses a declaration statement with its semicolon. Any further token is an error.
pub fn parse_declaration(text: &str) -> Result<Declaration, ParseError> {
    let mut parser = Parser::new(text)?;
    let declaration = parser.declaration()?;
    parser.end()?;
    Ok(declaration)
}

/// Directives at module scope that are kept as tokens.
const AT_MODULE_SCOPE: [&str; 5] = [".alias", ".file", ".loc", ".pragma", ".section"];

/// The header directives.
const HEADER: [&str; 3] = [".version", ".target", ".address_size"];

/// Returns true if a dotted word begins a statement at module scope and so ends the previous one.
fn begins_item(word: &str) -> bool {
    matches!(word, ".entry" | ".func")
        || HEADER.contains(&word)
        || (AT_MODULE_SCOPE.contains(&word) && word != ".pragma")
        || declaration::is_specifier(word)
}

/// The maximum number of characters of a token in a message. Longer tokens are shortened.
const SHOWN: usize = 40;

type Result<T, E = ParseError> = std::result::Result<T, E>;

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The next token, not yet consumed.
    current: Lexeme,
    /// The end of the last consumed token.
    previous_end: u32,
    /// The current nesting depth, over constructs of all kinds.
    depth: usize,
    /// Whether the rest of the source cannot be split into statements.
    stuck: bool,
    /// The nodes of the current expression. Kept between expressions to reuse the allocation.
    builder: Builder,
    /// The operators of the current expression that wait for an operand. Kept to reuse the allocation.
    pending: Vec<expression::Pending>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Parser<'t>> {
        let mut lexer = Lexer::new(text)?;
        let current = lexer.next();
        Ok(Parser {
            lexer,
            current,
            previous_end: 0,
            depth: 0,
            stuck: false,
            builder: Builder::new(),
            pending: Vec::new(),
        })
    }

    /// Returns the characters of the current token.
    fn text(&self) -> &'t str {
        self.lexer.slice(self.current.span)
    }

    /// Consumes the current token.
    fn advance(&mut self) -> Lexeme {
        let taken = self.current;
        self.previous_end = taken.span.end;
        self.current = self.lexer.next();
        taken
    }

    /// Consumes the current token if it has this kind, and returns whether it did.
    fn eat(&mut self, kind: LexemeKind) -> bool {
        let found = self.current.kind == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Consumes the current token, or fails if it has another kind.
    fn expect(&mut self, kind: LexemeKind, expected: &'static str) -> Result<Lexeme> {
        if self.current.kind == kind { Ok(self.advance()) } else { Err(self.expected(expected)) }
    }

    fn end(&mut self) -> Result<()> {
        self.expect(LexemeKind::End, "the end of the text").map(|_| ())
    }

    /// Consumes the current token as a name, or fails if it has another kind.
    fn named(&mut self, kind: LexemeKind, expected: &'static str) -> Result<Name> {
        let span = self.expect(kind, expected)?.span;
        Ok(Name { text: Text::new(self.lexer.slice(span)), span })
    }

    /// Creates the error for an unexpected current token, or returns the lexer's error if there is no valid token.
    #[cold]
    fn expected(&self, expected: &'static str) -> ParseError {
        if let (LexemeKind::Bad, Some(error)) = (self.current.kind, self.lexer.error()) {
            return error.clone();
        }
        let found = if self.current.kind == LexemeKind::End {
            Text::const_new("the end of the text")
        } else {
            let text = self.text();
            let cut = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
            let shown: String = text.chars().take(SHOWN).flat_map(shown_character).collect();
            let note = if self.is_behind_name() { " (a name ends at a point)" } else { "" };
            Text::from(format!("`{shown}{cut}`{note}"))
        };
        ParseError { kind: ParseErrorKind::Expected { expected, found }, span: self.current.span }
    }

    /// Returns true if the current token starts with a dot directly after a name: users write `a.b` as a name.
    fn is_behind_name(&self) -> bool {
        let begins = self.current.span.start;
        if self.current.gap != Gap::Joined || begins != self.previous_end || !self.text().starts_with('.') {
            return false;
        }
        let before = self.lexer.slice(Span { start: 0, end: begins });
        let rest = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "_$".contains(c));
        let name = &before[rest.len()..];
        let is_word = !name.starts_with(|c: char| c.is_ascii_digit()) && !rest.ends_with('.');
        !name.is_empty() && (is_word || rest.ends_with('%'))
    }

    /// Enters a nesting level, or fails at the limit.
    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(ParseError { kind: ParseErrorKind::TooDeep, span: self.current.span });
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Returns the span from `start` to the end of the last consumed token.
    fn span_from(&self, start: Span) -> Span {
        Span { start: start.start, end: self.previous_end }
    }

    /// Parses a statement at module scope.
    fn item(&mut self) -> Result<Item> {
        if self.current.kind != LexemeKind::Dotted {
            return Err(self.expected("a directive"));
        }
        match self.text() {
            ".version" => {
                self.advance();
                Ok(Item::Version(self.named(LexemeKind::Number, "a version number")?))
            }
            ".target" => {
                self.advance();
                let mut names = vec![self.named(LexemeKind::Name, "the name of a target")?];
                while self.eat(LexemeKind::Comma) {
                    names.push(self.named(LexemeKind::Name, "the name of a target")?);
                }
                Ok(Item::Target(names))
            }
            ".address_size" => {
                self.advance();
                Ok(Item::AddressSize(self.named(LexemeKind::Number, "a number of bits")?))
            }
            ".entry" | ".func" => self.function_or_variables(),
            word if declaration::is_specifier(word) => self.function_or_variables(),
            word if AT_MODULE_SCOPE.contains(&word) => Ok(Item::Other(self.directive()?)),
            _ => Err(self.expected("a directive")),
        }
    }
}

/// Escapes a source character for a message, except `"` and `\`.
fn shown_character(c: char) -> impl Iterator<Item = char> {
    let plain = (c == '"' || c == '\\').then_some(c);
    let escaped = plain.is_none().then(|| c.escape_debug());
    plain.into_iter().chain(escaped.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_can_be_asked() {
        let module = parse(".version 7.8 .target sm_80, debug .address_size 64").unwrap();
        assert_eq!(module.version(), Some((7, 8)));
        assert_eq!(module.targets().collect::<Vec<_>>(), ["sm_80", "debug"]);
        assert_eq!(module.address_size(), Some(64));
    }

    #[test]
    fn malformed_directives_are_refused_where_they_go_wrong() {
        let message = |text: &str| parse(text).unwrap().unread().next().unwrap().error.to_string();
        assert_eq!(message(".version a"), "expected a version number, found `a`");
        assert_eq!(message(".target sm_80,"), "expected the name of a target, found the end of the text");
        assert_eq!(message(".loc 1 2 x"), "expected the number of a column, found `x`");
        assert_eq!(message(".loc 1 2 3, x"), "expected `function_name` or `inlined_at`, found `x`");
        assert_eq!(message(".section .x { # }"), "unexpected character `#`");
        assert_eq!(message(".pragma \"a\""), "expected `;`, found the end of the text");
        assert_eq!(message("ret;"), "expected a directive, found `ret`");
    }

    #[test]
    fn a_point_in_a_name_is_reported_at_its_end() {
        let message = |text: &str| {
            let module = parse(text).unwrap();
            let error = &module.unread().next().unwrap().error;
            let found = &text[error.span.start as usize..error.span.end as usize];
            (error.to_string(), found.to_owned())
        };
        let said = |message: &str, found: &str| (message.to_owned(), found.to_owned());
        let ends = |expected: &str, found: &str| {
            said(&format!("expected {expected}, found `{found}` (a name ends at a point)"), found)
        };
        assert_eq!(message(".extern .shared .b8 __unnamed_1.llvm[];"), ends("`;`", ".llvm"));
        assert_eq!(message(".global .u32 a.1 = 3;"), ends("`;`", ".1"));
        assert_eq!(message(".global .u32 %1.b, c;"), ends("`;`", ".b"));
        assert_eq!(message(".global .u64 p = a.b;"), ends("`;`", ".b"));
        let begins = said("expected a name, found `.str6` (a name does not begin with a point)", ".str6");
        assert_eq!(message(".global .align 1 .b8 .str6[4];"), begins);
        // No name stands in front of these.
        assert_eq!(message(".global .u32 x = 5 .y;"), said("expected `;`, found `.y`", ".y"));
        assert_eq!(message(".global .u32 x[4].y;"), said("expected `;`, found `.y`", ".y"));
        assert_eq!(message(".global .u32 ;"), said("expected a name, found `;`", ";"));
    }
}
