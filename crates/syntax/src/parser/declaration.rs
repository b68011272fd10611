//! Declarations of variables (5.4).

use super::{Parser, Result, SHOWN};
use crate::{
    error::{ParseError, ParseErrorKind},
    expr::Expr,
    lexer::LexemeKind,
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
    /// Parses a declaration statement.
    pub(super) fn declaration(&mut self) -> Result<Declaration> {
        let start = self.current.span;
        if self.current.kind != LexemeKind::Dotted {
            return Err(self.expected("a declaration"));
        }
        let specifiers = self.specifiers()?;
        self.declarators(start, specifiers)
    }

    /// Parses the rest of a declaration statement after its specifiers.
    pub(super) fn declarators(&mut self, start: Span, specifiers: Vec<Specifier>) -> Result<Declaration> {
        let mut declarators = vec![self.first_declarator(&specifiers)?];
        while self.eat(LexemeKind::Comma) {
            declarators.push(self.declarator()?);
        }
        self.expect(LexemeKind::Semicolon, "`;`")?;
        Ok(Declaration { specifiers, declarators, span: self.span_from(start) })
    }

    /// Parses a parenthesized list of parameters. Each declares a single variable.
    pub(super) fn parameters(&mut self) -> Result<Vec<Declaration>> {
        self.expect(LexemeKind::OpenParen, "`(`")?;
        let mut parameters = Vec::new();
        if self.eat(LexemeKind::CloseParen) {
            return Ok(parameters);
        }
        loop {
            let start = self.current.span;
            if self.current.kind != LexemeKind::Dotted {
                return Err(self.expected("a parameter"));
            }
            let specifiers = self.specifiers()?;
            let declarators = vec![self.first_declarator(&specifiers)?];
            parameters.push(Declaration { specifiers, declarators, span: self.span_from(start) });
            if !self.eat(LexemeKind::Comma) {
                self.expect(LexemeKind::CloseParen, "`,` or `)`")?;
                return Ok(parameters);
            }
        }
    }

    /// Parses the dotted words before a name, up to `.entry` or `.func`.
    pub(super) fn specifiers(&mut self) -> Result<Vec<Specifier>> {
        let mut specifiers = Vec::new();
        while self.current.kind == LexemeKind::Dotted {
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
                        let bank = if self.current.kind == LexemeKind::OpenBracket {
                            self.dimension()?
                        } else {
                            None
                        };
                        Specifier::Space(space, bank.map(Box::new))
                    }
                    Some(specifier) => {
                        self.advance();
                        specifier
                    }
                    None => Specifier::Word(Box::new(self.named(LexemeKind::Dotted, "a specifier")?)),
                },
            });
        }
        specifiers.shrink_to_fit();
        Ok(specifiers)
    }

    fn attributes(&mut self) -> Result<Vec<Attribute>> {
        self.expect(LexemeKind::OpenParen, "`(`")?;
        let mut attributes = Vec::new();
        if self.eat(LexemeKind::CloseParen) {
            return Ok(attributes);
        }
        loop {
            let name = self.named(LexemeKind::Dotted, "an attribute")?;
            let mut arguments = Vec::new();
            if self.eat(LexemeKind::OpenParen) {
                arguments.push(self.expression()?);
                while self.eat(LexemeKind::Comma) {
                    arguments.push(self.expression()?);
                }
                self.expect(LexemeKind::CloseParen, "`,` or `)`")?;
            }
            attributes.push(Attribute { name, arguments });
            if !self.eat(LexemeKind::Comma) {
                self.expect(LexemeKind::CloseParen, "`,` or `)`")?;
                return Ok(attributes);
            }
        }
    }

    /// The declarator behind these specifiers. Where there is no name, a word that is no specifier was meant to be it.
    fn first_declarator(&mut self, specifiers: &[Specifier]) -> Result<Declarator> {
        match specifiers.last() {
            Some(Specifier::Word(word)) if self.current.kind != LexemeKind::Name => {
                let shown = &word.text[..word.text.len().min(SHOWN)];
                let found = format!("`{shown}` (a name does not begin with a point)").into();
                let kind = ParseErrorKind::Expected { expected: "a name", found };
                Err(ParseError { kind, span: word.span })
            }
            _ => self.declarator(),
        }
    }

    fn declarator(&mut self) -> Result<Declarator> {
        let name = self.named(LexemeKind::Name, "a name")?;
        let count = if self.eat(LexemeKind::Infix(BinaryOp::Lt)) {
            // Exclude comparisons, which would consume the closing `>`.
            let count = self.expression_above(BinaryOp::Shl.precedence())?;
            self.expect(LexemeKind::Infix(BinaryOp::Gt), "`>`")?;
            Some(count)
        } else {
            None
        };
        let mut dimensions = Vec::new();
        while self.current.kind == LexemeKind::OpenBracket {
            dimensions.push(self.dimension()?);
        }
        let initializer = if self.eat(LexemeKind::Assign) { Some(self.initializer()?) } else { None };
        Ok(Declarator { name, count, dimensions, initializer })
    }

    /// `[ ]` or `[ expression ]`
    fn dimension(&mut self) -> Result<Option<Expr>> {
        self.expect(LexemeKind::OpenBracket, "`[`")?;
        if self.eat(LexemeKind::CloseBracket) {
            return Ok(None);
        }
        let length = self.expression()?;
        self.expect(LexemeKind::CloseBracket, "`]`")?;
        Ok(Some(length))
    }

    fn initializer(&mut self) -> Result<Initializer> {
        if self.current.kind != LexemeKind::OpenBrace {
            return Ok(Initializer::Value(self.expression()?));
        }
        let start = self.current.span;
        self.enter()?;
        self.advance();
        let mut list = InitializerList::default();
        while self.current.kind != LexemeKind::CloseBrace {
            let entry = self.entry()?;
            list.items.push(entry);
            list.trailing_comma = self.eat(LexemeKind::Comma);
            if !list.trailing_comma && self.current.kind != LexemeKind::CloseBrace {
                return Err(self.expected("`,` or `}`"));
            }
        }
        self.advance();
        self.leave();
        list.span = self.span_from(start);
        Ok(Initializer::List(list))
    }

    /// Parses an entry of a list.
    fn entry(&mut self) -> Result<Initializer> {
        match self.initializer()? {
            Initializer::Value(expr) if self.current.kind == LexemeKind::Assign => {
                let Some(name) = expr.as_name() else { return Err(self.expected("`,` or `}`")) };
                self.advance();
                let value = self.expression()?;
                Ok(Initializer::Property(Box::new(Property { name, value })))
            }
            initializer => Ok(initializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, parse_declaration, tree::Item};

    #[test]
    fn a_declaration_is_kept_in_its_own_order() {
        let text = ".visible .global .attribute(.managed) .align 8 .v2 .s32 a[2] = {{1}, {2, 3},}, b;";
        let declaration = parse_declaration(text).unwrap();
        assert!(matches!(
            declaration.specifiers[..],
            [
                Specifier::Linkage(Linkage::Visible),
                Specifier::Space(StateSpace::Global, None),
                Specifier::Attributes(_),
                Specifier::Align(_),
                Specifier::Vector(VectorLength::V2),
                Specifier::Type(ScalarType::S32),
            ]
        ));
        let [a, b] = &declaration.declarators[..] else { panic!() };
        assert_eq!((a.name.text.as_str(), a.dimensions.len()), ("a", 1));
        let Some(Initializer::List(list)) = &a.initializer else { panic!() };
        assert_eq!((list.items.len(), list.trailing_comma), (2, true));
        let Initializer::List(inner) = &list.items[1] else { panic!() };
        assert_eq!((inner.items.len(), inner.trailing_comma), (2, false));
        assert_eq!((b.name.text.as_str(), &b.initializer), ("b", &None));
        let at = |span: Span| &text[span.start as usize..span.end as usize];
        assert_eq!(at(declaration.span), text);
        assert_eq!(at(list.span), "{{1}, {2, 3},}");
        assert_eq!(at(inner.span), "{2, 3}");
        assert_eq!(at(b.name.span), "b");
    }

    #[test]
    fn specifiers_after_ptr_do_not_describe_the_parameter() {
        let module = parse(".entry k(.param .u64 .ptr .global .align 16 p) { }").unwrap();
        let Item::Function(function) = &module.items[0] else { panic!() };
        let parameter = &function.parameters.as_ref().unwrap()[0];
        assert_eq!(parameter.space(), Some(StateSpace::Param));
        assert_eq!(parameter.scalar_type(), Some(ScalarType::U64));
        assert_eq!(parameter.align(), None);
        assert_eq!(parameter.specifiers.len(), 5);
    }

    #[test]
    fn malformed_declarations_are_refused_where_they_go_wrong() {
        let message = |text: &str| parse_declaration(text).unwrap_err().to_string();
        assert_eq!(message(".global .s32 ;"), "expected a name, found `;`");
        assert_eq!(message(".global .s32 x"), "expected `;`, found the end of the text");
        assert_eq!(message(".global .s32 x[1"), "expected `]`, found the end of the text");
        assert_eq!(message(".global .s32 x[] = {,};"), "expected an expression, found `,`");
        assert_eq!(message(".global .s32 x[] = {1 2};"), "expected `,` or `}`, found `2`");
        assert_eq!(message(".global .s32 x[] = {1 = 2};"), "expected `,` or `}`, found `=`");
        assert_eq!(message(".global .s32 x = y = 2;"), "expected `;`, found `=`");
        assert_eq!(message(".global .attribute(.unified()) .s32 x;"), "expected an expression, found `)`");
        assert_eq!(message(".global .s32 x; .global"), "expected the end of the text, found `.global`");
        assert_eq!(message("x"), "expected a declaration, found `x`");
    }
}
