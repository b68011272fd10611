//! What the spelling of a number means (4.5.1, 4.5.2).
//!
//! The tree keeps numbers as they are written; this is the one place that reads them.

/// The base that an integer literal is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say all")]
pub enum Radix {
    Decimal,
    Hexadecimal,
    Octal,
    Binary,
}

impl Radix {
    /// Every base.
    pub const ALL: [Radix; 4] = [Radix::Decimal, Radix::Hexadecimal, Radix::Octal, Radix::Binary];
}

/// A number as its spelling says it, before any rule about its type or range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer literal.
    Integer {
        /// The value; `None` where it is 2^64 or more.
        value: Option<u64>,
        /// The value modulo 2^64.
        wrapped: u64,
        /// Whether the suffix `U` is there.
        unsigned: bool,
        /// The base that it is written in.
        radix: Radix,
    },
    /// A decimal floating-point literal, correctly rounded to double precision (infinite where it is too large).
    Float(f64),
    /// `0f` and eight hexadecimal digits: the bits of a single-precision value.
    SingleBits(u32),
    /// `0d` and sixteen hexadecimal digits: the bits of a double-precision value.
    DoubleBits(u64),
}

/// Reads a number; `None` where the spelling is none that 4.5.1 or 4.5.2 gives.
///
/// `0` and `0U` are taken although the grammar of 4.5.1, read to the letter, derives neither: it asks for a nonzero
/// first digit of a decimal literal and for a digit behind the `0` of an octal one, while 4.5.3 speaks of zero
/// values and 5.4.4 writes them.
pub fn read_number(text: impl AsRef<[u8]>) -> Option<Number> {
    let bytes = text.as_ref();
    match bytes {
        [b'0', b'f' | b'F', digits @ ..] if digits.len() == 8 => {
            hex(digits).map(|v| Number::SingleBits(v as u32))
        }
        [b'0', b'd' | b'D', digits @ ..] if digits.len() == 16 => hex(digits).map(Number::DoubleBits),
        [b'0', b'x' | b'X', digits @ ..] => integer::<16>(digits, Radix::Hexadecimal),
        [b'0', b'b' | b'B', digits @ ..] => integer::<2>(digits, Radix::Binary),
        [b'0'] | [b'0', b'U'] => integer::<10>(bytes, Radix::Octal),
        // What is written as an integer is no float, and most numbers are integers.
        [b'0', digits @ ..] => integer::<8>(digits, Radix::Octal).or_else(|| float(bytes)),
        _ => integer::<10>(bytes, Radix::Decimal).or_else(|| float(bytes)),
    }
}

/// The value of each digit in any base up to 16; of what is no digit, more than that.
static DIGITS: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut digit = 0;
    while digit < 16 {
        values["0123456789abcdef".as_bytes()[digit] as usize] = digit as u8;
        values["0123456789ABCDEF".as_bytes()[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// The value of a digit of this base.
#[inline]
fn digit<const BASE: u64>(byte: u8) -> Option<u64> {
    let value = u64::from(DIGITS[byte as usize]);
    (value < BASE).then_some(value)
}

fn hex(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |value, &byte| Some(value << 4 | digit::<16>(byte)?))
}

/// `digits [. digits] [e [sign] digits]` with a point or an exponent, and a digit before that. The standard library reads
/// these and, besides, integers, signs in front, and the names of what is no number.
fn float(bytes: &[u8]) -> Option<Number> {
    if let Some(value) = exact(bytes) {
        return Some(Number::Float(value));
    }
    let begins = matches!(bytes, [b'0'..=b'9' | b'.', ..]);
    let is_float = begins && bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if !is_float {
        return None;
    }
    std::str::from_utf8(bytes).ok()?.parse().ok().map(Number::Float)
}

/// The value of a decimal floating-point literal whose digits are an integer below 2^53, times or divided by a power of
/// ten that is a double itself: both are exact, so that one operation rounds correctly. `None` for all others, of which
/// this says nothing.
fn exact(bytes: &[u8]) -> Option<f64> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    // So few characters have no value of 2^64 or more, before and behind the `e`.
    if bytes.len() > 19 {
        return None;
    }
    let (mut mantissa, mut exponent) = (0, 0);
    let (mut has_digit, mut has_point) = (false, false);
    let mut rest = bytes.iter();
    let stated = loop {
        match rest.next() {
            Some(b'.') if !has_point => has_point = true,
            Some(b'e' | b'E') => break Some(rest.as_slice()),
            Some(&byte) => {
                mantissa = mantissa * 10 + digit::<10>(byte)?;
                has_digit = true;
                exponent -= i64::from(has_point);
            }
            None => break None,
        }
    };
    let stated = match stated {
        None if has_point => 0,
        None | Some([] | [b'+' | b'-']) => return None,
        Some([b'-', digits @ ..]) => -decimal(digits)?,
        Some([b'+', digits @ ..] | digits) => decimal(digits)?,
    };
    exponent += stated;
    let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
    if !has_digit || mantissa >= 1 << 53 {
        return None;
    }
    Some(if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power })
}

/// The value of so few decimal digits that it fits.
fn decimal(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, &byte| Some(value * 10 + digit::<10>(byte)? as i64))
}

#[inline]
fn integer<const BASE: u64>(digits: &[u8], radix: Radix) -> Option<Number> {
    let (digits, unsigned) = match digits {
        [digits @ .., b'U'] => (digits, true),
        digits => (digits, false),
    };
    if digits.is_empty() {
        return None;
    }
    // So many digits stay below 2^64, whichever they are.
    let never_wrap = u64::MAX.ilog(BASE) as usize;
    let (short, rest) = digits.split_at(digits.len().min(never_wrap));
    let mut wrapped = 0;
    for &byte in short {
        wrapped = wrapped * BASE + digit::<BASE>(byte)?;
    }
    let mut wraps = false;
    for &byte in rest {
        let (shifted, beyond) = wrapped.overflowing_mul(BASE);
        wraps |= beyond;
        let (sum, beyond) = shifted.overflowing_add(digit::<BASE>(byte)?);
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

    /// The exponents go past what is read with one operation on either side, and the digits past 2^53.
    #[test]
    fn what_is_read_with_one_operation_is_what_the_standard_library_reads() {
        let digits =
            ["0", "1", "7", "10", "123456789", "4503599627370497", "9007199254740991", "9007199254740993"];
        let exponents =
            (-30..=30).flat_map(|n| [format!("e{n}"), format!("E{n:+03}")]).chain(["".to_owned()]);
        let (mut exactly, mut otherwise) = (0, 0);
        for exponent in exponents {
            for (digits, point) in digits.iter().flat_map(|d| (0..=d.len()).map(move |point| (d, point))) {
                let text = format!("{}.{}{exponent}", &digits[..point], &digits[point..]);
                let expected: f64 = text.parse().unwrap();
                match exact(text.as_bytes()) {
                    Some(value) => {
                        assert_eq!(value.to_bits(), expected.to_bits(), "{text}");
                        exactly += 1;
                    }
                    None => otherwise += 1,
                }
                assert_eq!(read_number(&text), Some(Number::Float(expected)), "{text}");
            }
        }
        assert!(exactly > 2_000 && otherwise > 5_000, "{exactly} {otherwise}");
    }

    #[test]
    fn what_is_no_float_is_not_read_with_one_operation() {
        for text in
            [".", "e1", ".e1", "1e", "1e+", "1e-", "1.e5.", "1.2.3", "12", "1e1.0", "1a.0", "1.0U", ""]
        {
            assert_eq!(exact(text.as_bytes()), None, "{text}");
        }
    }
}
