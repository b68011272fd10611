//! Declarations of variables (5.4).

use super::{Parser, Result};
use crate::{
    expr::Expr,
    lexer::Kind,
    ops::BinaryOp,
    span::Span,
    tree::{Attribute, Declaration, Declarator, Initializer, InitializerList, Property, Specifier},
    types::{Linkage, OpaqueType, ScalarType, StateSpace, VectorLength},
};

/// Whether a dotted word is known to stand before the names of a declaration.
pub(super) fn is_specifier(word: &str) -> bool {
    matches!(word, ".align" | ".attribute" | ".ptr") || keyword(word).is_some()
}

/// The specifier that is this one word.
fn keyword(word: &str) -> Option<Specifier> {
    None.or_else(|| ScalarType::from_keyword(word).map(Specifier::Type))
        .or_else(|| StateSpace::from_keyword(word).map(|space| Specifier::Space(space, None)))
        .or_else(|| VectorLength::from_keyword(word).map(Specifier::Vector))
        .or_else(|| Linkage::from_keyword(word).map(Specifier::Linkage))
        .or_else(|| OpaqueType::from_keyword(word).map(Specifier::Opaque))
}

impl Parser<'_> {
    /// A declaration statement.
    pub(super) fn declaration(&mut self) -> Result<Declaration> {
        let start = self.current.span;
        if self.current.kind != Kind::Dotted {
            return Err(self.expected("a declaration"));
        }
        let specifiers = self.specifiers()?;
        self.declarators(start, specifiers)
    }

    /// The rest of a declaration statement behind its specifiers.
    pub(super) fn declarators(&mut self, start: Span, specifiers: Vec<Specifier>) -> Result<Declaration> {
        let mut declarators = vec![self.declarator()?];
        while self.eat(Kind::Comma) {
            declarators.push(self.declarator()?);
        }
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(Declaration { specifiers, declarators, span: self.span_from(start) })
    }

    /// A list of parameters in parentheses, of which each declares one variable.
    pub(super) fn parameters(&mut self) -> Result<Vec<Declaration>> {
        self.expect(Kind::OpenParen, "`(`")?;
        let mut parameters = Vec::new();
        if self.eat(Kind::CloseParen) {
            return Ok(parameters);
        }
        loop {
            let start = self.current.span;
            if self.current.kind != Kind::Dotted {
                return Err(self.expected("a parameter"));
            }
            let specifiers = self.specifiers()?;
            let declarators = vec![self.declarator()?];
            parameters.push(Declaration { specifiers, declarators, span: self.span_from(start) });
            if !self.eat(Kind::Comma) {
                self.expect(Kind::CloseParen, "`,` or `)`")?;
                return Ok(parameters);
            }
        }
    }

    /// The dotted words before a name, up to `.entry` or `.func`.
    pub(super) fn specifiers(&mut self) -> Result<Vec<Specifier>> {
        let mut specifiers = Vec::new();
        while self.current.kind == Kind::Dotted {
            let word = self.text();
            if matches!(word, ".entry" | ".func") {
                break;
            }
            specifiers.push(match word {
                ".align" => {
                    self.advance();
                    Specifier::Align(self.expression()?)
                }
                ".attribute" => {
                    self.advance();
                    Specifier::Attributes(self.attributes()?)
                }
                ".ptr" => {
                    self.advance();
                    Specifier::Ptr
                }
                _ => match keyword(word) {
                    Some(Specifier::Space(space, None)) => {
                        self.advance();
                        let bank =
                            if self.current.kind == Kind::OpenBracket { self.dimension()? } else { None };
                        Specifier::Space(space, bank)
                    }
                    Some(specifier) => {
                        self.advance();
                        specifier
                    }
                    None => Specifier::Word(self.named(Kind::Dotted, "a specifier")?),
                },
            });
        }
        Ok(specifiers)
    }

    fn attributes(&mut self) -> Result<Vec<Attribute>> {
        self.expect(Kind::OpenParen, "`(`")?;
        let mut attributes = Vec::new();
        if self.eat(Kind::CloseParen) {
            return Ok(attributes);
        }
        loop {
            let name = self.named(Kind::Dotted, "an attribute")?;
            let mut arguments = Vec::new();
            if self.eat(Kind::OpenParen) {
                arguments.push(self.expression()?);
                while self.eat(Kind::Comma) {
                    arguments.push(self.expression()?);
                }
                self.expect(Kind::CloseParen, "`,` or `)`")?;
            }
            attributes.push(Attribute { name, arguments });
            if !self.eat(Kind::Comma) {
                self.expect(Kind::CloseParen, "`,` or `)`")?;
                return Ok(attributes);
            }
        }
    }

    fn declarator(&mut self) -> Result<Declarator> {
        let name = self.named(Kind::Name, "a name")?;
        let count = if self.eat(Kind::Lt) {
            // A comparison would take the closing `>` for itself.
            let count = self.expression_above(BinaryOp::Shl.precedence())?;
            self.expect(Kind::Gt, "`>`")?;
            Some(count)
        } else {
            None
        };
        let mut dimensions = Vec::new();
        while self.current.kind == Kind::OpenBracket {
            dimensions.push(self.dimension()?);
        }
        let initializer = if self.eat(Kind::Assign) { Some(self.initializer()?) } else { None };
        Ok(Declarator { name, count, dimensions, initializer })
    }

    /// `[ ]` or `[ expression ]`
    fn dimension(&mut self) -> Result<Option<Expr>> {
        self.expect(Kind::OpenBracket, "`[`")?;
        if self.eat(Kind::CloseBracket) {
            return Ok(None);
        }
        let length = self.expression()?;
        self.expect(Kind::CloseBracket, "`]`")?;
        Ok(Some(length))
    }

    fn initializer(&mut self) -> Result<Initializer> {
        if self.current.kind != Kind::OpenBrace {
            return Ok(Initializer::Value(self.expression()?));
        }
        let start = self.current.span;
        self.enter()?;
        self.advance();
        let mut list = InitializerList::default();
        while self.current.kind != Kind::CloseBrace {
            let entry = self.entry()?;
            list.items.push(entry);
            list.trailing_comma = self.eat(Kind::Comma);
            if !list.trailing_comma && self.current.kind != Kind::CloseBrace {
                return Err(self.expected("`,` or `}`"));
            }
        }
        self.advance();
        self.leave();
        list.span = self.span_from(start);
        Ok(Initializer::List(list))
    }

    /// One entry of a list.
    fn entry(&mut self) -> Result<Initializer> {
        match self.initializer()? {
            Initializer::Value(expr) if self.current.kind == Kind::Assign => {
                let Some(name) = expr.as_name() else { return Err(self.expected("`,` or `}`")) };
                self.advance();
                let value = self.expression()?;
                Ok(Initializer::Property(Box::new(Property { name, value })))
            }
            initializer => Ok(initializer),
        }
    }
}
