//! Shifts and bitwise operators (4.5.5).

use crate::clause::Clause;
use crate::reading::{BitwiseType, Question, ShiftCount};
use crate::step::{Ruled, Step};
use crate::value::{Integer, Value};

use super::kinds::{both_signed, integer};

fn shift_count(step: &mut Step<'_>, count: Integer) -> u64 {
    step.uses(Clause::ShiftCountUnsigned);
    step.uses(Clause::ShiftResultType);
    if count.bits < 64 {
        return count.bits;
    }
    step.meets(Question::ShiftCount);
    match step.readings.shift_count {
        ShiftCount::Saturate => 64,
        ShiftCount::Modulo => count.bits % 64,
    }
}

pub(super) fn shift_left(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    let (a, b) = (integer(step, left)?, integer(step, right)?);
    step.uses(Clause::ShiftLeft);
    let count = shift_count(step, b);
    Ok(Value::Integer(Integer { bits: if count == 64 { 0 } else { a.bits << count }, ..a }))
}

pub(super) fn shift_right(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    let (a, b) = (integer(step, left)?, integer(step, right)?);
    let count = shift_count(step, b);
    let bits = if a.signed {
        step.uses(Clause::ShiftRightArithmetic);
        (a.bits as i64 >> count.min(63)) as u64
    } else {
        step.uses(Clause::ShiftRightLogical);
        if count == 64 { 0 } else { a.bits >> count }
    };
    Ok(Value::Integer(Integer { bits, ..a }))
}

fn bitwise(
    step: &mut Step<'_>,
    (left, right): (Value, Value),
    clause: Clause,
    operation: fn(u64, u64) -> u64,
) -> Ruled<Value> {
    let (a, b) = (integer(step, left)?, integer(step, right)?);
    step.uses(clause);
    step.meets(Question::BitwiseType);
    let signed = match step.readings.bitwise_type {
        BitwiseType::Converted => both_signed(step, a, b),
        BitwiseType::Unsigned => false,
    };
    Ok(Value::Integer(Integer { bits: operation(a.bits, b.bits), signed }))
}

pub(super) fn and(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    bitwise(step, (left, right), Clause::BitwiseAnd, |a, b| a & b)
}

pub(super) fn or(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    bitwise(step, (left, right), Clause::BitwiseOr, |a, b| a | b)
}

pub(super) fn xor(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    bitwise(step, (left, right), Clause::BitwiseXor, |a, b| a ^ b)
}
