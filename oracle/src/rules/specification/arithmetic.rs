//! Prefix operators, casts and arithmetic (4.5.5, 4.5.6).

use crate::clause::Clause;
use crate::reading::{
    AddressSubtraction, DivisionByZero, FloatDivisionByZero, OffsetFirst, Question, QuotientOverflow,
    SignedOverflow,
};
use crate::refusal::RefusalClass;
use crate::step::{Ruled, Step};
use crate::value::{AddressValue, Integer, Value};

use super::kinds::{OperandPair, both_signed, integer, integer_for, pair, refuse_operand};

pub(super) fn plus(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    step.uses(Clause::UnaryPlus);
    match value {
        Value::Integer(_) => {
            step.uses(Clause::PlusMinusKeepType);
            Ok(value)
        }
        Value::Float(_) | Value::ComputedNan => {
            step.uses(Clause::FloatUnary);
            Ok(value)
        }
        other => refuse_operand(step, other, RefusalClass::IntegerOnlyOperator, Clause::PlusMinusKeepType),
    }
}

pub(super) fn minus(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    step.uses(Clause::UnaryMinus);
    match value {
        Value::Integer(Integer { bits, signed }) => {
            step.uses(Clause::PlusMinusKeepType);
            let overflows = signed && bits == i64::MIN as u64;
            Ok(wrapped(step, Clause::PlusMinusKeepType, bits.wrapping_neg(), signed, overflows))
        }
        Value::Float(value) => {
            step.uses(Clause::FloatUnary);
            Ok(Value::Float(f64::from_bits(value.to_bits() ^ 1 << 63)))
        }
        Value::ComputedNan => {
            step.uses(Clause::FloatUnary);
            Ok(value)
        }
        other => refuse_operand(step, other, RefusalClass::IntegerOnlyOperator, Clause::PlusMinusKeepType),
    }
}

pub(super) fn not(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    let value = integer(step, value)?;
    step.uses(Clause::NotSigned);
    Ok(Value::truth(value.bits == 0))
}

pub(super) fn complement(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    let value = integer(step, value)?;
    step.uses(Clause::ComplementUnsigned);
    Ok(Value::Integer(Integer::unsigned(!value.bits)))
}

pub(super) fn cast_s64(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    let value = integer_for(step, value, Clause::NoIntFloatCast)?;
    step.uses(Clause::CastS64);
    Ok(Value::Integer(Integer { signed: true, ..value }))
}

pub(super) fn cast_u64(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    let value = integer_for(step, value, Clause::NoIntFloatCast)?;
    step.uses(Clause::CastU64);
    Ok(Value::Integer(Integer { signed: false, ..value }))
}

pub(super) fn wrapped(
    step: &mut Step<'_>,
    clause: Clause,
    bits: u64,
    signed: bool,
    overflows: bool,
) -> Value {
    if overflows {
        step.meets(Question::SignedOverflow);
        if step.readings.signed_overflow == SignedOverflow::Refused {
            return step.undefined(RefusalClass::SignedOverflow, clause, signed);
        }
    }
    Value::Integer(Integer { bits, signed })
}

/// Returns a floating-point result. The specification does not say which NaN an operation yields.
fn float_result(step: &mut Step<'_>, result: f64) -> Value {
    step.uses(Clause::FloatArithmetic);
    step.uses(Clause::FloatDoubleEvaluation);
    if result.is_nan() { Value::ComputedNan } else { Value::Float(result) }
}

pub(super) fn arithmetic(
    step: &mut Step<'_>,
    (left, right): (Value, Value),
    clause: Clause,
    float: fn(f64, f64) -> f64,
    wrapping: fn(u64, u64) -> u64,
    checked: fn(i64, i64) -> Option<i64>,
) -> Ruled<Value> {
    match pair(step, left, right)? {
        OperandPair::Floats(a, b) => Ok(float_result(step, float(a, b))),
        OperandPair::Integers(a, b) => {
            step.uses(clause);
            let signed = both_signed(step, a, b);
            let overflows = signed && checked(a.bits as i64, b.bits as i64).is_none();
            Ok(wrapped(step, clause, wrapping(a.bits, b.bits), signed, overflows))
        }
    }
}

/// Returns the address moved by a number of bytes (5.4.4).
fn moved(step: &mut Step<'_>, address: AddressValue, offset: i64) -> Value {
    step.uses(Clause::AddressOffset);
    Value::Address(AddressValue { addend: address.addend.wrapping_add(offset), moved: true, ..address })
}

pub(super) fn add(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    if let (Value::Address(address), Value::Integer(offset)) = (left, right) {
        return Ok(moved(step, address, offset.bits as i64));
    }
    if let (Value::Integer(offset), Value::Address(address)) = (left, right) {
        step.meets(Question::OffsetFirst);
        return match step.readings.offset_first {
            OffsetFirst::Refused => step.refuse(RefusalClass::AddressArithmetic, Clause::AddressOffset),
            OffsetFirst::Accepted => Ok(moved(step, address, offset.bits as i64)),
        };
    }
    arithmetic(step, (left, right), Clause::Addition, |a, b| a + b, u64::wrapping_add, i64::checked_add)
}

pub(super) fn subtract(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    if let (Value::Address(address), Value::Integer(offset)) = (left, right) {
        step.meets(Question::AddressSubtraction);
        return match step.readings.address_subtraction {
            AddressSubtraction::Refused => {
                step.refuse(RefusalClass::AddressArithmetic, Clause::AddressOffset)
            }
            AddressSubtraction::Accepted => Ok(moved(step, address, (offset.bits as i64).wrapping_neg())),
        };
    }
    arithmetic(step, (left, right), Clause::Subtraction, |a, b| a - b, u64::wrapping_sub, i64::checked_sub)
}

pub(super) fn multiply(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    arithmetic(step, (left, right), Clause::Multiplication, |a, b| a * b, u64::wrapping_mul, i64::checked_mul)
}

fn by_zero(step: &mut Step<'_>, clause: Clause, signed: bool) -> Value {
    step.uses(clause);
    step.meets(Question::DivisionByZero);
    match step.readings.division_by_zero {
        DivisionByZero::Refused => step.undefined(RefusalClass::DivisionByZero, clause, signed),
        DivisionByZero::Zero => Value::Integer(Integer { bits: 0, signed }),
        DivisionByZero::AllOnes => Value::Integer(Integer { bits: u64::MAX, signed }),
    }
}

pub(super) fn divide(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    match pair(step, left, right)? {
        OperandPair::Floats(a, b) => {
            if b == 0.0 {
                step.meets(Question::FloatDivisionByZero);
                if step.readings.float_division_by_zero == FloatDivisionByZero::Refused {
                    return step.refuse(RefusalClass::DivisionByZero, Clause::FloatArithmetic);
                }
            }
            Ok(float_result(step, a / b))
        }
        OperandPair::Integers(a, b) => {
            step.uses(Clause::Division);
            let signed = both_signed(step, a, b);
            if b.bits == 0 {
                return Ok(by_zero(step, Clause::Division, signed));
            }
            if !signed {
                return Ok(Value::Integer(Integer::unsigned(a.bits / b.bits)));
            }
            let (a, b) = (a.bits as i64, b.bits as i64);
            if a.checked_div(b).is_none() {
                step.uses(Clause::FullyDefined);
                step.meets(Question::QuotientOverflow);
                if step.readings.quotient_overflow == QuotientOverflow::Refused {
                    return Ok(step.undefined(RefusalClass::SignedOverflow, Clause::Division, true));
                }
            }
            Ok(Value::Integer(Integer::signed(a.wrapping_div(b))))
        }
    }
}

pub(super) fn remainder(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    let (a, b) = (integer(step, left)?, integer(step, right)?);
    step.uses(Clause::RemUnsigned);
    step.uses(Clause::RemResult);
    match a.bits.checked_rem(b.bits) {
        Some(bits) => Ok(Value::Integer(Integer { bits, signed: true })),
        None => Ok(by_zero(step, Clause::RemUnsigned, true)),
    }
}
