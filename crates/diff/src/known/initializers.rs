//! Known deviations of initial values: lists, conversion to the type of the variable, addresses in variables.

use ptxsmith_oracle::{
    AddressSlot, Addressing, COMPUTED_NAN, Ruled, Step, Stop, Stored, Value,
    rules::{SlotOf, Store},
};
use ptxsmith_syntax::ScalarType;

use super::entry::RuleChange;

/// The rules that listed deviations follow, and the crashes that rules predict, by id.
pub(super) const CHANGES: &[(&str, RuleChange)] = &[
    ("incomplete-rows-packed", RuleChange::Rule(|rules| rules.layout.place.change(|_, at| at.written))),
    ("single-bits-raw-in-f64", RuleChange::Rule(|rules| rules.expressions.store.change(single_bits_raw))),
    ("float-in-small-bits", RuleChange::Rule(|rules| rules.expressions.store.change(float_in_small_bits))),
    ("address-always-8-bytes", RuleChange::Rule(|rules| rules.layout.slot_of.change(always_8_bytes))),
];

/// From sm_90 on the addend is read from eight bytes too. The upper half contains the next element, or
/// whatever the compiler had in its memory there, which differs from run to run.
fn always_8_bytes(next: &SlotOf, size: u64, byte: Option<u8>, addressing: Addressing) -> AddressSlot {
    if byte.is_some() || size >= 8 || addressing.is_32_bit {
        return next.apply(size, byte, addressing);
    }
    AddressSlot {
        width: 8,
        addend_bits: if addressing.architecture.is_some_and(|sm| sm >= 90) { 32 } else { 64 },
    }
}

fn single_bits_raw(next: &Store, step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    match value {
        Value::Single(bits) if matches!(ty, ScalarType::F64 | ScalarType::B64) => {
            Ok(Stored::Bits(bits.into()))
        }
        other => next.apply(step, other, ty),
    }
}

fn float_in_small_bits(next: &Store, step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    let small = matches!(ty, ScalarType::B8 | ScalarType::B16);
    match value {
        Value::Float(float) if small => Ok(Stored::Bits(float.to_bits())),
        Value::Single(bits) if small => Ok(Stored::Bits(bits.into())),
        Value::ComputedNan if small => Err(Stop::Unmodelled(COMPUTED_NAN)),
        value => next.apply(step, value, ty),
    }
}
