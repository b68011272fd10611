//! Checks the kinds of operands. No operator accepts a single-precision bit pattern (4.5.2).

use crate::clause::Clause;
use crate::refusal::RefusalClass;
use crate::step::{Ruled, Step};
use crate::value::{Integer, Value};

pub(super) fn refuse_operand<T>(
    step: &mut Step<'_>,
    value: Value,
    class: RefusalClass,
    clause: Clause,
) -> Ruled<T> {
    match value {
        Value::Single(_) => {
            step.refuse(RefusalClass::SingleBitsInExpression, Clause::SingleBitsNotInExpression)
        }
        Value::Address(_) | Value::AddressByte(..) => {
            step.refuse(RefusalClass::AddressArithmetic, Clause::AddressOffset)
        }
        Value::Integer(_) | Value::Float(_) | Value::ComputedNan | Value::Undefined(_) => {
            step.refuse(class, clause)
        }
    }
}

pub(super) fn integer(step: &mut Step<'_>, value: Value) -> Ruled<Integer> {
    integer_for(step, value, Clause::IntegerOnlyOperator)
}

pub(super) fn integer_for(step: &mut Step<'_>, value: Value, clause: Clause) -> Ruled<Integer> {
    match value {
        Value::Integer(integer) => Ok(integer),
        other => refuse_operand(step, other, RefusalClass::IntegerOnlyOperator, clause),
    }
}

/// Two operands of the same kind.
pub(super) enum OperandPair {
    Integers(Integer, Integer),
    Floats(f64, f64),
}

pub(super) fn pair(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<OperandPair> {
    match (left.numeric(), right.numeric()) {
        (Value::Integer(a), Value::Integer(b)) => Ok(OperandPair::Integers(a, b)),
        (Value::Float(a), Value::Float(b)) => Ok(OperandPair::Floats(a, b)),
        (Value::Integer(_) | Value::Float(_), other) | (other, _) => {
            refuse_operand(step, other, RefusalClass::IntFloatMix, Clause::NoIntFloatMix)
        }
    }
}

/// Whether two operands are still signed after the usual arithmetic conversions (4.5.5).
pub(super) fn both_signed(step: &mut Step<'_>, a: Integer, b: Integer) -> bool {
    step.uses(Clause::UsualConversions);
    a.signed && b.signed
}
