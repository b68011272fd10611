//! Instructions of the common form; see [`Opcode`].

use super::{Parser, Result};
use crate::{
    expr::Builder,
    instruction::{BranchTargets, Guard, Instruction, Operand},
    lexer::Kind,
    ops::UnaryOp,
    tree::{Gap, Statement, Tokens},
    types::Opcode,
};

impl Parser<'_> {
    /// A statement that begins with a guard or a name that is no label: an instruction of the common form, or its
    /// tokens.
    pub(super) fn instruction_or_tokens(&mut self) -> Result<Statement> {
        // Whether it is one shows at its end only. Another form is rare, so reading it twice costs little.
        let (lexer, current, previous_end, depth) =
            (self.lexer.clone(), self.current, self.previous_end, self.depth);
        if let Ok(instruction) = self.instruction() {
            return Ok(Statement::Instruction(Box::new(instruction)));
        }
        (self.lexer, self.current, self.previous_end, self.depth) = (lexer, current, previous_end, depth);
        self.builder = Builder::new();
        self.pending.clear();
        let mut tokens = Tokens::new();
        self.keep_to_semicolon(&mut tokens)?;
        Ok(Statement::Tokens(tokens))
    }

    fn instruction(&mut self) -> Result<Instruction> {
        let start = self.current.span;
        let guard = if self.eat(Kind::At) {
            let negated = self.eat(Kind::Prefix(UnaryOp::Not));
            Some(Guard { negated, predicate: self.named(Kind::Name, "a predicate")? })
        } else {
            None
        };
        let opcode = self.named(Kind::Name, "an opcode")?;
        let Some(opcode) = Opcode::from_keyword(&opcode.text) else {
            return Err(self.expected("an opcode of the common form"));
        };
        let mut modifiers = Vec::new();
        while self.current.kind == Kind::Dotted && self.current.gap == Gap::Joined {
            modifiers.push(self.named(Kind::Dotted, "a modifier")?);
        }
        let is_call = opcode == Opcode::Call;
        let mut operands = Vec::new();
        if self.current.kind != Kind::Semicolon {
            loop {
                operands.push(self.operand(is_call)?);
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
        }
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(Instruction { guard, opcode, modifiers, operands, span: self.span_from(start) })
    }

    fn operand(&mut self, is_call: bool) -> Result<Operand> {
        match self.current.kind {
            Kind::OpenBracket => Ok(Operand::Address(self.bracketed()?)),
            Kind::OpenBrace => Ok(Operand::Vector(self.operands(Kind::CloseBrace)?)),
            Kind::OpenParen if is_call => Ok(Operand::List(self.operands(Kind::CloseParen)?)),
            Kind::Name => {
                let (lexer, current, previous_end) = (self.lexer.clone(), self.current, self.previous_end);
                let name = self.named(Kind::Name, "a name")?;
                match self.current.kind {
                    Kind::OpenBracket => Ok(Operand::Element(name, self.bracketed()?)),
                    Kind::Dotted if self.current.gap == Gap::Joined => {
                        let suffix = self.named(Kind::Dotted, "an element of a vector")?;
                        Ok(Operand::Component(name, suffix))
                    }
                    _ => {
                        (self.lexer, self.current, self.previous_end) = (lexer, current, previous_end);
                        Ok(Operand::Value(self.expression()?))
                    }
                }
            }
            _ => Ok(Operand::Value(self.expression()?)),
        }
    }

    /// `[ expression ]`
    fn bracketed(&mut self) -> Result<crate::Expr> {
        self.expect(Kind::OpenBracket, "`[`")?;
        let expr = self.expression()?;
        self.expect(Kind::CloseBracket, "`]`")?;
        Ok(expr)
    }

    /// Operands between an opening token, which is the current one, and this closing one.
    fn operands(&mut self, close: Kind) -> Result<Vec<Operand>> {
        self.enter()?;
        self.advance();
        let mut operands = Vec::new();
        if self.current.kind != close {
            loop {
                operands.push(self.operand(false)?);
                if !self.eat(Kind::Comma) {
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
        let mut targets = vec![self.named(Kind::Name, "a label")?];
        while self.eat(Kind::Comma) {
            targets.push(self.named(Kind::Name, "a label")?);
        }
        self.expect(Kind::Semicolon, "`;`")?;
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
    fn every_form_of_operand_is_told_apart() {
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
    fn another_form_stays_tokens() {
        for text in [
            "frob r, [a];",
            "atom.add.u32 r, [a], 1;",
            "ld.global.L1::evict_last.u32 r, [a];",
            "mov .u32 r, 1;",
        ] {
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
