//! Tokens to a tree: recursive descent, one token at a time, no look-ahead.
//!
//! What is read is decided by the grammar alone; whether a word is allowed where it stands is not asked here. Recursion
//! happens only where the text nests, and is counted; see [`MAX_NESTING`].

mod declaration;
mod expression;
mod function;
mod instruction;

use crate::{
    Text,
    error::{MAX_NESTING, ParseError, ParseErrorKind},
    expr::{Builder, Expr},
    lexer::{Kind, Lexeme, Lexer},
    ops::BinaryOp,
    span::{Name, Span},
    tree::{Declaration, Gap, Item, Module, Token, Tokens},
};

/// Reads a module.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let mut parser = Parser::new(text)?;
    let mut module = Module::default();
    while parser.current.kind != Kind::End {
        module.items.push(parser.item()?);
    }
    Ok(module)
}

/// Reads one constant expression and nothing else.
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    let mut parser = Parser::new(text)?;
    let expr = parser.expression()?;
    parser.end()?;
    Ok(expr)
}

/// Reads one declaration statement, its semicolon included, and nothing else.
pub fn parse_declaration(text: &str) -> Result<Declaration, ParseError> {
    let mut parser = Parser::new(text)?;
    let declaration = parser.declaration()?;
    parser.end()?;
    Ok(declaration)
}

type Result<T, E = ParseError> = std::result::Result<T, E>;

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The token that is looked at and not yet taken.
    current: Lexeme,
    /// Where the token that was taken last ended.
    previous_end: u32,
    /// How many levels are open, of whatever kind.
    depth: usize,
    /// The nodes of the expression that is being read. Kept for its memory.
    builder: Builder,
    /// What waits for an operand in the expression that is being read. Kept for its memory.
    pending: Vec<expression::Pending>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Parser<'t>> {
        let mut lexer = Lexer::new(text)?;
        let current = lexer.next();
        Ok(Parser { lexer, current, previous_end: 0, depth: 0, builder: Builder::new(), pending: Vec::new() })
    }

    /// The characters of the current token.
    fn text(&self) -> &'t str {
        self.lexer.slice(self.current.span)
    }

    /// Takes the current token.
    fn advance(&mut self) -> Lexeme {
        let taken = self.current;
        self.previous_end = taken.span.end;
        self.current = self.lexer.next();
        taken
    }

    /// Takes the current token if it is of a kind.
    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.current.kind == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Takes the current token, which has to be of a kind.
    fn expect(&mut self, kind: Kind, expected: &'static str) -> Result<Lexeme> {
        if self.current.kind == kind { Ok(self.advance()) } else { Err(self.expected(expected)) }
    }

    fn end(&mut self) -> Result<()> {
        self.expect(Kind::End, "the end of the text").map(|_| ())
    }

    /// Takes the current token, which has to be of a kind, as a name.
    fn named(&mut self, kind: Kind, expected: &'static str) -> Result<Name> {
        let span = self.expect(kind, expected)?.span;
        Ok(Name { text: Text::new(self.lexer.slice(span)), span })
    }

    /// The error that the current token is not what was needed, or is none.
    #[cold]
    fn expected(&self, expected: &'static str) -> ParseError {
        if let (Kind::Bad, Some(error)) = (self.current.kind, self.lexer.error()) {
            return error.clone();
        }
        // Longer tokens would only bury the message.
        const SHOWN: usize = 40;
        let found = if self.current.kind == Kind::End {
            Text::const_new("the end of the text")
        } else {
            let text = self.text();
            let cut = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
            let shown: String = text.chars().take(SHOWN).flat_map(shown_character).collect();
            Text::from(format!("`{shown}{cut}`"))
        };
        ParseError { kind: ParseErrorKind::Expected { expected, found }, span: self.current.span }
    }

    /// Opens a level at the current token.
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

    /// The span from a token to the one that was taken last.
    fn span_from(&self, start: Span) -> Span {
        Span { start: start.start, end: self.previous_end }
    }

    /// A statement at module scope.
    fn item(&mut self) -> Result<Item> {
        if self.current.kind != Kind::Dotted {
            return Err(self.expected("a directive"));
        }
        match self.text() {
            ".version" => {
                self.advance();
                Ok(Item::Version(self.named(Kind::Number, "a version number")?))
            }
            ".target" => {
                self.advance();
                let mut names = vec![self.named(Kind::Name, "the name of a target")?];
                while self.eat(Kind::Comma) {
                    names.push(self.named(Kind::Name, "the name of a target")?);
                }
                Ok(Item::Target(names))
            }
            ".address_size" => {
                self.advance();
                Ok(Item::AddressSize(self.named(Kind::Number, "a number of bits")?))
            }
            ".entry" | ".func" => self.function_or_variables(),
            word if declaration::is_specifier(word) => self.function_or_variables(),
            _ => Ok(Item::Other(self.directive()?)),
        }
    }

    /// A directive that is kept as its tokens.
    ///
    /// Three of them have no semicolon to end them and are read by their own grammar.
    fn directive(&mut self) -> Result<Tokens> {
        let mut tokens = Tokens::new();
        match self.text() {
            ".file" => {
                self.keep_next(&mut tokens);
                self.keep(&mut tokens, Kind::Number, "the number of a file")?;
                self.keep(&mut tokens, Kind::String, "the name of a file")?;
                // LLVM 14 writes folder and file as two strings.
                if self.current.kind == Kind::String {
                    self.keep_next(&mut tokens);
                }
                if self.current.kind == Kind::Comma {
                    self.keep_next(&mut tokens);
                    self.keep(&mut tokens, Kind::Number, "a time")?;
                    self.keep(&mut tokens, Kind::Comma, "`,`")?;
                    self.keep(&mut tokens, Kind::Number, "a size")?;
                }
            }
            ".loc" => {
                self.keep_next(&mut tokens);
                self.keep_place(&mut tokens)?;
                while self.current.kind == Kind::Comma {
                    self.keep_next(&mut tokens);
                    match self.text() {
                        "inlined_at" => {
                            self.keep_next(&mut tokens);
                            self.keep_place(&mut tokens)?;
                        }
                        "function_name" => {
                            self.keep_next(&mut tokens);
                            self.keep(&mut tokens, Kind::Name, "a label")?;
                            if self.current.kind == Kind::Infix(BinaryOp::Add) {
                                self.keep_next(&mut tokens);
                                self.keep(&mut tokens, Kind::Number, "a number")?;
                            }
                        }
                        _ => return Err(self.expected("`function_name` or `inlined_at`")),
                    }
                }
            }
            ".section" => {
                self.keep_next(&mut tokens);
                self.keep(&mut tokens, Kind::Dotted, "the name of a section")?;
                self.keep(&mut tokens, Kind::OpenBrace, "`{`")?;
                let mut open = 1;
                while open > 0 {
                    match self.current.kind {
                        Kind::OpenBrace => open += 1,
                        Kind::CloseBrace => open -= 1,
                        Kind::End | Kind::Bad => return Err(self.expected("`}`")),
                        _ => {}
                    }
                    self.keep_next(&mut tokens);
                }
            }
            _ => self.keep_to_semicolon(&mut tokens)?,
        }
        Ok(tokens)
    }

    /// File, line and column of a `.loc` directive.
    fn keep_place(&mut self, tokens: &mut Tokens) -> Result<()> {
        self.keep(tokens, Kind::Number, "the number of a file")?;
        self.keep(tokens, Kind::Number, "the number of a line")?;
        self.keep(tokens, Kind::Number, "the number of a column")
    }

    fn keep(&mut self, tokens: &mut Tokens, kind: Kind, expected: &'static str) -> Result<()> {
        if self.current.kind != kind {
            return Err(self.expected(expected));
        }
        self.keep_next(tokens);
        Ok(())
    }

    fn keep_next(&mut self, tokens: &mut Tokens) {
        let lexeme = self.advance();
        self.push_kept(tokens, lexeme);
    }

    fn push_kept(&self, tokens: &mut Tokens, lexeme: Lexeme) {
        // What precedes a statement is for the printer to decide, and a tree must not depend on it.
        let gap = if tokens.is_empty() { Gap::Line } else { lexeme.gap };
        tokens.push(Token { gap, text: Text::new(self.lexer.slice(lexeme.span)), span: lexeme.span });
    }

    /// Keeps everything to the next semicolon. Braces have to be balanced, so that a missing semicolon is found at
    /// the end of the block at the latest.
    fn keep_to_semicolon(&mut self, tokens: &mut Tokens) -> Result<()> {
        let mut open = 0u32;
        loop {
            match self.current.kind {
                Kind::OpenBrace => open += 1,
                Kind::CloseBrace if open > 0 => open -= 1,
                Kind::Semicolon if open == 0 => {
                    self.keep_next(tokens);
                    return Ok(());
                }
                Kind::Semicolon => return Err(self.expected("`}`")),
                Kind::CloseBrace | Kind::End | Kind::Bad => return Err(self.expected("`;`")),
                _ => {}
            }
            self.keep_next(tokens);
        }
    }
}

/// Makes a character of the text safe to stand in a message.
fn shown_character(c: char) -> impl Iterator<Item = char> {
    let plain = (c == '"' || c == '\\').then_some(c);
    let escaped = plain.is_none().then(|| c.escape_debug());
    plain.into_iter().chain(escaped.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_without_semicolon_end_where_their_grammar_ends() {
        let text = ".file 1 \"a\" .file 2 \"b\", 3, 4 .file 5 \"c\" \"d\" .loc 1 2 3 .loc 1 2 3, function_name f, inlined_at \
                    4 5 6 .loc 1 2 3, function_name f + 7 .section .debug_x { a: .b8 1 { } } .pragma \"p\"; .alias a, b;";
        let items = parse(text).unwrap().items;
        let lengths: Vec<_> = items
            .iter()
            .map(|item| match item {
                Item::Other(tokens) => tokens.len(),
                item => panic!("{item:?}"),
            })
            .collect();
        assert_eq!(lengths, [3, 7, 4, 4, 12, 9, 10, 3, 5]);
    }

    #[test]
    fn the_header_can_be_asked() {
        let module = parse(".version 7.8 .target sm_80, debug .address_size 64").unwrap();
        assert_eq!(module.version(), Some((7, 8)));
        assert_eq!(module.targets().collect::<Vec<_>>(), ["sm_80", "debug"]);
        assert_eq!(module.address_size(), Some(64));
    }

    #[test]
    fn malformed_directives_are_refused_where_they_go_wrong() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(message(".version a"), "expected a version number, found `a`");
        assert_eq!(message(".target sm_80,"), "expected the name of a target, found the end of the text");
        assert_eq!(message(".loc 1 2 x"), "expected the number of a column, found `x`");
        assert_eq!(message(".loc 1 2 3, x"), "expected `function_name` or `inlined_at`, found `x`");
        assert_eq!(message(".section .x { {"), "expected `}`, found the end of the text");
        assert_eq!(message(".section .x { # }"), "unexpected character `#`");
        assert_eq!(message(".pragma \"a\""), "expected `;`, found the end of the text");
        assert_eq!(message("ret;"), "expected a directive, found `ret`");
    }
}
