//! Instructions as a tree, as far as the operands of chapter 6.4 need them.
//!
//! An instruction of an [`Opcode`] that has the common form (guard, opcode, modifiers, operands) is an [`Instruction`];
//! any other stays tokens, so that every program can be read. Which operands an opcode takes is not asked here.

use crate::{
    Text,
    expr::{Expr, NodeKind},
    span::{Name, Span},
    types::Opcode,
};

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The predicate in front, where there is one.
    pub guard: Option<Guard>,
    /// The opcode up to its first dot: `ld`, `brx`.
    pub opcode: Opcode,
    /// What follows the opcode, each with its dot: `.global`, `.v4`, `.u32`.
    pub modifiers: Vec<Name>,
    /// The operands, in the order written.
    pub operands: Vec<Operand>,
    /// Where it stood, its semicolon included.
    pub span: Span,
}

/// `@p` or `@!p` in front of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Whether the instruction is executed where the predicate is false.
    pub negated: bool,
    /// The predicate register.
    pub predicate: Name,
}

/// One operand of an instruction.
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
    /// `( ... )`: what a call passes or gets back.
    List(Vec<Operand>),
}

/// `.branchtargets LABEL, ...;`, the table of a `brx.idx`. Its own label stands before it as any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTargets {
    /// The labels, in the order of their indices.
    pub targets: Vec<Name>,
    /// Where it stood, its semicolon included.
    pub span: Span,
}

impl Instruction {
    /// An instruction that was made rather than parsed, from its opcode with all modifiers: `ld.global.u32`.
    ///
    /// # Panics
    /// Where that begins with no [`Opcode`].
    pub fn new(opcode: &str, operands: Vec<Operand>) -> Instruction {
        let dots = |text: &str| text.find('.').unwrap_or(text.len());
        let (opcode, mut rest) = opcode.split_at(dots(opcode));
        let opcode = Opcode::from_keyword(opcode).expect("an opcode of the common form");
        let mut modifiers = Vec::new();
        while !rest.is_empty() {
            let (modifier, behind) = rest.split_at(1 + dots(&rest[1..]));
            modifiers.push(Name::new(modifier));
            rest = behind;
        }
        Instruction { guard: None, opcode, modifiers, operands, span: Span::NONE }
    }

    /// The same, executed only where `predicate` is true, or false if `negated`.
    pub fn guarded(self, predicate: &str, negated: bool) -> Instruction {
        Instruction { guard: Some(Guard { negated, predicate: Name::new(predicate) }), ..self }
    }

    /// Every name that it uses: registers, variables, functions and labels, but no modifier or suffix.
    pub fn names(&self) -> Vec<&Text> {
        let mut names: Vec<&Text> = self.guard.iter().map(|guard| &guard.predicate.text).collect();
        self.operands.iter().for_each(|operand| operand.names(&mut names));
        names
    }

    /// Every expression in its operands, for changing names in it.
    pub fn expressions_mut(&mut self, each: &mut impl FnMut(&mut Expr)) {
        self.operands.iter_mut().for_each(|operand| operand.expressions_mut(each));
    }

    /// Every name that its operands and its guard use besides those in expressions: bases of elements and components.
    pub fn names_mut(&mut self, each: &mut impl FnMut(&mut Name)) {
        if let Some(guard) = &mut self.guard {
            each(&mut guard.predicate);
        }
        self.operands.iter_mut().for_each(|operand| operand.names_mut(each));
    }
}

impl Operand {
    /// A register or another name.
    pub fn name(name: &str) -> Operand {
        Operand::Value(Expr::name(name))
    }

    fn names<'a>(&'a self, into: &mut Vec<&'a Text>) {
        let mut of = |expr: &'a Expr| {
            into.extend(expr.nodes().iter().filter_map(|node| match &node.kind {
                NodeKind::Name(name) => Some(name),
                _ => None,
            }));
        };
        match self {
            Operand::Value(expr) | Operand::Address(expr) => of(expr),
            Operand::Element(name, index) => {
                of(index);
                into.push(&name.text);
            }
            Operand::Component(name, _) => into.push(&name.text),
            Operand::Vector(parts) | Operand::List(parts) => parts.iter().for_each(|part| part.names(into)),
        }
    }

    fn expressions_mut(&mut self, each: &mut impl FnMut(&mut Expr)) {
        match self {
            Operand::Value(expr) | Operand::Address(expr) | Operand::Element(_, expr) => each(expr),
            Operand::Component(..) => {}
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter_mut().for_each(|part| part.expressions_mut(each));
            }
        }
    }

    fn names_mut(&mut self, each: &mut impl FnMut(&mut Name)) {
        match self {
            Operand::Value(_) | Operand::Address(_) => {}
            Operand::Element(name, _) | Operand::Component(name, _) => each(name),
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter_mut().for_each(|part| part.names_mut(each));
            }
        }
    }
}
