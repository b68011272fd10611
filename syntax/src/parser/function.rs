//! Kernels, functions, and the statements in them.

use super::{Parser, Result, declaration::is_specifier};
use crate::{
    Text,
    lexer::Kind,
    span::Span,
    tree::{Function, FunctionKind, Item, Name, Specifier, Statement, Tokens},
};

impl Parser<'_> {
    /// A statement at module scope that starts with the specifiers of a variable or a function.
    pub(super) fn function_or_variables(&mut self) -> Result<Item> {
        let start = self.current.span;
        let specifiers = self.specifiers()?;
        if self.current.kind == Kind::Dotted {
            return Ok(Item::Function(Box::new(self.function(start, specifiers)?)));
        }
        Ok(Item::Variables(self.declarators(start, specifiers)?))
    }

    /// The rest of a function behind its linking directives.
    fn function(&mut self, start: Span, before: Vec<Specifier>) -> Result<Function> {
        let kind = match self.text() {
            ".entry" => FunctionKind::Entry,
            ".func" => FunctionKind::Func,
            _ => return Err(self.expected("`.entry` or `.func`")),
        };
        self.advance();
        let after = self.specifiers()?;
        let results = if self.current.kind == Kind::OpenParen { Some(self.parameters()?) } else { None };
        let name = self.named(Kind::Name, "the name of a function")?;
        let parameters = if self.current.kind == Kind::OpenParen { Some(self.parameters()?) } else { None };
        let directives = self.function_directives()?;
        let body = if self.eat(Kind::Semicolon) { None } else { Some(self.block()?) };
        Ok(Function {
            before,
            kind,
            after,
            results,
            name,
            parameters,
            directives,
            body,
            span: self.span_from(start),
        })
    }

    /// What stands between the parameters and the body.
    fn function_directives(&mut self) -> Result<Tokens> {
        let mut tokens = Tokens::new();
        loop {
            match self.current.kind {
                Kind::OpenBrace | Kind::Semicolon => return Ok(tokens),
                // The only directive here that has a semicolon of its own.
                Kind::Dotted if self.text() == ".pragma" => self.keep_to_semicolon(&mut tokens)?,
                // The next declaration: this one was not finished.
                Kind::Dotted if matches!(self.text(), ".entry" | ".func") || is_specifier(self.text()) => {
                    return Err(self.expected("`{` or `;`"));
                }
                Kind::Dotted | Kind::Number | Kind::Name | Kind::Comma => self.keep_next(&mut tokens),
                Kind::OpenParen | Kind::CloseParen | Kind::String if !tokens.is_empty() => {
                    self.keep_next(&mut tokens);
                }
                _ => return Err(self.expected("`{` or `;`")),
            }
        }
    }

    /// `{ statement ... }`
    fn block(&mut self) -> Result<Vec<Statement>> {
        self.enter()?;
        self.expect(Kind::OpenBrace, "`{`")?;
        let mut statements = Vec::new();
        while self.current.kind != Kind::CloseBrace {
            if self.current.kind == Kind::End {
                return Err(self.expected("`}`"));
            }
            statements.push(self.statement()?);
        }
        self.advance();
        self.leave();
        Ok(statements)
    }

    fn statement(&mut self) -> Result<Statement> {
        match self.current.kind {
            Kind::OpenBrace => Ok(Statement::Block(self.block()?)),
            Kind::Dotted if is_specifier(self.text()) => Ok(Statement::Variables(self.declaration()?)),
            Kind::Dotted => Ok(Statement::Tokens(self.directive()?)),
            Kind::Name => {
                let first = self.advance();
                if self.eat(Kind::Colon) {
                    let text = Text::new(self.lexer.slice(first.span));
                    return Ok(Statement::Label(Name { text, span: first.span }));
                }
                let mut tokens = Tokens::new();
                self.push_kept(&mut tokens, first);
                self.keep_to_semicolon(&mut tokens)?;
                Ok(Statement::Tokens(tokens))
            }
            _ => {
                let mut tokens = Tokens::new();
                self.keep_to_semicolon(&mut tokens)?;
                Ok(Statement::Tokens(tokens))
            }
        }
    }
}
