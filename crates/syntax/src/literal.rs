//! Interprets the spelling of numbers (4.5.1, 4.5.2).
//!
//! The tree keeps numbers as written. Only this module converts them.

crate::every! {
    /// The base of an integer literal.
    #[expect(missing_docs, reason = "the names say all")]
    pub enum Radix { Decimal, Hexadecimal, Octal, Binary }
}

/// The value of a number's spelling, before any rule about type or range applies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer literal.
    Integer {
        /// The value; `None` if it is 2^64 or more.
        value: Option<u64>,
        /// The value modulo 2^64.
        wrapped: u64,
        /// Whether the literal has the suffix `U`.
        unsigned: bool,
        /// The base of the literal.
        radix: Radix,
    },
    /// A decimal floating-point literal, correctly rounded to double precision (infinite if it is too large).
    Float(f64),
    /// `0f` and eight hexadecimal digits: the bits of a single-precision value.
    SingleBits(u32),
    /// `0d` and sixteen hexadecimal digits: the bits of a double-precision value.
    DoubleBits(u64),
}

/// Parses a number. Returns `None` if 4.5.1 and 4.5.2 do not define the spelling.
///
/// `0` and `0U` are accepted although the literal grammar of 4.5.1 derives neither: it requires a nonzero first digit in a
/// decimal literal and a digit after the `0` of an octal literal, while 4.5.3 mentions zero values and 5.4.4 writes them.
#[inline]
pub fn read_number(text: impl AsRef<[u8]>) -> Option<Number> {
    let bytes = text.as_ref();
    match bytes {
        [b'0', b'f' | b'F', digits @ ..] if digits.len() == 8 => {
            hex(digits).map(|v| Number::SingleBits(v as u32))
        }
        [b'0', b'd' | b'D', digits @ ..] if digits.len() == 16 => hex(digits).map(Number::DoubleBits),
        [b'0', b'x' | b'X', digits @ ..] => integer(digits, Radix::Hexadecimal),
        [b'0', b'b' | b'B', digits @ ..] => integer(digits, Radix::Binary),
        [b'0'] | [b'0', b'U'] => integer(bytes, Radix::Octal),
        // Integers come first: most numbers are integers, and the spellings do not overlap.
        [b'0', digits @ ..] => integer(digits, Radix::Octal).or_else(|| float(bytes)),
        _ => integer(bytes, Radix::Decimal).or_else(|| float(bytes)),
    }
}

fn hex(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |value, &byte| Some(value << 4 | u64::from(char::from(byte).to_digit(16)?)))
}

/// Parses `digits [. digits] [e [sign] digits]` with a point or an exponent, and a digit before it. The standard library
/// also accepts integers, leading signs, and names such as `nan`, which are excluded first.
fn float(bytes: &[u8]) -> Option<Number> {
    let begins = matches!(bytes, [b'0'..=b'9' | b'.', ..]);
    let is_float = begins && bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if !is_float {
        return None;
    }
    std::str::from_utf8(bytes).ok()?.parse().ok().map(Number::Float)
}

fn integer(digits: &[u8], radix: Radix) -> Option<Number> {
    let (digits, unsigned) = match digits {
        [digits @ .., b'U'] => (digits, true),
        digits => (digits, false),
    };
    if digits.is_empty() {
        return None;
    }
    let base = match radix {
        Radix::Decimal => 10,
        Radix::Hexadecimal => 16,
        Radix::Octal => 8,
        Radix::Binary => 2,
    };
    let (mut wrapped, mut wraps) = (0_u64, false);
    for &byte in digits {
        let (shifted, beyond) = wrapped.overflowing_mul(base.into());
        wraps |= beyond;
        let (sum, beyond) = shifted.overflowing_add(char::from(byte).to_digit(base)?.into());
        wraps |= beyond;
        wrapped = sum;
    }
    Some(Number::Integer { value: (!wraps).then_some(wrapped), wrapped, unsigned, radix })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(text: &str) -> Option<(Option<u64>, bool, Radix)> {
        match read_number(text)? {
            Number::Integer { value, unsigned, radix, .. } => Some((value, unsigned, radix)),
            _ => None,
        }
    }

    #[test]
    fn every_base_is_read_with_and_without_suffix() {
        assert_eq!(int("42"), Some((Some(42), false, Radix::Decimal)));
        assert_eq!(int("42U"), Some((Some(42), true, Radix::Decimal)));
        assert_eq!(int("0XfFU"), Some((Some(255), true, Radix::Hexadecimal)));
        assert_eq!(int("0123"), Some((Some(83), false, Radix::Octal)));
        assert_eq!(int("0b101U"), Some((Some(5), true, Radix::Binary)));
        assert_eq!(int("0"), Some((Some(0), false, Radix::Octal)));
    }

    #[test]
    fn a_value_of_two_to_the_64_is_known_not_to_fit() {
        assert_eq!(int("18446744073709551615"), Some((Some(u64::MAX), false, Radix::Decimal)));
        assert_eq!(int("18446744073709551616"), Some((None, false, Radix::Decimal)));
        assert!(matches!(
            read_number("0x10000000000000001"),
            Some(Number::Integer { wrapped: 1, value: None, .. })
        ));
    }

    #[test]
    fn malformed_spellings_are_not_numbers() {
        for text in [
            "08",
            "5u",
            "0x",
            "0b2",
            "0xU",
            "1e",
            "1e+",
            ".",
            "1.5f",
            "0f123",
            "0d0",
            "0f1234567g",
            "1.2.3",
            "",
            "U",
            "inf",
            "infinity",
            "nan",
            "einf",
            "+1.0",
            "-1e3",
            "e5",
            ".e5",
            "1_0.0",
            "1.0e5.",
            "1e5e5",
            " 1.0",
        ] {
            assert_eq!(read_number(text), None, "{text}");
        }
    }

    #[test]
    fn floats_need_a_point_or_an_exponent() {
        assert_eq!(read_number("1.5"), Some(Number::Float(1.5)));
        assert_eq!(read_number(".5"), Some(Number::Float(0.5)));
        assert_eq!(read_number("5."), Some(Number::Float(5.0)));
        assert_eq!(read_number("1e3"), Some(Number::Float(1000.0)));
        assert_eq!(read_number("00.5E-1"), Some(Number::Float(0.05)));
        assert_eq!(read_number("0e0"), Some(Number::Float(0.0)));
        assert_eq!(read_number("1e999"), Some(Number::Float(f64::INFINITY)));
        assert_eq!(read_number("0F3f800000"), Some(Number::SingleBits(0x3f80_0000)));
        assert_eq!(read_number("0d3FF0000000000000"), Some(Number::DoubleBits(0x3ff0_0000_0000_0000)));
    }
}
