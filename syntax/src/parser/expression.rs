//! Constant expressions by operator precedence (4.5.4), with an explicit stack.

use super::{Parser, Result};
use crate::{
    Text,
    expr::{Expr, NodeId, NodeKind},
    lexer::Kind,
    ops::{BinaryOp, Cast, UnaryOp, precedence},
    span::Span,
};

/// What has been read of an expression and waits for an operand. Spans are those of the first token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pending {
    Paren(Span),
    Generic(Span),
    Mask(Span),
    Unary(UnaryOp, Span),
    Cast(Cast, Span),
    Binary(BinaryOp, NodeId),
    /// `condition ?`
    Then(NodeId),
    /// `condition ? then :`
    Otherwise(NodeId, NodeId),
}

impl Parser<'_> {
    /// A constant expression.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.expression_above(precedence::TERNARY)
    }

    /// A constant expression of which operators that bind looser than `lowest` are no part, unless in parentheses.
    pub(super) fn expression_above(&mut self, lowest: u8) -> Result<Expr> {
        // How many of the pending ones wait for a closing token, before which every operator is welcome.
        let mut open = 0u32;
        'operand: loop {
            let start = self.current.span;
            match self.current.kind {
                Kind::Number => {
                    self.advance();
                    if self.current.kind == Kind::OpenParen {
                        self.wait(Pending::Mask(start))?;
                        open += 1;
                        continue 'operand;
                    }
                    self.builder.push(NodeKind::Number(Text::new(self.lexer.slice(start))), start);
                }
                Kind::Name => {
                    let text = self.text();
                    self.advance();
                    if text == "generic" && self.current.kind == Kind::OpenParen {
                        self.wait(Pending::Generic(start))?;
                        open += 1;
                        continue 'operand;
                    }
                    let kind =
                        if text == "WARP_SZ" { NodeKind::WarpSize } else { NodeKind::Name(Text::new(text)) };
                    self.builder.push(kind, start);
                }
                Kind::OpenParen => {
                    self.wait(Pending::Paren(start))?;
                    if self.current.kind == Kind::Dotted {
                        let cast = match self.text() {
                            ".s64" => Cast::S64,
                            ".u64" => Cast::U64,
                            _ => return Err(self.expected("`.s64` or `.u64`")),
                        };
                        self.advance();
                        self.expect(Kind::CloseParen, "`)`")?;
                        self.pending.pop();
                        self.pending.push(Pending::Cast(cast, start));
                    } else {
                        open += 1;
                    }
                    continue 'operand;
                }
                kind => {
                    let Some(op) = unary(kind) else { return Err(self.expected("an expression")) };
                    self.wait(Pending::Unary(op, start))?;
                    continue 'operand;
                }
            }

            // An operand is complete: join it with what waits for it, until something waits for another operand.
            loop {
                self.join_while(|pending| matches!(pending, Pending::Unary(..) | Pending::Cast(..)));
                let welcome = |precedence| open > 0 || precedence >= lowest;
                if let Some(op) = binary(self.current.kind).filter(|op| welcome(op.precedence())) {
                    let tighter =
                        |p: &Pending| matches!(p, Pending::Binary(o, _) if o.precedence() >= op.precedence());
                    self.join_while(tighter);
                    self.pending.push(Pending::Binary(op, self.top()));
                    self.advance();
                    continue 'operand;
                }
                self.join_while(|pending| matches!(pending, Pending::Binary(..)));
                if self.current.kind == Kind::Question && welcome(precedence::TERNARY) {
                    self.wait(Pending::Then(self.top()))?;
                    open += 1;
                    continue 'operand;
                }
                self.join_while(|pending| matches!(pending, Pending::Otherwise(..)));
                match self.pending.last() {
                    None => {
                        return Ok(self.builder.take());
                    }
                    Some(&Pending::Then(condition)) => {
                        self.expect(Kind::Colon, "`:`")?;
                        let then = self.top();
                        self.pending.pop();
                        self.pending.push(Pending::Otherwise(condition, then));
                        open -= 1;
                        continue 'operand;
                    }
                    Some(_) => {
                        self.expect(Kind::CloseParen, "`)`")?;
                        self.join();
                        open -= 1;
                    }
                }
            }
        }
    }

    /// Takes the current token, which opens a level that ends when `pending` gets its operand.
    fn wait(&mut self, pending: Pending) -> Result<()> {
        self.enter()?;
        self.pending.push(pending);
        self.advance();
        Ok(())
    }

    fn top(&self) -> NodeId {
        self.builder.len() as NodeId - 1
    }

    #[inline]
    fn join_while(&mut self, which: impl Fn(&Pending) -> bool) {
        while self.pending.last().is_some_and(&which) {
            self.join();
        }
    }

    /// Joins what waits innermost with its last operand, which is the node that was added last.
    fn join(&mut self) {
        let Some(pending) = self.pending.pop() else { return };
        let operand = self.top();
        if !matches!(pending, Pending::Binary(..)) {
            self.leave();
        }
        let (kind, start) = match pending {
            Pending::Paren(start) => (NodeKind::Paren(operand), start),
            Pending::Generic(start) => (NodeKind::Generic(operand), start),
            Pending::Mask(start) => (NodeKind::Mask(Text::new(self.lexer.slice(start)), operand), start),
            Pending::Unary(op, start) => (NodeKind::Unary(op, operand), start),
            Pending::Cast(cast, start) => (NodeKind::Cast(cast, operand), start),
            Pending::Binary(op, left) => (NodeKind::Binary(op, left, operand), self.builder.span(left)),
            Pending::Then(condition) => unreachable!("`:` was expected behind {condition} and its operand"),
            Pending::Otherwise(condition, then) => {
                (NodeKind::Ternary(condition, then, operand), self.builder.span(condition))
            }
        };
        let span = self.span_from(start);
        self.builder.push(kind, span);
    }
}

fn unary(kind: Kind) -> Option<UnaryOp> {
    Some(match kind {
        Kind::Plus => UnaryOp::Plus,
        Kind::Minus => UnaryOp::Minus,
        Kind::Not => UnaryOp::Not,
        Kind::Tilde => UnaryOp::Complement,
        _ => return None,
    })
}

fn binary(kind: Kind) -> Option<BinaryOp> {
    Some(match kind {
        Kind::Star => BinaryOp::Mul,
        Kind::Slash => BinaryOp::Div,
        Kind::Percent => BinaryOp::Rem,
        Kind::Plus => BinaryOp::Add,
        Kind::Minus => BinaryOp::Sub,
        Kind::Shr => BinaryOp::Shr,
        Kind::Shl => BinaryOp::Shl,
        Kind::Lt => BinaryOp::Lt,
        Kind::Gt => BinaryOp::Gt,
        Kind::Le => BinaryOp::Le,
        Kind::Ge => BinaryOp::Ge,
        Kind::Eq => BinaryOp::Eq,
        Kind::Ne => BinaryOp::Ne,
        Kind::And => BinaryOp::And,
        Kind::Xor => BinaryOp::Xor,
        Kind::Or => BinaryOp::Or,
        Kind::LogicalAnd => BinaryOp::LogicalAnd,
        Kind::LogicalOr => BinaryOp::LogicalOr,
        _ => return None,
    })
}
