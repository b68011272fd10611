//! Parses statements that are kept as tokens: directives without a closing semicolon, and statements outside the grammar.

use super::{Parser, Result, begins_item};
use crate::{
    Text,
    error::ParseError,
    expr::Builder,
    lexer::{Lexeme, LexemeKind, Lexer},
    ops::BinaryOp,
    tree::{Gap, Token, Tokens, Unread},
};

/// A saved parser position for backtracking.
pub(super) struct Checkpoint<'t> {
    lexer: Lexer<'t>,
    current: Lexeme,
    previous_end: u32,
    depth: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn checkpoint(&self) -> Checkpoint<'t> {
        let (lexer, current) = (self.lexer.clone(), self.current);
        Checkpoint { lexer, current, previous_end: self.previous_end, depth: self.depth }
    }

    pub(super) fn back_to(&mut self, checkpoint: Checkpoint<'t>) {
        (self.lexer, self.current) = (checkpoint.lexer, checkpoint.current);
        (self.previous_end, self.depth) = (checkpoint.previous_end, checkpoint.depth);
    }

    /// Backtracks to the checkpoint and discards the unfinished expression.
    pub(super) fn give_up(&mut self, checkpoint: Checkpoint<'t>) {
        self.back_to(checkpoint);
        self.builder = Builder::new();
        self.pending.clear();
    }

    /// Parses a statement with `read`, or keeps it as tokens if that fails.
    pub(super) fn or_unread<T>(
        &mut self,
        read: fn(&mut Self) -> Result<T>,
        unread: fn(Box<Unread>) -> T,
        in_block: bool,
    ) -> Result<T> {
        let checkpoint = self.checkpoint();
        let error = match read(self) {
            Err(error) if !self.stuck => error,
            result => return result,
        };
        self.give_up(checkpoint);
        let tokens = self.kept_statement(in_block, error.clone())?;
        Ok(unread(Box::new(Unread { tokens, error })))
    }

    /// Parses a directive that is kept as tokens.
    ///
    /// Three directives have no closing semicolon; each is parsed by its own grammar.
    pub(super) fn directive(&mut self) -> Result<Tokens> {
        let mut tokens = Tokens::new();
        match self.text() {
            ".file" => {
                self.keep_next(&mut tokens);
                self.keep(&mut tokens, LexemeKind::Number, "the number of a file")?;
                self.keep(&mut tokens, LexemeKind::String, "the name of a file")?;
                // LLVM 14 writes folder and file as two strings.
                if self.current.kind == LexemeKind::String {
                    self.keep_next(&mut tokens);
                }
                if self.current.kind == LexemeKind::Comma {
                    self.keep_next(&mut tokens);
                    self.keep(&mut tokens, LexemeKind::Number, "a time")?;
                    self.keep(&mut tokens, LexemeKind::Comma, "`,`")?;
                    self.keep(&mut tokens, LexemeKind::Number, "a size")?;
                }
            }
            ".loc" => {
                self.keep_next(&mut tokens);
                self.keep_place(&mut tokens)?;
                while self.current.kind == LexemeKind::Comma {
                    self.keep_next(&mut tokens);
                    match self.text() {
                        "inlined_at" => {
                            self.keep_next(&mut tokens);
                            self.keep_place(&mut tokens)?;
                        }
                        "function_name" => {
                            self.keep_next(&mut tokens);
                            self.keep(&mut tokens, LexemeKind::Name, "a label")?;
                            if self.current.kind == LexemeKind::Infix(BinaryOp::Add) {
                                self.keep_next(&mut tokens);
                                self.keep(&mut tokens, LexemeKind::Number, "a number")?;
                            }
                        }
                        _ => return Err(self.expected("`function_name` or `inlined_at`")),
                    }
                }
            }
            ".section" => self.section(&mut tokens)?,
            _ => {
                self.keep_balanced(&mut tokens, |parser| parser.current.kind == LexemeKind::Semicolon)?;
                self.keep(&mut tokens, LexemeKind::Semicolon, "`;`")?;
            }
        }
        Ok(tokens)
    }

    /// Keeps the file, line and column of a `.loc` directive.
    fn keep_place(&mut self, tokens: &mut Tokens) -> Result<()> {
        self.keep(tokens, LexemeKind::Number, "the number of a file")?;
        self.keep(tokens, LexemeKind::Number, "the number of a line")?;
        self.keep(tokens, LexemeKind::Number, "the number of a column")
    }

    /// Keeps `.section NAME { ... }`. Everything between two names becomes a single token, because debug information is large.
    fn section(&mut self, tokens: &mut Tokens) -> Result<()> {
        self.keep_next(tokens);
        self.keep(tokens, LexemeKind::Dotted, "the name of a section")?;
        self.keep(tokens, LexemeKind::OpenBrace, "`{`")?;
        let mut open = 1;
        let mut first: Option<Lexeme> = None;
        while open > 0 {
            let alone = match self.current.kind {
                LexemeKind::OpenBrace => {
                    open += 1;
                    true
                }
                LexemeKind::CloseBrace => {
                    open -= 1;
                    true
                }
                LexemeKind::End | LexemeKind::Bad => return Err(self.expected("`}`")),
                kind => kind == LexemeKind::Name,
            };
            if alone {
                self.push_run(tokens, first.take());
                self.keep_next(tokens);
            } else {
                first.get_or_insert(self.current);
                self.advance();
            }
        }
        Ok(())
    }

    /// Keeps everything since token `first` as a single token.
    fn push_run(&self, tokens: &mut Tokens, first: Option<Lexeme>) {
        if let Some(first) = first {
            let span = self.span_from(first.span);
            self.push_kept(tokens, Lexeme { span, ..first });
        }
    }

    fn keep(&mut self, tokens: &mut Tokens, kind: LexemeKind, expected: &'static str) -> Result<()> {
        if self.current.kind != kind {
            return Err(self.expected(expected));
        }
        self.keep_next(tokens);
        Ok(())
    }

    pub(super) fn keep_next(&mut self, tokens: &mut Tokens) {
        let lexeme = self.advance();
        self.push_kept(tokens, lexeme);
    }

    fn push_kept(&self, tokens: &mut Tokens, lexeme: Lexeme) {
        tokens.push(self.kept(lexeme, tokens.is_empty()));
    }

    /// Converts a lexeme to a kept token. The first token of a statement always has [`Gap::Line`], so that equal statements
    /// have equal trees; the printer decides what precedes a statement.
    pub(super) fn kept(&self, lexeme: Lexeme, is_first: bool) -> Token {
        let gap = if is_first { Gap::Line } else { lexeme.gap };
        Token { gap, text: Text::new(self.lexer.slice(lexeme.span)), span: lexeme.span }
    }

    /// Keeps tokens to one that ends the statement, outside of braces, or to one that no statement has.
    pub(super) fn keep_balanced(
        &mut self,
        tokens: &mut Tokens,
        is_end: impl Fn(&Self) -> bool,
    ) -> Result<()> {
        while !is_end(self) {
            match self.current.kind {
                LexemeKind::OpenBrace => self.keep_braces(tokens)?,
                LexemeKind::CloseBrace | LexemeKind::End | LexemeKind::Bad => return Ok(()),
                _ => self.keep_next(tokens),
            }
        }
        Ok(())
    }

    /// Keeps a braced block. If the brace is not closed, the rest of the source cannot be split into statements.
    fn keep_braces(&mut self, tokens: &mut Tokens) -> Result<()> {
        let mut open = 0u32;
        loop {
            match self.current.kind {
                LexemeKind::OpenBrace => open += 1,
                LexemeKind::CloseBrace => open -= 1,
                LexemeKind::End => return self.stick("`}`"),
                LexemeKind::Bad if self.lexer.is_stuck() => return self.stick("`}`"),
                _ => {}
            }
            self.keep_next(tokens);
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn stick<T>(&mut self, expected: &'static str) -> Result<T> {
        self.stuck = true;
        Err(self.expected(expected))
    }

    /// Keeps a statement that the parser does not understand. It ends after a semicolon or a braced block, at the end of its
    /// block, before a line that begins another statement, or, for `#` lines and directives such as `.file`, with its line.
    fn kept_statement(&mut self, in_block: bool, error: ParseError) -> Result<Tokens> {
        let mut tokens = Tokens::new();
        let first = self.text();
        let fills_line =
            first == "#" || [".file", ".loc", ".version", ".target", ".address_size"].contains(&first);
        let (mut parens, mut line) = (0u32, fills_line);
        loop {
            let begins_line = self.current.gap == Gap::Line && !tokens.is_empty();
            let behind_word = tokens.last().is_some_and(|token| token.text.starts_with('.'));
            match self.current.kind {
                LexemeKind::End if in_block => return self.stick("`}`"),
                LexemeKind::End => return Ok(tokens),
                LexemeKind::CloseBrace if in_block && !tokens.is_empty() => return Ok(tokens),
                LexemeKind::CloseBrace => {
                    self.stuck = true;
                    return Err(error);
                }
                LexemeKind::Bad if self.lexer.is_stuck() => return self.stick("a statement"),
                _ if line && begins_line => return Ok(tokens),
                LexemeKind::Dotted
                    if begins_line
                        && !in_block
                        && parens == 0
                        && !behind_word
                        && begins_item(self.text()) =>
                {
                    return Ok(tokens);
                }
                LexemeKind::OpenBrace => {
                    self.keep_braces(&mut tokens)?;
                    let goes_on = matches!(
                        self.current.kind,
                        LexemeKind::Comma | LexemeKind::Semicolon | LexemeKind::Assign
                    );
                    if !goes_on {
                        return Ok(tokens);
                    }
                    continue;
                }
                LexemeKind::Semicolon => {
                    self.keep_next(&mut tokens);
                    return Ok(tokens);
                }
                LexemeKind::OpenParen => parens += 1,
                LexemeKind::CloseParen => parens = parens.saturating_sub(1),
                // `@@DWARF`
                LexemeKind::At if tokens.len() == 1 && tokens[0].text == "@" => line = true,
                _ => {}
            }
            self.keep_next(&mut tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Item, Module, parse, print};

    fn module(text: &str) -> Module {
        let module = parse(text).unwrap_or_else(|error| panic!("{}", error.render("", text)));
        assert_eq!(parse(&print(&module)).unwrap(), module, "{text}");
        module
    }

    /// The statements of the text that are not understood, as they are printed, and how many others there are.
    fn unread(text: &str) -> (Vec<String>, usize) {
        let module = module(text);
        let texts = module.unread().map(|unread| {
            let span = unread.span();
            text[span.start as usize..span.end as usize].to_owned()
        });
        let unread: Vec<_> = texts.collect();
        let at_module_scope = module.items.iter().filter(|item| matches!(item, Item::Unread(_))).count();
        (unread, module.items.len() - at_module_scope)
    }

    #[test]
    fn directives_without_semicolon_end_where_their_grammar_ends() {
        let text = ".file 1 \"a\" .file 2 \"b\", 3, 4 .file 5 \"c\" \"d\" .loc 1 2 3 .loc 1 2 3, function_name f, inlined_at \
                    4 5 6 .loc 1 2 3, function_name f + 7 .section .debug_x { a: .b8 1 { } } .pragma \"p\"; .alias a, b;";
        let items = module(text).items;
        let lengths: Vec<_> = items
            .iter()
            .map(|item| match item {
                Item::Other(tokens) => tokens.len(),
                item => panic!("{item:?}"),
            })
            .collect();
        assert_eq!(lengths, [3, 7, 4, 4, 12, 9, 8, 3, 5]);
    }

    #[test]
    fn unparsed_statements_end_at_a_statement_boundary() {
        let one = |text: &str, rest: &str, others: usize| {
            let found = unread(&format!("{text}{rest}"));
            assert_eq!(found, (vec![text.to_owned()], others), "{text}{rest}");
        };
        one(".v25 .s64 v[.global] 0f3f800000 {1, 2};", " .global .s32 x;", 1);
        one(".global .s32 x[] = {1 2};", " .global .s32 x;", 1);
        one(".func (.param .b32 r) f (.param .b32 a, ...) { a; { b; } }", " .global .s32 x;", 1);
        one(".func (.param .b32 r) f\n(.param .b32 a,\n ...)", "\n.entry k() { }", 1);
        one("@@DWARF .section .debug_info, \"\", @progbits", "\n.global .s32 x;\n", 1);
        one("#define N 7", "\n.global .s32 x;", 1);
        one(".loc 1 x", "\n.global .s32 x;", 1);
        one(".frob a", "\n.visible .global .s32 x;", 1);
        one(";", " .global .s32 x;", 1);
        one("ret;", "", 0);
        one(".pragma \"p\"", "", 0);
    }

    #[test]
    fn unparsed_statements_in_a_function_belong_to_it() {
        let one = |body: &str, what: &str| {
            assert_eq!(
                unread(&format!(".func f() {{ {body} }} .func g() {{ }}")),
                (vec![what.to_owned()], 2)
            );
        };
        one("ret; .frob 1, 2; ret;", ".frob 1, 2;");
        one("ret; .reg .s32 = 7; ret;", ".reg .s32 = 7;");
        one("{ { .reg .s32 $; } } ret;", ".reg .s32 $;");
        one("ret; ld {a, b ; } ret;", "ld {a, b ; }");
        one("ret; mov.u32 a, b", "mov.u32 a, b");
        one("# 1 \"a.cu\"\n ret;", "# 1 \"a.cu\"");
    }

    #[test]
    fn sources_without_statement_boundaries_are_errors() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(message(".func f() { ret; "), "expected `}`, found the end of the text");
        assert_eq!(message(".func f() { ld {a, b ; "), "expected `}`, found the end of the text");
        assert_eq!(message(".section .x { {"), "expected `}`, found the end of the text");
        assert_eq!(message("}"), "expected a directive, found `}`");
        assert_eq!(message(".func f() { } }"), "expected a directive, found `}`");
        assert_eq!(message(".global .s32 x /* ;"), "the comment has no end");
        assert_eq!(message(".func f() { { { ret \"; } } }"), "the string has no closing quote on its line");
    }
}
