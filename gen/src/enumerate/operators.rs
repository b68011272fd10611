//! Every operator with every pair of operands, and every pair of operators.

use ptxsmith_syntax::{BinaryOp, NodeId, NodeKind, ScalarType, UnaryOp, precedence};

use super::{
    post::{FLOATS, IntegerOperand, Minus, OPERANDS, PAIRS, PREFIXES, Plain, Post, TRIPLES, Unsigned},
    take,
};
use crate::case::Body;

pub(super) fn prefixes() -> u64 {
    (PREFIXES.len() * OPERANDS.len()) as u64
}

pub(super) fn prefix(mut index: u64) -> Body {
    let op = take(&mut index, &PREFIXES);
    let mut post = Post::default();
    let operand = post.operand(take(&mut index, &OPERANDS), precedence::UNARY);
    post.prefix(op, operand);
    post.body(ScalarType::S64)
}

pub(super) fn infixes() -> u64 {
    (BinaryOp::ALL.len() * OPERANDS.len() * OPERANDS.len()) as u64
}

pub(super) fn infix(mut index: u64) -> Body {
    let op = take(&mut index, &BinaryOp::ALL);
    let left = take(&mut index, &OPERANDS);
    let mut post = Post::default();
    post.infix(op, left, take(&mut index, &OPERANDS));
    post.body(ScalarType::S64)
}

pub(super) static CONDITIONS: [IntegerOperand; 4] = [Plain(0), Plain(1), Minus(1), Unsigned(0)];

pub(super) fn ternaries() -> u64 {
    (CONDITIONS.len() * OPERANDS.len() * OPERANDS.len()) as u64
}

pub(super) fn ternary(mut index: u64) -> Body {
    let mut post = Post::default();
    let condition = post.operand(take(&mut index, &CONDITIONS), precedence::BINARY_LOWEST);
    let then = post.operand(take(&mut index, &OPERANDS), precedence::TERNARY);
    let otherwise = post.operand(take(&mut index, &OPERANDS), precedence::TERNARY);
    post.push(NodeKind::Ternary(condition, then, otherwise));
    post.body(ScalarType::S64)
}

pub(super) fn float_prefixes() -> u64 {
    2 * FLOATS.len() as u64
}

pub(super) fn float_prefix(mut index: u64) -> Body {
    let op = take(&mut index, &[UnaryOp::Plus, UnaryOp::Minus]);
    let mut post = Post::default();
    let operand = post.number(take(&mut index, &FLOATS));
    post.push(NodeKind::Unary(op, operand));
    post.body(ScalarType::F64)
}

pub(super) const FLOAT_OPS: [BinaryOp; 10] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Lt,
    BinaryOp::Gt,
    BinaryOp::Le,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
];

pub(super) fn float_infixes() -> u64 {
    (FLOAT_OPS.len() * FLOATS.len() * FLOATS.len()) as u64
}

pub(super) fn float_infix(mut index: u64) -> Body {
    let op = take(&mut index, &FLOAT_OPS);
    let mut post = Post::default();
    let left = post.number(take(&mut index, &FLOATS));
    let right = post.number(take(&mut index, &FLOATS));
    post.push(NodeKind::Binary(op, left, right));
    let arithmetic = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
    post.body(if arithmetic { ScalarType::F64 } else { ScalarType::S64 })
}

/// How two operators are nested.
#[derive(Clone, Copy)]
pub(super) enum Nesting {
    /// Without parentheses: precedence and associativity decide.
    Bare,
    Left,
    Right,
}

pub(super) const NESTINGS: [Nesting; 3] = [Nesting::Bare, Nesting::Left, Nesting::Right];

pub(super) fn infix_infixes() -> u64 {
    (BinaryOp::ALL.len() * BinaryOp::ALL.len() * NESTINGS.len() * TRIPLES.len()) as u64
}

pub(super) fn infix_infix(mut index: u64) -> Body {
    let first = take(&mut index, &BinaryOp::ALL);
    let second = take(&mut index, &BinaryOp::ALL);
    let nesting = take(&mut index, &NESTINGS);
    let [a, b, c] = take(&mut index, &TRIPLES);
    let bare = matches!(nesting, Nesting::Bare);
    let left = match nesting {
        Nesting::Bare => first.precedence() >= second.precedence(),
        Nesting::Left => true,
        Nesting::Right => false,
    };
    let mut post = Post::default();
    if left {
        let mut inner = post.infix(first, a, b);
        if !bare {
            inner = post.push(NodeKind::Paren(inner));
        }
        let right = post.operand(c, second.precedence() + 1);
        post.push(NodeKind::Binary(second, inner, right));
    } else {
        let outer = post.operand(a, first.precedence());
        let mut inner = post.infix(second, b, c);
        if !bare {
            inner = post.push(NodeKind::Paren(inner));
        }
        post.push(NodeKind::Binary(first, outer, inner));
    }
    post.body(ScalarType::S64)
}

pub(super) fn prefix_infixes() -> u64 {
    (PREFIXES.len() * BinaryOp::ALL.len() * NESTINGS.len() * PAIRS.len()) as u64
}

/// A prefix operator on the left operand, on the whole expression or on the right operand of an infix operator.
pub(super) fn prefix_infix(mut index: u64) -> Body {
    let op = take(&mut index, &PREFIXES);
    let infix = take(&mut index, &BinaryOp::ALL);
    let place = take(&mut index, &NESTINGS);
    let [a, b] = take(&mut index, &PAIRS);
    let mut post = Post::default();
    match place {
        Nesting::Bare => {
            let whole = post.infix(infix, a, b);
            let whole = post.push(NodeKind::Paren(whole));
            post.prefix(op, whole);
        }
        Nesting::Left => {
            let left = post.operand(a, precedence::UNARY);
            let left = post.prefix(op, left);
            let right = post.operand(b, infix.precedence() + 1);
            post.push(NodeKind::Binary(infix, left, right));
        }
        Nesting::Right => {
            let left = post.operand(a, infix.precedence());
            let right = post.operand(b, precedence::UNARY);
            let right = post.prefix(op, right);
            post.push(NodeKind::Binary(infix, left, right));
        }
    }
    post.body(ScalarType::S64)
}

pub(super) fn ternary_infixes() -> u64 {
    (2 * BinaryOp::ALL.len() * 3 * TRIPLES.len()) as u64
}

/// A conditional expression in parentheses as the left or right operand of an operator, or one that contains an operator.
pub(super) fn ternary_infix(mut index: u64) -> Body {
    let condition = take(&mut index, &[Plain(0), Plain(1)]);
    let op = take(&mut index, &BinaryOp::ALL);
    let place = take(&mut index, &NESTINGS);
    let [a, b, c] = take(&mut index, &TRIPLES);
    let mut post = Post::default();
    match place {
        Nesting::Left => {
            let left = parenthesized_ternary(&mut post, condition, a, b);
            let right = post.operand(c, op.precedence() + 1);
            post.push(NodeKind::Binary(op, left, right));
        }
        Nesting::Right => {
            let left = post.operand(c, op.precedence());
            let right = parenthesized_ternary(&mut post, condition, a, b);
            post.push(NodeKind::Binary(op, left, right));
        }
        Nesting::Bare => {
            let condition = post.operand(condition, precedence::BINARY_LOWEST);
            let then = post.infix(op, a, b);
            let otherwise = post.operand(c, precedence::TERNARY);
            post.push(NodeKind::Ternary(condition, then, otherwise));
        }
    }
    post.body(ScalarType::S64)
}

/// Adds `(condition ? then : otherwise)`.
fn parenthesized_ternary(
    post: &mut Post,
    condition: IntegerOperand,
    then: IntegerOperand,
    otherwise: IntegerOperand,
) -> NodeId {
    let condition = post.operand(condition, precedence::BINARY_LOWEST);
    let then = post.operand(then, precedence::TERNARY);
    let otherwise = post.operand(otherwise, precedence::TERNARY);
    let whole = post.push(NodeKind::Ternary(condition, then, otherwise));
    post.push(NodeKind::Paren(whole))
}
