//! Expressions in postfix order: operands first, then the operator.
//!
//! The producer of an expression emits its nodes without knowing the receiver: a tree builder, a printer, an evaluator, or
//! several of them. Millions of expressions can therefore be printed and evaluated without building a tree.

use smallvec::SmallVec;

use crate::{
    Text,
    expr::{Builder, Expr, NodeId, NodeKind},
    ops::{BinaryOp, Cast, UnaryOp},
    span::Span,
};

/// The identity of a constant that expressions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConstant {
    /// The pool, by its seed and number.
    pub pool: (u64, u64),
    /// The place in the pool, a small number.
    pub place: u16,
}

/// Receives the nodes of an expression in postfix order. An operator applies to the most recently completed operands.
/// Parentheses are nodes; the caller adds them where [`crate::precedence`] requires.
pub trait Assemble {
    /// Adds a number as written, in ASCII bytes: numbers are most of a text, and checking their characters again would take
    /// longer than everything else.
    fn number(&mut self, text: &[u8]);
    /// Like [`Assemble::number`], for a number that other expressions share. `spell` always returns the same text for the
    /// same constant, so that an implementation may cache the result.
    fn constant(&mut self, _constant: PoolConstant, spell: &mut dyn FnMut() -> String) {
        self.number(spell().as_bytes());
    }
    /// Adds `WARP_SZ`.
    fn warp_size(&mut self);
    /// Adds the name of a variable or function.
    fn name(&mut self, text: &str);
    /// Adds `( operand )`.
    fn paren(&mut self);
    /// Adds a prefix operator.
    fn unary(&mut self, op: UnaryOp);
    /// Adds a cast.
    fn cast(&mut self, cast: Cast);
    /// Adds an infix operator between the last two operands.
    fn binary(&mut self, op: BinaryOp);
    /// Adds `condition ? then : otherwise`, which joins the last three operands.
    fn ternary(&mut self);
    /// Adds `generic( operand )`.
    fn generic(&mut self);
    /// Adds `mask( operand )`, with the mask as written.
    fn mask(&mut self, mask: &str);
}

/// A stack of operands. Most expressions fit without an allocation.
type Waiting = SmallVec<[u32; 8]>;

/// Builds a tree.
#[derive(Debug, Default)]
pub struct TreeBuilder {
    builder: Builder,
    /// The operands that no operator has joined yet.
    operands: Waiting,
}

impl TreeBuilder {
    /// Creates a builder with capacity for this many nodes.
    pub fn with_capacity(nodes: usize) -> TreeBuilder {
        TreeBuilder { builder: Builder::with_capacity(nodes), operands: Waiting::new() }
    }

    /// Adds a complete expression as the next operand.
    pub fn graft(&mut self, expr: &Expr) {
        let by = self.builder.len() as NodeId;
        for node in expr.nodes() {
            self.builder.push_moved(node, |operand| operand + by);
        }
        self.operands.push(self.builder.len() as NodeId - 1);
    }

    /// Returns the expression and clears the builder.
    ///
    /// # Panics
    /// If nothing was added.
    pub fn take(&mut self) -> Expr {
        debug_assert_eq!(self.operands.len(), 1, "everything was joined");
        self.operands.clear();
        self.builder.take()
    }

    #[inline]
    fn push(&mut self, kind: NodeKind) {
        let place = self.builder.push(kind, Span::NONE);
        self.operands.push(place);
    }

    #[inline]
    fn operand(&mut self) -> NodeId {
        self.operands.pop().expect("an operand comes before what joins it")
    }
}

impl Assemble for TreeBuilder {
    #[inline]
    fn number(&mut self, text: &[u8]) {
        self.push(NodeKind::Number(Text::from_utf8(text).expect("numbers are spelled in ASCII")));
    }

    #[inline]
    fn warp_size(&mut self) {
        self.push(NodeKind::WarpSize);
    }

    #[inline]
    fn name(&mut self, text: &str) {
        self.push(NodeKind::Name(text.into()));
    }

    #[inline]
    fn paren(&mut self) {
        let operand = self.operand();
        self.push(NodeKind::Paren(operand));
    }

    #[inline]
    fn unary(&mut self, op: UnaryOp) {
        let operand = self.operand();
        self.push(NodeKind::Unary(op, operand));
    }

    #[inline]
    fn cast(&mut self, cast: Cast) {
        let operand = self.operand();
        self.push(NodeKind::Cast(cast, operand));
    }

    #[inline]
    fn binary(&mut self, op: BinaryOp) {
        let right = self.operand();
        let left = self.operand();
        self.push(NodeKind::Binary(op, left, right));
    }

    #[inline]
    fn ternary(&mut self) {
        let otherwise = self.operand();
        let then = self.operand();
        let condition = self.operand();
        self.push(NodeKind::Ternary(condition, then, otherwise));
    }

    #[inline]
    fn generic(&mut self) {
        let operand = self.operand();
        self.push(NodeKind::Generic(operand));
    }

    #[inline]
    fn mask(&mut self, mask: &str) {
        let operand = self.operand();
        self.push(NodeKind::Mask(mask.into(), operand));
    }
}
