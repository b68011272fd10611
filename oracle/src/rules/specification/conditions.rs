//! Comparisons, logical operators and `?:` (4.5.5, 4.5.6).

use crate::clause::Clause;
use crate::reading::{Question, SkippedOperand};
use crate::refusal::RefusalClass;
use crate::step::{Ruled, Step};
use crate::value::{Integer, Value, ValueKind};

use super::kinds::{OperandPair, both_signed, integer, pair, refuse_operand};

fn compare(
    step: &mut Step<'_>,
    (left, right): (Value, Value),
    clause: Clause,
    float: fn(&f64, &f64) -> bool,
    signed: fn(&i64, &i64) -> bool,
    unsigned: fn(&u64, &u64) -> bool,
) -> Ruled<Value> {
    let operands = pair(step, left, right)?;
    step.uses(clause);
    let equality = matches!(clause, Clause::Equal | Clause::NotEqual);
    step.uses(if equality { Clause::EqualitySignedResult } else { Clause::ComparisonSignedResult });
    Ok(Value::truth(match operands {
        OperandPair::Floats(a, b) => {
            step.uses(if equality { Clause::FloatEquality } else { Clause::FloatComparison });
            float(&a, &b)
        }
        OperandPair::Integers(a, b) if both_signed(step, a, b) => signed(&(a.bits as i64), &(b.bits as i64)),
        OperandPair::Integers(a, b) => unsigned(&a.bits, &b.bits),
    }))
}

pub(super) fn less(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::Less, f64::lt, i64::lt, u64::lt)
}

pub(super) fn greater(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::Greater, f64::gt, i64::gt, u64::gt)
}

pub(super) fn less_equal(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::LessEqual, f64::le, i64::le, u64::le)
}

pub(super) fn greater_equal(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::GreaterEqual, f64::ge, i64::ge, u64::ge)
}

pub(super) fn equal(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::Equal, f64::eq, i64::eq, u64::eq)
}

pub(super) fn not_equal(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::NotEqual, f64::ne, i64::ne, u64::ne)
}

/// Evaluates `&&` or `||`: if either operand has the truth value `decisive`, the result has it too.
fn logical(step: &mut Step<'_>, left: Value, right: Value, clause: Clause, decisive: bool) -> Ruled<Value> {
    step.uses(clause);
    step.uses(Clause::LogicalSignedResult);
    let left = truth(step, left)?;
    let right = truth(step, right)?;
    match (left, right) {
        (Some(left), Some(right)) => Ok(Value::truth(if decisive { left || right } else { left && right })),
        (Some(left), None) if left == decisive && skips(step) => Ok(Value::truth(decisive)),
        _ => Ok(Value::Undefined(ValueKind::Signed)),
    }
}

/// Returns whether an operand of `&&` or `||` is nonzero; `None` if it is undefined.
pub(super) fn truth(step: &mut Step<'_>, value: Value) -> Ruled<Option<bool>> {
    let integer = integer(step, value.or_one())?;
    Ok(if let Value::Undefined(_) = value { None } else { Some(integer.bits != 0) })
}

/// Whether an operand that C would not evaluate is skipped here too.
fn skips(step: &mut Step<'_>) -> bool {
    step.meets(Question::SkippedOperand);
    step.readings.skipped_operand == SkippedOperand::Skipped
}

pub(super) fn logical_and(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    logical(step, left, right, Clause::LogicalAnd, false)
}

pub(super) fn logical_or(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    logical(step, left, right, Clause::LogicalOr, true)
}

/// Returns the type of an operand of `?:`; `None` for addresses and bit patterns.
fn kind_of(value: Value) -> Option<ValueKind> {
    match value {
        Value::Integer(Integer { signed, .. }) => Some(ValueKind::integer(signed)),
        Value::Float(_) | Value::ComputedNan => Some(ValueKind::Float),
        Value::Undefined(kind) => Some(kind),
        _ => None,
    }
}

pub(in crate::rules) fn ternary(
    step: &mut Step<'_>,
    condition: Value,
    then: Value,
    otherwise: Value,
) -> Ruled<Value> {
    step.uses(Clause::TernaryCondition);
    step.uses(Clause::TernarySelection);
    let condition = match condition {
        Value::Integer(integer) => Some(integer.bits != 0),
        Value::Undefined(ValueKind::Signed | ValueKind::Unsigned) => None,
        other => {
            return refuse_operand(step, other, RefusalClass::TernaryCondition, Clause::TernaryCondition);
        }
    };
    let common = match (kind_of(then), kind_of(otherwise)) {
        (Some(ValueKind::Float), Some(ValueKind::Float)) => {
            step.uses(Clause::TernarySameKind);
            step.uses(Clause::FloatTernary);
            ValueKind::Float
        }
        (
            Some(a @ (ValueKind::Signed | ValueKind::Unsigned)),
            Some(b @ (ValueKind::Signed | ValueKind::Unsigned)),
        ) => {
            step.uses(Clause::TernaryConversions);
            step.uses(Clause::UsualConversions);
            ValueKind::integer((a, b) == (ValueKind::Signed, ValueKind::Signed))
        }
        (of_then, _) => {
            let other = if of_then.is_some() { otherwise } else { then };
            return refuse_operand(step, other, RefusalClass::IntFloatMix, Clause::TernarySameKind);
        }
    };
    let Some(condition) = condition else { return Ok(Value::Undefined(common)) };
    let (chosen, skipped) = if condition { (then, otherwise) } else { (otherwise, then) };
    Ok(match (chosen, skipped) {
        (Value::Undefined(_), _) => Value::Undefined(common),
        (_, Value::Undefined(_)) if !skips(step) => Value::Undefined(common),
        (Value::Integer(Integer { bits, .. }), _) => {
            Value::Integer(Integer { bits, signed: common == ValueKind::Signed })
        }
        (float, _) => float,
    })
}
