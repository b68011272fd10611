//! The values of constant expressions.

use ptxsmith_syntax::{NodeId, ScalarType, TypeKind};

/// An integer constant: 64 bits, `.s64` or `.u64` (4.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Integer {
    /// The bits; two's complement if signed.
    pub bits: u64,
    /// Whether the type is `.s64`.
    pub signed: bool,
}

impl Integer {
    /// Creates a `.s64` constant.
    pub const fn signed(value: i64) -> Integer {
        Integer { bits: value as u64, signed: true }
    }

    /// Creates a `.u64` constant.
    pub const fn unsigned(bits: u64) -> Integer {
        Integer { bits, signed: false }
    }

    /// Creates a truth value: 0 or 1, signed.
    pub const fn truth(value: bool) -> Integer {
        Integer { bits: value as u64, signed: true }
    }
}

/// The address of a variable or function as a value (5.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressValue {
    /// The node of the expression that names the variable or function.
    pub name: NodeId,
    /// The number of bytes added to the address.
    pub addend: i64,
    /// Whether it is a generic address.
    pub generic: bool,
    /// Whether anything was added, even zero.
    pub moved: bool,
}

/// The value of an expression or of its part.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// An integer constant.
    Integer(Integer),
    /// A floating-point constant in double precision (4.5.2).
    Float(f64),
    /// A NaN produced by an operation: its sign and payload are unspecified.
    ComputedNan,
    /// A single-precision bit pattern, which no operator accepts (4.5.2).
    Single(u32),
    /// An address.
    Address(AddressValue),
    /// One byte of an address, extracted by `mask()` (5.4.4).
    AddressByte(AddressValue, u8),
    /// The result of an operation that is refused if its value matters. Only its type is known.
    Undefined(ValueKind),
}

/// The type of an arithmetic operand (4.5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `.s64`
    Signed,
    /// `.u64`
    Unsigned,
    /// `.f64`
    Float,
}

impl ValueKind {
    /// Returns the type of an integer of this signedness.
    pub const fn integer(signed: bool) -> ValueKind {
        if signed { ValueKind::Signed } else { ValueKind::Unsigned }
    }
}

impl Value {
    /// Returns the value as an operand of arithmetic and comparison, where all NaNs are equivalent.
    pub const fn numeric(self) -> Value {
        match self {
            Value::ComputedNan => Value::Float(f64::NAN),
            other => other,
        }
    }

    /// Returns the value, or 1 of the same type if it is undefined, so that an operator applied to it yields a result
    /// of the right type.
    pub(crate) fn or_one(self) -> Value {
        match self {
            Value::Undefined(ValueKind::Float) => Value::Float(1.0),
            Value::Undefined(kind) => Value::Integer(Integer { bits: 1, signed: kind == ValueKind::Signed }),
            defined => defined,
        }
    }

    /// Returns an undefined value of the same type.
    pub(crate) fn undefined(self) -> Value {
        Value::Undefined(match self {
            Value::Undefined(kind) => kind,
            Value::Float(_) | Value::ComputedNan => ValueKind::Float,
            Value::Integer(Integer { signed: false, .. }) => ValueKind::Unsigned,
            // No operator yields an undefined address or bit pattern.
            _ => ValueKind::Signed,
        })
    }

    /// Creates a truth value: 0 or 1, signed.
    pub const fn truth(value: bool) -> Value {
        Value::Integer(Integer::truth(value))
    }
}

/// Converts a double-precision value to single precision, rounding to nearest and ties to even as IEEE 754 does by
/// default. A NaN keeps its sign and the leading bits of its payload, and is quiet.
pub fn narrow(value: f64) -> u32 {
    if value.is_nan() {
        let bits = value.to_bits();
        let sign = (bits >> 32) as u32 & 0x8000_0000;
        return sign | 0x7fc0_0000 | (bits >> 29) as u32 & 0x003f_ffff;
    }
    (value as f32).to_bits()
}

/// Converts a single-precision bit pattern to double precision, which is exact. A NaN keeps its payload in the leading
/// bits, and is quiet.
pub fn widen(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        let sign = u64::from(bits & 0x8000_0000) << 32;
        return sign | 0x7ff8_0000_0000_0000 | u64::from(bits & 0x003f_ffff) << 29;
    }
    f64::from(value).to_bits()
}

/// Truncates a number to the size of a type; for a predicate, returns 1 if any bit is set.
pub(crate) fn low_bits(ty: ScalarType, bits: u64) -> u64 {
    match ty.size() {
        Some(size @ 1..=7) => bits & ((1 << (8 * size)) - 1),
        None => u64::from(bits != 0),
        _ => bits,
    }
}

/// Truncates a number to the size of a type and extends its sign.
pub(crate) fn sign_extended(ty: ScalarType, bits: u64) -> i64 {
    let unused = 64 - 8 * ty.size().map_or(8, |size| size.min(8)) as u32;
    ((bits << unused) as i64) >> unused
}

/// Extends a number of this type to 64 bits, with its sign if the type is signed.
pub(crate) fn extended(ty: ScalarType, bits: u64) -> u64 {
    if ty.kind() == TypeKind::Signed { sign_extended(ty, bits) as u64 } else { low_bits(ty, bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowing_rounds_ties_to_even() {
        let one_and_half_ulp = 1.0 + f64::from(f32::EPSILON) / 2.0;
        assert_eq!(narrow(one_and_half_ulp), 0x3f80_0000);
        assert_eq!(narrow(one_and_half_ulp + f64::EPSILON), 0x3f80_0001);
        assert_eq!(narrow(1.0 + 1.5 * f64::from(f32::EPSILON)), 0x3f80_0002);
        assert_eq!(narrow(-0.0), 0x8000_0000);
        assert_eq!(narrow(1e300), 0x7f80_0000);
        assert_eq!(narrow(1e-46), 0);
        assert_eq!(narrow(1.5e-45), 1);
    }

    #[test]
    fn nans_keep_sign_and_leading_payload_and_become_quiet() {
        assert_eq!(narrow(f64::from_bits(0xfff0_0000_2000_0001)), 0xffc0_0001);
        assert_eq!(widen(0x7f80_0001), 0x7ff8_0000_2000_0000);
        assert_eq!(widen(0x3f80_0000), 0x3ff0_0000_0000_0000);
    }

    #[test]
    fn nans_that_differ_in_every_part_keep_every_part() {
        assert_eq!(narrow(f64::from_bits(0xfff5_5555_5555_5555)), 0xffea_aaaa);
        assert_eq!(narrow(f64::from_bits(0x7fff_ffff_ffff_ffff)), 0x7fff_ffff);
        assert_eq!(widen(0xffaa_aaaa), 0xfffd_5555_4000_0000);
        assert_eq!(widen(0x7fff_ffff), 0x7fff_ffff_e000_0000);
    }

    #[test]
    fn bits_beyond_a_type_are_dropped_and_a_predicate_is_0_or_1() {
        assert_eq!(low_bits(ScalarType::U8, 0x1ff), 0xff);
        assert_eq!(low_bits(ScalarType::B32, u64::MAX), 0xffff_ffff);
        assert_eq!(low_bits(ScalarType::S64, u64::MAX), u64::MAX);
        assert_eq!(low_bits(ScalarType::Pred, 2), 1);
        assert_eq!(low_bits(ScalarType::Pred, 0), 0);
    }
}
