//! Kernels, functions, and the statements in them.

use super::{Parser, Result, begins_item, declaration::is_specifier};
use crate::{
    lexer::LexemeKind,
    span::Span,
    tree::{Function, FunctionKind, Item, Specifier, Statement, Tokens},
};

/// Directives in functions that are kept as tokens.
const IN_FUNCTIONS: [&str; 6] = [".callprototype", ".calltargets", ".file", ".loc", ".pragma", ".section"];

impl Parser<'_> {
    /// A statement at module scope that starts with the specifiers of a variable or a function.
    pub(super) fn function_or_variables(&mut self) -> Result<Item> {
        let start = self.current.span;
        let specifiers = self.specifiers()?;
        if self.current.kind == LexemeKind::Dotted {
            return Ok(Item::Function(Box::new(self.function(start, specifiers)?)));
        }
        Ok(Item::Variables(self.declarators(start, specifiers)?))
    }

    /// Parses the rest of a function after its linking directives.
    fn function(&mut self, start: Span, before: Vec<Specifier>) -> Result<Function> {
        let kind = match self.text() {
            ".entry" => FunctionKind::Entry,
            ".func" => FunctionKind::Func,
            _ => return Err(self.expected("`.entry` or `.func`")),
        };
        self.advance();
        let after = self.specifiers()?;
        let results =
            if self.current.kind == LexemeKind::OpenParen { Some(self.parameters()?) } else { None };
        let name = self.named(LexemeKind::Name, "the name of a function")?;
        let parameters =
            if self.current.kind == LexemeKind::OpenParen { Some(self.parameters()?) } else { None };
        let directives = self.function_directives()?;
        let semicolon = self.eat(LexemeKind::Semicolon);
        let body =
            if self.current.kind == LexemeKind::OpenBrace && !semicolon { Some(self.block()?) } else { None };
        Ok(Function {
            before,
            kind,
            after,
            results,
            name,
            parameters,
            directives,
            body,
            semicolon,
            span: self.span_from(start),
        })
    }

    /// Parses the directives between the parameters and the body.
    fn function_directives(&mut self) -> Result<Tokens> {
        let mut tokens = Tokens::new();
        loop {
            match self.current.kind {
                LexemeKind::OpenBrace | LexemeKind::Semicolon | LexemeKind::End => return Ok(tokens),
                // The only directive here that has a semicolon of its own.
                LexemeKind::Dotted if self.text() == ".pragma" => {
                    let pragma = self.directive()?;
                    tokens.extend(pragma);
                }
                // The next statement: this is a prototype without semicolon.
                LexemeKind::Dotted if begins_item(self.text()) => return Ok(tokens),
                LexemeKind::Dotted | LexemeKind::Number | LexemeKind::Name | LexemeKind::Comma => {
                    self.keep_next(&mut tokens)
                }
                LexemeKind::OpenParen | LexemeKind::CloseParen | LexemeKind::String if !tokens.is_empty() => {
                    self.keep_next(&mut tokens);
                }
                _ => return Err(self.expected("`{` or `;`")),
            }
        }
    }

    /// `{ statement ... }`
    fn block(&mut self) -> Result<Vec<Statement>> {
        self.enter()?;
        self.expect(LexemeKind::OpenBrace, "`{`")?;
        let mut statements = Vec::new();
        while self.current.kind != LexemeKind::CloseBrace {
            let statement = self.or_unread(Parser::statement, Statement::Unread, true)?;
            statements.push(statement);
        }
        self.advance();
        self.leave();
        Ok(statements)
    }

    fn statement(&mut self) -> Result<Statement> {
        match self.current.kind {
            LexemeKind::OpenBrace => Ok(Statement::Block(self.block()?)),
            LexemeKind::Dotted if is_specifier(self.text()) => Ok(Statement::Variables(self.declaration()?)),
            LexemeKind::Dotted if self.text() == ".branchtargets" => {
                Ok(Statement::BranchTargets(self.branch_targets()?))
            }
            LexemeKind::Dotted if IN_FUNCTIONS.contains(&self.text()) => {
                Ok(Statement::Tokens(self.directive()?))
            }
            LexemeKind::Dotted => Err(self.expected("a directive of functions")),
            LexemeKind::Semicolon => Ok(Statement::Tokens(self.directive()?)),
            LexemeKind::Name if self.lexer.clone().next().kind == LexemeKind::Colon => {
                let name = self.named(LexemeKind::Name, "a label")?;
                self.advance();
                Ok(Statement::Label(name))
            }
            _ => self.instruction_or_tokens(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn function(text: &str) -> Function {
        match parse(text).unwrap_or_else(|error| panic!("{}", error.render("", text))).items.remove(0) {
            Item::Function(function) => *function,
            item => panic!("{item:?}"),
        }
    }

    #[test]
    fn a_list_that_is_not_written_is_not_an_empty_list() {
        let bare = function(".func f;");
        assert_eq!((bare.results, bare.parameters, bare.body), (None, None, None));
        let empty = function(".func () f () { }");
        assert_eq!((empty.results, empty.parameters, empty.body), (Some(vec![]), Some(vec![]), Some(vec![])));
    }

    #[test]
    fn the_semicolon_of_a_pragma_does_not_end_a_prototype() {
        let texts = |tokens: &Tokens| tokens.iter().map(|t| t.text.to_string()).collect::<Vec<_>>().join(" ");
        let kernel = function(".entry k() .maxntid 128, 1, 1 .pragma \"a\"; .minnctapersm 2 { ret; }");
        assert_eq!(texts(&kernel.directives), ".maxntid 128 , 1 , 1 .pragma \"a\" ; .minnctapersm 2");
        assert_eq!(kernel.body.unwrap().len(), 1);
        assert_eq!(function(".func f() .pragma \"a\"; ;").body, None);
    }

    #[test]
    fn a_prototype_without_semicolon_does_not_take_the_next_statement() {
        for next in [
            ".visible .entry g() { }",
            ".entry g() { }",
            ".func g() { }",
            ".global .s32 x;",
            ".section .debug { }",
        ] {
            let module = parse(&format!(".func f() .noreturn {next}")).unwrap();
            let [Item::Function(f), _] = &module.items[..] else { panic!("{module:?}") };
            assert_eq!((f.body.as_ref(), f.semicolon, f.directives.len()), (None, false, 1));
            assert_eq!(parse(&crate::print(&module)).as_ref(), Ok(&module));
            assert!(parse(&format!(".func f(); {next}")).unwrap().functions().next().unwrap().semicolon);
        }
    }

    #[test]
    fn statements_are_recognized_by_their_first_tokens() {
        let body = function(
            ".func f() { .reg .b32 %r<2>; a: b: { @!p bra a; } ts: .branchtargets a, b; call (x), f, (y); \
             .loc 1 2 3 .pragma \"p\"; _: frob.L1::x {a, b}, [c+-4]; }",
        )
        .body
        .unwrap();
        let kinds: String = body
            .iter()
            .map(|statement| match statement {
                Statement::Variables(_) => 'v',
                Statement::Label(_) => 'l',
                Statement::Block(_) => 'b',
                Statement::Instruction(_) => 'i',
                Statement::BranchTargets(_) => 'j',
                Statement::Tokens(_) => 't',
                Statement::Unread(_) => 'u',
            })
            .collect();
        assert_eq!(kinds, "vllbljittlt");
    }
}
