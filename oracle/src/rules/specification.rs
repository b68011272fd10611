//! The entries of the table under the specification. Each names the clauses that it rests on. They are defined here
//! only.

mod arithmetic;
mod bits;
mod conditions;
mod kinds;
mod literals;
mod stored;

use ptxsmith_syntax::{BinaryOp, Cast, Expr, Opcode, ScalarType, StateSpace, TypeKind, UnaryOp};

use crate::clause::Clause;
use crate::refusal::Stop;
use crate::step::{Placement, Ruled, Step};
use crate::value::{Integer, Value};

use self::arithmetic::{
    add, cast_s64, cast_u64, complement, divide, minus, multiply, not, plus, remainder, subtract,
};
use self::bits::{and, or, shift_left, shift_right, xor};
use self::conditions::{equal, greater, greater_equal, less, less_equal, logical_and, logical_or, not_equal};
pub(super) use self::{
    conditions::ternary,
    literals::{number, warp_size},
    stored::store,
};

/// Returns the rule of a prefix operator.
pub(super) const fn prefix(op: UnaryOp) -> fn(&mut Step<'_>, Value) -> Ruled<Value> {
    match op {
        UnaryOp::Plus => plus,
        UnaryOp::Minus => minus,
        UnaryOp::Not => not,
        UnaryOp::Complement => complement,
    }
}

/// Returns the rule of a cast.
pub(super) const fn cast(cast: Cast) -> fn(&mut Step<'_>, Value) -> Ruled<Value> {
    match cast {
        Cast::S64 => cast_s64,
        Cast::U64 => cast_u64,
    }
}

/// Returns the rule of an infix operator.
pub(super) const fn infix(op: BinaryOp) -> fn(&mut Step<'_>, Value, Value) -> Ruled<Value> {
    match op {
        BinaryOp::Mul => multiply,
        BinaryOp::Div => divide,
        BinaryOp::Rem => remainder,
        BinaryOp::Add => add,
        BinaryOp::Sub => subtract,
        BinaryOp::Shr => shift_right,
        BinaryOp::Shl => shift_left,
        BinaryOp::Lt => less,
        BinaryOp::Gt => greater,
        BinaryOp::Le => less_equal,
        BinaryOp::Ge => greater_equal,
        BinaryOp::Eq => equal,
        BinaryOp::Ne => not_equal,
        BinaryOp::And => and,
        BinaryOp::Xor => xor,
        BinaryOp::Or => or,
        BinaryOp::LogicalAnd => logical_and,
        BinaryOp::LogicalOr => logical_or,
    }
}

// 5.4.3: dimensions

pub(super) fn dimension(step: &mut Step<'_>, _: &Expr, value: Integer) -> Ruled<Integer> {
    step.uses(Clause::Dimension);
    Ok(value)
}

pub(super) fn size(extents: &[u64], element: u64) -> u64 {
    extents.iter().fold(element, |size, &extent| size.saturating_mul(extent))
}

// 5.4.4: placement

pub(super) fn place(at: Placement) -> u64 {
    at.start + at.index * at.stride
}

// 6.4: operands

/// Returns whether this operand may name a function: only the source of `mov`.
pub(super) fn function_operand(opcode: Opcode, place: usize) -> bool {
    (opcode, place) == (Opcode::Mov, 1)
}

/// Returns whether 32 bits hold a value: offsets are signed, absolute addresses unsigned.
pub(super) fn fits(value: i128, ty: ScalarType) -> bool {
    match ty.kind() {
        TypeKind::Unsigned => u32::try_from(value).is_ok(),
        _ => i32::try_from(value).is_ok(),
    }
}

/// Returns the byte offset of an indexed element: all steps together (6.4.2).
pub(super) fn indexed_offset(_: ScalarType, index: i64, constant: i64, step: i64) -> Option<i64> {
    let bytes = index.checked_mul(step).filter(|&bytes| i32::try_from(bytes).is_ok())?;
    bytes.checked_add(constant.checked_mul(step)?)
}

/// Returns the index of an element by its letter: `x y z w` or `r g b a`.
pub(super) fn element_named(letter: &str, _count: usize) -> Option<usize> {
    [["x", "y", "z", "w"], ["r", "g", "b", "a"]]
        .iter()
        .find_map(|names| names.iter().position(|&name| name == letter))
}

/// The specification does not say what an access outside of a variable does.
pub(super) fn outside(_: StateSpace) -> Ruled<()> {
    Err(Stop::Unmodelled(crate::undecided::OUTSIDE))
}
