//! Operands, and expressions built from them in post-order.

use ptxsmith_syntax::{
    BinaryOp, Builder, Cast, Expr, NodeKind, Radix, ScalarType, Span, StateSpace, UnaryOp,
};

use crate::{case::Body, number::integer_text};

/// An integer operand: its sign or suffix, and its magnitude.
#[derive(Clone, Copy, Debug)]
pub(super) enum IntegerOperand {
    Plain(u64),
    Minus(u64),
    Unsigned(u64),
    /// The least signed number, which is not a negated signed literal.
    Least,
}

pub(super) use IntegerOperand::{Least, Minus, Plain, Unsigned};

/// The operands of single operators: signed, negative and unsigned ones.
pub(super) static OPERANDS: [IntegerOperand; 25] = [
    Plain(0),
    Plain(1),
    Plain(2),
    Plain(7),
    Plain(31),
    Plain(32),
    Plain(63),
    Plain(64),
    Plain(0x7fff_ffff),
    Plain(0xffff_ffff),
    Plain(i64::MAX as u64),
    Plain(1 << 63),
    Plain(u64::MAX),
    Minus(1),
    Minus(2),
    Minus(7),
    Minus(64),
    Minus(0x8000_0000),
    Minus(i64::MAX as u64),
    Least,
    Unsigned(0),
    Unsigned(1),
    Unsigned(7),
    Unsigned(64),
    Unsigned(1 << 32),
];

/// The triples of operands of two operators: every sign in every place, and zeros.
pub(super) static TRIPLES: [[IntegerOperand; 3]; 8] = [
    [Plain(7), Plain(3), Plain(2)],
    [Minus(7), Plain(3), Plain(2)],
    [Plain(7), Minus(3), Plain(2)],
    [Plain(7), Plain(3), Minus(2)],
    [Minus(7), Unsigned(3), Plain(2)],
    [Minus(100), Plain(7), Unsigned(5)],
    [Plain(0), Plain(5), Plain(1)],
    [Plain(1), Minus(1), Minus(1)],
];

/// The pairs of operands of a prefix operator combined with an infix operator.
pub(super) static PAIRS: [[IntegerOperand; 2]; 8] = [
    [Plain(7), Plain(3)],
    [Minus(7), Plain(3)],
    [Plain(8), Minus(3)],
    [Minus(7), Minus(3)],
    [Minus(7), Unsigned(3)],
    [Unsigned(7), Minus(3)],
    [Plain(0), Plain(5)],
    [Minus(1), Plain(63)],
];

/// The operands of float operators.
pub(super) static FLOATS: [&str; 12] = [
    "0.0",
    "0d8000000000000000",
    "1.0",
    "1.5",
    "0.1",
    "3.0",
    "1e300",
    "1e-300",
    "9007199254740993.0",
    "0d7ff0000000000000",
    "0d7ff8000000000000",
    "0d0000000000000001",
];

pub(super) const PREFIXES: [Prefix; 6] = [
    Prefix::Op(UnaryOp::Plus),
    Prefix::Op(UnaryOp::Minus),
    Prefix::Op(UnaryOp::Not),
    Prefix::Op(UnaryOp::Complement),
    Prefix::Cast(Cast::S64),
    Prefix::Cast(Cast::U64),
];

#[derive(Clone, Copy, Debug)]
pub(super) enum Prefix {
    Op(UnaryOp),
    Cast(Cast),
}

/// An expression under construction. Adds parentheses where precedence or the caller requires them.
#[derive(Default)]
pub(super) struct Post {
    pub builder: Builder,
}

impl Post {
    pub fn push(&mut self, kind: NodeKind) -> u32 {
        self.builder.push(kind, Span::NONE)
    }

    pub fn number(&mut self, text: &str) -> u32 {
        self.push(NodeKind::Number(text.into()))
    }

    /// Adds an operand, in parentheses if its precedence is below `least`.
    pub fn operand(&mut self, operand: IntegerOperand, least: u8) -> u32 {
        let decimal =
            |value, unsigned| NodeKind::Number(integer_text(value, Radix::Decimal, unsigned, 0).into());
        let at = match operand {
            Plain(value) => self.push(decimal(value, false)),
            Unsigned(value) => self.push(decimal(value, true)),
            Minus(value) => {
                let literal = self.push(decimal(value, false));
                self.push(NodeKind::Unary(UnaryOp::Minus, literal))
            }
            Least => {
                let left = self.operand(Minus(i64::MAX as u64), 0);
                let right = self.operand(Plain(1), 0);
                self.push(NodeKind::Binary(BinaryOp::Sub, left, right))
            }
        };
        self.bind(at, least)
    }

    pub fn bind(&mut self, at: u32, least: u8) -> u32 {
        if self.builder.top().kind.precedence() < least { self.push(NodeKind::Paren(at)) } else { at }
    }

    pub fn prefix(&mut self, prefix: Prefix, operand: u32) -> u32 {
        match prefix {
            Prefix::Op(op) => self.push(NodeKind::Unary(op, operand)),
            Prefix::Cast(cast) => self.push(NodeKind::Cast(cast, operand)),
        }
    }

    pub fn infix(&mut self, op: BinaryOp, left: IntegerOperand, right: IntegerOperand) -> u32 {
        let left = self.operand(left, op.precedence());
        let right = self.operand(right, op.precedence() + 1);
        self.push(NodeKind::Binary(op, left, right))
    }

    pub fn body(self, ty: ScalarType) -> Body {
        Body::Expression { ty, space: StateSpace::Global, expr: self.builder.finish() }
    }
}

pub(super) fn single(text: &str, ty: ScalarType) -> Body {
    Body::Expression { ty, space: StateSpace::Global, expr: Expr::number(text) }
}
