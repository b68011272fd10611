//! Instructions as a tree, as far as the operands of chapter 6.4 need them.
//!
//! An instruction of an [`Opcode`] that has the common form (guard, opcode, modifiers, operands) is an [`Instruction`];
//! any other stays tokens, so that every program can be read. The parser does not check the operands of an opcode.

use crate::{
    expr::Expr,
    span::{Name, Span},
    types::Opcode,
};

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The guard predicate, if there is one.
    pub guard: Option<Guard>,
    /// The opcode up to its first dot: `ld`, `brx`.
    pub opcode: Opcode,
    /// The modifiers after the opcode, each with its dot: `.global`, `.v4`, `.u32`.
    pub modifiers: Vec<Name>,
    /// The operands, in the order written.
    pub operands: Vec<Operand>,
    /// The source span, including the semicolon.
    pub span: Span,
}

/// `@p` or `@!p` in front of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Whether the instruction executes if the predicate is false.
    pub negated: bool,
    /// The predicate register.
    pub predicate: Name,
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register, a name or a constant expression; also `!p` and `p|q`, which read as operators.
    Value(Expr),
    /// `[...]`: a place in memory (6.4.1).
    Address(Expr),
    /// `NAME[...]`: an element of an array (6.4.2).
    Element(Name, Expr),
    /// `NAME.x`: an element of a vector, with the suffix's dot (6.4.3).
    Component(Name, Name),
    /// `{ ... }`: elements side by side (6.4.3).
    Vector(Vec<Operand>),
    /// `( ... )`: the arguments or results of a call.
    List(Vec<Operand>),
}

/// `.branchtargets LABEL, ...;`, the table of a `brx.idx`. Its own label precedes it, like any other label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTargets {
    /// The labels, in the order of their indices.
    pub targets: Vec<Name>,
    /// The source span, including the semicolon.
    pub span: Span,
}
