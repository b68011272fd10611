//! Parses the spelling of numbers (4.5.1, 4.5.2), following the grammar character by character.

use num_bigint::BigUint;

use super::float::{self, DOUBLE};

/// The value of a literal, before the rules for types and ranges apply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExactLiteral {
    /// An integer of any size, and whether it has the suffix `U`.
    Integer(BigUint, bool),
    /// A decimal floating-point literal as a double, rounded once.
    Decimal(u64),
    /// The bits of a double.
    Double(u64),
    /// The bits of a single.
    Single(u32),
}

/// Parses a number. Returns `None` if no literal form derives it.
pub(super) fn read(text: &str) -> Option<ExactLiteral> {
    let lower = text.to_ascii_lowercase();
    let (body, unsigned) = match text.strip_suffix('U') {
        Some(_) => (&lower[..lower.len() - 1], true),
        None => (&lower[..], false),
    };
    if let Some(digits) = body.strip_prefix("0x") {
        return Some(ExactLiteral::Integer(in_base(digits, 16)?, unsigned));
    }
    if let Some(digits) = lower.strip_prefix("0d").filter(|digits| digits.len() == 16) {
        return Some(ExactLiteral::Double(u64::from_str_radix(checked(digits, 16)?, 16).ok()?));
    }
    if let Some(digits) = lower.strip_prefix("0f").filter(|digits| digits.len() == 8) {
        return Some(ExactLiteral::Single(u32::from_str_radix(checked(digits, 16)?, 16).ok()?));
    }
    if let Some(digits) = body.strip_prefix("0b") {
        return Some(ExactLiteral::Integer(in_base(digits, 2)?, unsigned));
    }
    if lower.contains(['.', 'e']) {
        return decimal(&lower).map(ExactLiteral::Decimal);
    }
    // A lone zero matches neither the decimal nor the octal form of the grammar, but the specification uses it.
    let base = if body.len() > 1 && body.starts_with('0') { 8 } else { 10 };
    Some(ExactLiteral::Integer(in_base(body, base)?, unsigned))
}

fn checked(digits: &str, base: u32) -> Option<&str> {
    (!digits.is_empty() && digits.chars().all(|c| c.is_digit(base))).then_some(digits)
}

fn in_base(digits: &str, base: u32) -> Option<BigUint> {
    BigUint::parse_bytes(checked(digits, base)?.as_bytes(), base)
}

/// An exponent so large that no number of mantissa digits can compensate for it. Used for exponents that do not fit into `u32`.
const FAR: i64 = 1 << 40;

/// Parses `digits . digits e sign digits`. The point or the exponent may be missing, and one side of the point may be empty.
fn decimal(text: &str) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            checked(digits, 10)?;
            // An exponent that does not fit is equivalent to one far outside the range.
            let size = digits.parse::<u32>().map_or(FAR, i64::from);
            (mantissa, if exponent.starts_with('-') { -size } else { size })
        }
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = checked(&digits, 10)?.trim_start_matches('0');
    let number = in_base(if significant.is_empty() { "0" } else { significant }, 10)?;
    let scale = exponent - fraction.len() as i64;
    // The decimal position of the first digit. Far outside the range of doubles, the power of ten need not be computed.
    let first = significant.len() as i64 + scale;
    let ten = BigUint::from(10u32);
    if significant.is_empty() || first < -400 {
        return Some(0);
    }
    if first > 400 {
        return Some(DOUBLE.infinity(false));
    }
    let power = ten.pow(scale.unsigned_abs() as u32);
    Some(if scale >= 0 {
        float::round(DOUBLE, false, number * power, BigUint::from(1u32))
    } else {
        float::round(DOUBLE, false, number, power)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let integer = |value: u64, unsigned| Some(ExactLiteral::Integer(value.into(), unsigned));
        assert_eq!(read("0"), integer(0, false));
        assert_eq!(read("0U"), integer(0, true));
        assert_eq!(read("0123"), integer(83, false));
        assert_eq!(read("0XfFU"), integer(255, true));
        assert_eq!(read("0b101"), integer(5, false));
        assert_eq!(read("42U"), integer(42, true));
        assert_eq!(read("0F3f800000"), Some(ExactLiteral::Single(0x3f80_0000)));
        assert_eq!(read("0d3FF0000000000000"), Some(ExactLiteral::Double(0x3ff0_0000_0000_0000)));
        for text in [
            "08", "5u", "0x", "0b2", "0xU", "1e", "1e+", ".", "1.5f", "1.5U", "0f123", "0d0", "1.2.3", "",
            "U",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_rounded_once() {
        let read = |text: &str| match read(text) {
            Some(ExactLiteral::Decimal(bits)) => bits,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(read("1.0"), 0x3ff0_0000_0000_0000);
        assert_eq!(read("0.1"), 0x3fb9_9999_9999_999a);
        // 2^53 + 1 is halfway between two doubles; the even one is 2^53.
        assert_eq!(read("9007199254740993.0"), 0x4340_0000_0000_0000);
        assert_eq!(read("9007199254740993.00000000000000000001"), 0x4340_0000_0000_0001);
        // The least denormal is 2^-1074, about 4.94e-324: half of it ties to zero from below only.
        assert_eq!((read("2.47e-324"), read("2.48e-324")), (0, 1));
        // The largest double is (2 - 2^-52) * 2^1023, about 1.7977e308.
        assert_eq!(read("1.7976931348623157e308"), 0x7fef_ffff_ffff_ffff);
        assert_eq!(read("1.8e308"), 0x7ff0_0000_0000_0000);
        assert_eq!(read("1e99999999999999999999"), 0x7ff0_0000_0000_0000);
        assert_eq!(read("1e-99999999999999999999"), 0);
        assert_eq!(read("0e99999999999999999999"), 0);
    }
}
