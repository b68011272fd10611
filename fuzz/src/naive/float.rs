//! Binary floating point by exact fractions: computes the exact result, then rounds it once, to nearest with ties to even.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

/// A binary format of IEEE 754.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatFormat {
    /// The number of bits of the significand, including the hidden bit.
    precision: i64,
    /// The exponent of the smallest normal number.
    least: i64,
    /// The number of bits of the encoding.
    width: u32,
}

/// Double precision.
pub(super) const DOUBLE: FloatFormat = FloatFormat { precision: 53, least: -1022, width: 64 };
/// Single precision.
pub(super) const SINGLE: FloatFormat = FloatFormat { precision: 24, least: -126, width: 32 };

impl FloatFormat {
    fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.width - 1)
    }

    /// Returns the encoding of an infinity.
    pub(super) fn infinity(self, negative: bool) -> u64 {
        let ones = (1u64 << (i64::from(self.width) - self.precision)) - 1;
        self.sign(negative) | ones << (self.precision - 1)
    }
}

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Real {
    Nan,
    Infinity(bool),
    /// Whether the value is negative, the numerator and the denominator. Zero has a sign too.
    Finite(bool, BigUint, BigUint),
}

/// Decodes an encoding.
pub(super) fn decode(format: FloatFormat, bits: u64) -> Real {
    let negative = bits >> (format.width - 1) & 1 == 1;
    let fraction_bits = (format.precision - 1) as u32;
    let fraction = bits & ((1 << fraction_bits) - 1);
    let exponents = format.width - 1 - fraction_bits;
    let exponent = (bits >> fraction_bits & ((1 << exponents) - 1)) as i64;
    if exponent == (1 << exponents) - 1 {
        return if fraction == 0 { Real::Infinity(negative) } else { Real::Nan };
    }
    let significand = if exponent == 0 { fraction } else { fraction | 1 << fraction_bits };
    let power = exponent.max(1) - 1 + format.least - (format.precision - 1);
    let one = BigUint::from(1u32);
    let (numerator, denominator) = if power >= 0 {
        (BigUint::from(significand) << power as u64, one)
    } else {
        (BigUint::from(significand), one << power.unsigned_abs())
    };
    Real::Finite(negative, numerator, denominator)
}

/// Returns the encoding nearest to a fraction. Ties go to the encoding with a zero last bit.
pub(super) fn round(format: FloatFormat, negative: bool, numerator: BigUint, denominator: BigUint) -> u64 {
    let zero = BigUint::ZERO;
    if numerator == zero {
        return format.sign(negative);
    }
    // The largest power of two that is not above the fraction.
    let mut exponent = numerator.bits() as i64 - denominator.bits() as i64;
    if at_power(&numerator, &denominator, -exponent).0 < at_power(&numerator, &denominator, -exponent).1 {
        exponent -= 1;
    }
    // The distance between neighbouring encodings at this exponent, as a power of two.
    let step = exponent.max(format.least) - (format.precision - 1);
    let (numerator, denominator) = at_power(&numerator, &denominator, -step);
    let quotient = &numerator / &denominator;
    let rest = numerator - &quotient * &denominator;
    let up = match (rest << 1u32).cmp(&denominator) {
        Ordering::Less => false,
        Ordering::Equal => quotient.bit(0),
        Ordering::Greater => true,
    };
    let steps = u64::try_from(&quotient).expect("no more than the precision") + u64::from(up);
    // Encodings of neighbours are neighbouring numbers, also across a power of two and into infinity.
    let bottom = (step - (format.least - (format.precision - 1))) as u64;
    let encoding = (bottom << (format.precision - 1)) + steps;
    format.sign(negative) | encoding.min(format.infinity(false))
}

/// Multiplies a fraction by a power of two.
fn at_power(numerator: &BigUint, denominator: &BigUint, power: i64) -> (BigUint, BigUint) {
    let shift = power.unsigned_abs();
    match power >= 0 {
        true => (numerator << shift, denominator.clone()),
        false => (numerator.clone(), denominator << shift),
    }
}

/// An operation on two doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatOperation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Returns the double nearest to the exact result, or `None` for NaN.
pub(super) fn apply(operation: FloatOperation, left: u64, right: u64) -> Option<u64> {
    let (left, mut right) = (decode(DOUBLE, left), decode(DOUBLE, right));
    if operation == FloatOperation::Subtract {
        right = match right {
            Real::Nan => Real::Nan,
            Real::Infinity(negative) => Real::Infinity(!negative),
            Real::Finite(negative, n, d) => Real::Finite(!negative, n, d),
        };
    }
    let zero = BigUint::ZERO;
    match (operation, left, right) {
        (_, Real::Nan, _) | (_, _, Real::Nan) => None,
        (FloatOperation::Add | FloatOperation::Subtract, left, right) => match (left, right) {
            (Real::Infinity(a), Real::Infinity(b)) => (a == b).then(|| DOUBLE.infinity(a)),
            (Real::Infinity(a), _) | (_, Real::Infinity(a)) => Some(DOUBLE.infinity(a)),
            (Real::Finite(a, an, ad), Real::Finite(b, bn, bd)) => {
                let sum = signed(a, an * &bd) + signed(b, bn * &ad);
                // A sum of zero is positive, unless it is one of two negative zeros.
                let negative = if sum.sign() == Sign::NoSign { a && b } else { sum.sign() == Sign::Minus };
                Some(round(DOUBLE, negative, sum.magnitude().clone(), ad * bd))
            }
            _ => unreachable!("not a number was told apart"),
        },
        (FloatOperation::Multiply, left, right) => match (left, right) {
            (Real::Finite(a, an, ad), Real::Finite(b, bn, bd)) => {
                Some(round(DOUBLE, a != b, an * bn, ad * bd))
            }
            (Real::Infinity(a), Real::Infinity(b)) => Some(DOUBLE.infinity(a != b)),
            (Real::Infinity(a), Real::Finite(b, n, _)) | (Real::Finite(b, n, _), Real::Infinity(a)) => {
                (n != zero).then(|| DOUBLE.infinity(a != b))
            }
            _ => unreachable!("not a number was told apart"),
        },
        (FloatOperation::Divide, left, right) => match (left, right) {
            (Real::Infinity(_), Real::Infinity(_)) => None,
            (Real::Infinity(a), Real::Finite(b, ..)) => Some(DOUBLE.infinity(a != b)),
            (Real::Finite(a, ..), Real::Infinity(b)) => Some(DOUBLE.sign(a != b)),
            (Real::Finite(a, an, _), Real::Finite(b, bn, _)) if bn == zero => {
                (an != zero).then(|| DOUBLE.infinity(a != b))
            }
            (Real::Finite(a, an, ad), Real::Finite(b, bn, bd)) => {
                Some(round(DOUBLE, a != b, an * bd, ad * bn))
            }
            _ => unreachable!("not a number was told apart"),
        },
    }
}

/// Compares two doubles. Returns `None` if either is NaN.
pub(super) fn compare(left: u64, right: u64) -> Option<Ordering> {
    let (a, an, ad) = ordered(decode(DOUBLE, left))?;
    let (b, bn, bd) = ordered(decode(DOUBLE, right))?;
    Some(a.cmp(&b).then_with(|| (an * BigInt::from(bd)).cmp(&(bn * BigInt::from(ad)))))
}

/// Returns a key for comparisons: -1, 0 or 1 for the negative infinity, numbers and the positive infinity, and the fraction.
fn ordered(real: Real) -> Option<(i8, BigInt, BigUint)> {
    match real {
        Real::Nan => None,
        Real::Infinity(negative) => Some((if negative { -1 } else { 1 }, BigInt::ZERO, BigUint::from(1u32))),
        Real::Finite(negative, n, d) => Some((0, signed(negative, n), d)),
    }
}

fn signed(negative: bool, magnitude: BigUint) -> BigInt {
    BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, magnitude)
}

/// Converts a value other than NaN between formats, rounding if necessary.
pub(super) fn convert(from: FloatFormat, to: FloatFormat, bits: u64) -> u64 {
    match decode(from, bits) {
        Real::Nan => unreachable!("what becomes of a payload is another rule"),
        Real::Infinity(negative) => to.infinity(negative),
        Real::Finite(negative, n, d) => round(to, negative, n, d),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERESTING: [u64; 22] = [
        0,
        1 << 63,
        1,
        1 << 63 | 1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3690_0000_0000_0000,
        0x380f_ffff_e000_0000,
        0x3c90_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0x3ff0_0000_0000_0001,
        0x3ff0_0000_1000_0000,
        0x3ff8_0000_0000_0000,
        0x3fd5_5555_5555_5555,
        0xbff0_0000_0000_0000,
        0x4340_0000_0000_0001,
        0x47ef_ffff_efff_ffff,
        0x47ef_ffff_f000_0000,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
    ];

    /// Compares with the arithmetic of the host, which is IEEE 754 with rounding to nearest and ties to even.
    #[test]
    fn exact_fractions_rounded_once_match_machine_arithmetic() {
        type Machine = fn(f64, f64) -> f64;
        let machine: [(FloatOperation, Machine); 4] = [
            (FloatOperation::Add, |a, b| a + b),
            (FloatOperation::Subtract, |a, b| a - b),
            (FloatOperation::Multiply, |a, b| a * b),
            (FloatOperation::Divide, |a, b| a / b),
        ];
        for a in INTERESTING {
            for b in INTERESTING {
                let (x, y) = (f64::from_bits(a), f64::from_bits(b));
                for (operation, machine) in machine {
                    let expected = machine(x, y);
                    let expected = (!expected.is_nan()).then(|| expected.to_bits());
                    assert_eq!(apply(operation, a, b), expected, "{x:e} {operation:?} {y:e}");
                }
                assert_eq!(compare(a, b), x.partial_cmp(&y), "{x:e} {y:e}");
            }
            if !f64::from_bits(a).is_nan() {
                let single = (f64::from_bits(a) as f32).to_bits();
                assert_eq!(convert(DOUBLE, SINGLE, a), u64::from(single), "{a:x}");
                let double = f64::from(f32::from_bits(single)).to_bits();
                assert_eq!(convert(SINGLE, DOUBLE, single.into()), double, "{a:x}");
            }
        }
    }

    #[test]
    fn a_double_comes_back_from_its_fraction() {
        for bits in INTERESTING {
            if let Real::Finite(negative, n, d) = decode(DOUBLE, bits) {
                assert_eq!(round(DOUBLE, negative, n, d), bits);
            }
        }
    }
}
