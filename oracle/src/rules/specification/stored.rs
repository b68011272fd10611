//! Conversion to the type of the variable (4.5.1, 4.5.2, 5.4.4).

use ptxsmith_syntax::{ScalarType, TypeKind};

use crate::address;
use crate::clause::Clause;
use crate::reading::{BitsFromFloat, NanNarrowing, Question, UpperHalf};
use crate::refusal::{RefusalClass, Stop};
use crate::step::{Ruled, Step, Stored};
use crate::undecided::COMPUTED_NAN;
use crate::value::{Value, narrow, widen};

pub(in crate::rules) fn store(step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    let size = ty.bytes();
    match (value, ty.kind()) {
        (_, TypeKind::Predicate | TypeKind::Float) if size < 4 || ty == ScalarType::F16x2 => {
            step.refuse(RefusalClass::TypeWithoutInitializer, Clause::TypeAllowsInitializer)
        }
        (Value::Integer(integer), TypeKind::Bits) if size == 16 => {
            step.uses(Clause::ValueKind);
            step.uses(Clause::IntegerWidth);
            step.uses(Clause::ConstantForBitSizeType);
            let is_negative = integer.signed && (integer.bits as i64) < 0;
            if is_negative {
                step.meets(Question::UpperHalf);
            }
            let extends = is_negative && step.readings.upper_half == UpperHalf::Converted;
            let upper = if extends { u128::MAX << 64 } else { 0 };
            Ok(Stored::Wide(upper | u128::from(integer.bits)))
        }
        (Value::Integer(integer), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits) => {
            step.uses(Clause::ValueKind);
            step.uses(if size < 8 { Clause::IntegerNarrowing } else { Clause::IntegerWidth });
            if ty.kind() == TypeKind::Bits {
                step.uses(Clause::ConstantForBitSizeType);
            }
            Ok(Stored::Bits(integer.bits))
        }
        (Value::Float(_) | Value::ComputedNan | Value::Single(_), TypeKind::Float) => {
            store_float(step, value, size)
        }
        (Value::Float(_) | Value::ComputedNan | Value::Single(_), TypeKind::Bits) => {
            step.meets(Question::BitsFromFloat);
            let takes = step.readings.bits_from_float == BitsFromFloat::SameSize;
            if takes && size == 16 {
                return Err(Stop::Unmodelled(
                    "a floating-point constant has 64 bits; how it fills 128 is not said",
                ));
            }
            if !takes || !matches!(size, 4 | 8) {
                return step.refuse(RefusalClass::ValueKind, Clause::ValueKind);
            }
            step.uses(Clause::ConstantForBitSizeType);
            store_float(step, value, size)
        }
        (Value::Address(address), _) => address::store(step, address, ty),
        (Value::AddressByte(address, byte), _) => address::store_byte(step, address, byte, ty),
        (Value::Integer(_) | Value::Float(_) | Value::ComputedNan | Value::Single(_), _) => {
            step.refuse(RefusalClass::ValueKind, Clause::ValueKind)
        }
        (Value::Undefined(_), _) => {
            Err(step.pending.take().unwrap_or(Stop::Unmodelled("an undefined value without a reason")))
        }
    }
}

fn store_float(step: &mut Step<'_>, value: Value, size: u64) -> Ruled<Stored> {
    step.uses(Clause::ValueKind);
    if let Value::ComputedNan = value {
        return Err(Stop::Unmodelled(COMPUTED_NAN));
    }
    let nan = match value {
        Value::Float(value) => value.is_nan(),
        Value::Single(bits) => f32::from_bits(bits).is_nan(),
        _ => false,
    };
    let changes = matches!((value, size), (Value::Float(_), 4) | (Value::Single(_), 8));
    if changes {
        step.uses(Clause::FloatNarrowing);
    }
    if changes && nan {
        step.meets(Question::NanNarrowing);
        if step.readings.nan_narrowing == NanNarrowing::Canonical {
            return Ok(Stored::Bits(if size == 4 { 0x7fff_ffff } else { 0x7fff_ffff_ffff_ffff }));
        }
    }
    Ok(Stored::Bits(match (value, size) {
        (Value::Float(value), 4) => narrow(value).into(),
        (Value::Float(value), _) => value.to_bits(),
        (Value::Single(bits), 4) => bits.into(),
        (Value::Single(bits), _) => widen(bits),
        _ => return step.refuse(RefusalClass::ValueKind, Clause::ValueKind),
    }))
}
