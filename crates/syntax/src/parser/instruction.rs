//! Instructions of the common form; see [`Opcode`].

use super::{Parser, Result};
use crate::{
    Text,
    instruction::{BranchTargets, Guard, Instruction, Operand},
    lexer::LexemeKind,
    ops::UnaryOp,
    span::{Name, Span},
    tree::{Gap, Statement, Tokens},
    types::Opcode,
};

impl Parser<'_> {
    /// A statement that begins with a guard or a name that is no label: an instruction of the common form, or its
    /// tokens.
    pub(super) fn instruction_or_tokens(&mut self) -> Result<Statement> {
        // Only the end shows whether the instruction has this form. Other forms are rare, so parsing them twice is cheap.
        let checkpoint = self.checkpoint();
        let error = match self.instruction() {
            Ok(instruction) => return Ok(Statement::Instruction(Box::new(instruction))),
            Err(error) => error,
        };
        self.give_up(checkpoint);
        let mut tokens = Tokens::new();
        let begins = matches!(self.current.kind, LexemeKind::Name | LexemeKind::At);
        self.keep_balanced(&mut tokens, |parser| parser.current.kind == LexemeKind::Semicolon)?;
        if !begins
            || self.current.kind != LexemeKind::Semicolon
            || tokens.iter().any(|token| token.text == ";")
        {
            return Err(error);
        }
        self.keep_next(&mut tokens);
        Ok(Statement::Tokens(tokens))
    }

    fn instruction(&mut self) -> Result<Instruction> {
        let start = self.current.span;
        let guard = if self.eat(LexemeKind::At) {
            let negated = self.eat(LexemeKind::Prefix(UnaryOp::Not));
            Some(Guard { negated, predicate: self.named(LexemeKind::Name, "a predicate")? })
        } else {
            None
        };
        if self.current.kind != LexemeKind::Name {
            return Err(self.expected("an opcode"));
        }
        let Some(opcode) = Opcode::from_keyword(self.text()) else {
            return Err(self.expected("an opcode of the common form"));
        };
        self.advance();
        let modifiers = self.modifiers();
        let is_call = opcode == Opcode::Call;
        let mut operands = Vec::new();
        if self.current.kind != LexemeKind::Semicolon {
            loop {
                operands.push(self.operand(is_call)?);
                if !self.eat(LexemeKind::Comma) {
                    break;
                }
            }
        }
        self.expect(LexemeKind::Semicolon, "`;`")?;
        // Modules have many instructions with few operands each.
        operands.shrink_to_fit();
        Ok(Instruction { guard, opcode, modifiers, operands, span: self.span_from(start) })
    }

    /// The words that are joined to an opcode, each with its dot: `.global`, `.L1::evict_last`, `.2d`.
    fn modifiers(&mut self) -> Vec<Name> {
        let start = self.current.span.start;
        let mut behind_colons = false;
        while self.current.gap == Gap::Joined {
            match self.current.kind {
                LexemeKind::Dotted => {}
                LexemeKind::DoubleColon if self.previous_end > start => {}
                LexemeKind::Number if behind_colons || self.text().starts_with('.') => {}
                LexemeKind::Name if behind_colons => {}
                _ => break,
            }
            behind_colons = self.advance().kind == LexemeKind::DoubleColon;
        }
        let text = self.lexer.slice(Span { start, end: self.previous_end.max(start) });
        let dots: Vec<usize> = text.match_indices('.').map(|(at, _)| at).chain([text.len()]).collect();
        let names = dots.windows(2).map(|pair| Name {
            text: Text::new(&text[pair[0]..pair[1]]),
            span: Span { start: start + pair[0] as u32, end: start + pair[1] as u32 },
        });
        names.collect()
    }

    fn operand(&mut self, is_call: bool) -> Result<Operand> {
        match self.current.kind {
            LexemeKind::OpenBracket => Ok(Operand::Address(self.bracketed()?)),
            LexemeKind::OpenBrace => Ok(Operand::Vector(self.operands(LexemeKind::CloseBrace)?)),
            LexemeKind::OpenParen if is_call => Ok(Operand::List(self.operands(LexemeKind::CloseParen)?)),
            LexemeKind::Name => {
                let checkpoint = self.checkpoint();
                let name = self.named(LexemeKind::Name, "a name")?;
                match self.current.kind {
                    LexemeKind::OpenBracket => Ok(Operand::Element(name, self.bracketed()?)),
                    LexemeKind::Dotted if self.current.gap == Gap::Joined => {
                        let suffix = self.named(LexemeKind::Dotted, "an element of a vector")?;
                        Ok(Operand::Component(name, suffix))
                    }
                    _ => {
                        self.back_to(checkpoint);
                        Ok(Operand::Value(self.expression()?))
                    }
                }
            }
            _ => Ok(Operand::Value(self.expression()?)),
        }
    }

    /// `[ expression ]`
    fn bracketed(&mut self) -> Result<crate::Expr> {
        self.expect(LexemeKind::OpenBracket, "`[`")?;
        let expr = self.expression()?;
        self.expect(LexemeKind::CloseBracket, "`]`")?;
        Ok(expr)
    }

    /// Operands between an opening token, which is the current one, and this closing one.
    fn operands(&mut self, close: LexemeKind) -> Result<Vec<Operand>> {
        self.enter()?;
        self.advance();
        let mut operands = Vec::new();
        if self.current.kind != close {
            loop {
                operands.push(self.operand(false)?);
                if !self.eat(LexemeKind::Comma) {
                    break;
                }
            }
        }
        self.expect(close, "the end of a list of operands")?;
        self.leave();
        Ok(operands)
    }

    /// `.branchtargets LABEL, ...;`
    pub(super) fn branch_targets(&mut self) -> Result<BranchTargets> {
        let start = self.current.span;
        self.advance();
        let mut targets = vec![self.named(LexemeKind::Name, "a label")?];
        while self.eat(LexemeKind::Comma) {
            targets.push(self.named(LexemeKind::Name, "a label")?);
        }
        self.expect(LexemeKind::Semicolon, "`;`")?;
        Ok(BranchTargets { targets, span: self.span_from(start) })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Item, Operand, Statement, parse, print};

    fn body(text: &str) -> Vec<Statement> {
        let module = parse(&format!(".func f() {{ {text} }}")).unwrap();
        assert_eq!(parse(&print(&module)).unwrap(), module, "{text}");
        match &module.items[0] {
            Item::Function(function) => function.body.clone().unwrap(),
            item => panic!("{item:?}"),
        }
    }

    fn operands(text: &str) -> Vec<Operand> {
        match &body(text)[0] {
            Statement::Instruction(instruction) => instruction.operands.clone(),
            statement => panic!("{text}: {statement:?}"),
        }
    }

    #[test]
    fn forms_of_operands_are_distinguished() {
        let kinds = |text: &str| -> String {
            let kind = |operand: &Operand| match operand {
                Operand::Value(_) => 'v',
                Operand::Address(_) => 'a',
                Operand::Element(..) => 'e',
                Operand::Component(..) => 'c',
                Operand::Vector(_) => 'b',
                Operand::List(_) => 'l',
            };
            operands(text).iter().map(kind).collect()
        };
        assert_eq!(kinds("ld.global.v4.f32 {a, b, _, d}, [p+-16];"), "ba");
        assert_eq!(kinds("mov.u32 %r1, t[%r2 - 4];"), "ve");
        assert_eq!(kinds("mov.u32 %r1, %tid.x;"), "vc");
        assert_eq!(kinds("mov.u32 r, (1 + 2) * 3;"), "vv");
        assert_eq!(kinds("@!p st.shared.b32 [0x10], V.w;"), "ac");
        assert_eq!(kinds("call.uni (r), f, (1, x), proto;"), "lvlv");
        assert_eq!(kinds("setp.lt.and.u32 p|q, a, 5, !r;"), "vvvv");
        assert_eq!(kinds("ret;"), "");
    }

    #[test]
    fn every_word_that_is_joined_to_an_opcode_is_a_modifier() {
        let modifiers = |text: &str| match &body(text)[0] {
            Statement::Instruction(i) => i.modifiers.iter().map(|m| m.text.to_string()).collect::<Vec<_>>(),
            statement => panic!("{text}: {statement:?}"),
        };
        assert_eq!(
            modifiers("ld.global.L1::evict_last.L2::128B.v4.u32 {a, _, b, c}, [p];"),
            [".global", ".L1::evict_last", ".L2::128B", ".v4", ".u32"]
        );
        assert_eq!(modifiers("st.shared::cta.2d [a], 1;"), [".shared::cta", ".2d"]);
        assert!(modifiers("exit;").is_empty());
    }

    #[test]
    fn another_form_stays_tokens() {
        for text in ["frob r, [a];", "activemask.b32 r;", "mov .u32 r, 1;"] {
            assert!(matches!(body(text)[0], Statement::Tokens(_)), "{text}");
        }
    }

    #[test]
    fn a_branch_table_is_its_labels() {
        let body = body("t: .branchtargets a, b; brx.idx r, t;");
        let Statement::BranchTargets(table) = &body[1] else { panic!("{body:?}") };
        assert_eq!(table.targets.iter().map(|name| name.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
