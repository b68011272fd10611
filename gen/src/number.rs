//! Makers of numbers: values and spellings.

use ptxsmith_syntax::{BinaryOp, Cast, Radix, UnaryOp, precedence};

use crate::{boundary, draft::Draft};

// Magnitudes

/// Draws a value of a random width, so that all orders of magnitude are equally likely.
pub(crate) fn some_bits(d: &mut Draft<'_, '_>) -> u64 {
    let width = d.below(64);
    d.word() >> (63 - width)
}

pub(crate) fn all_bits(d: &mut Draft<'_, '_>) -> u64 {
    d.word()
}

// Spellings

/// Spells a literal of this value in a random base, with or without a suffix.
fn spelled(d: &mut Draft<'_, '_>, value: u64) -> String {
    let radix = d.radix();
    let unsigned = d.suffix();
    spelled_as(d, value, radix, unsigned)
}

/// Spells a literal of this value in a random base, without a suffix.
pub(crate) fn spelled_signed(d: &mut Draft<'_, '_>, value: u64) -> String {
    let radix = d.radix();
    spelled_as(d, value, radix, false)
}

/// Adds a literal of this value in a random base, without a suffix.
pub(crate) fn add_signed(d: &mut Draft<'_, '_>, value: u64) {
    let number = spelled_signed(d, value);
    d.number(&number);
}

fn spelled_as(d: &mut Draft<'_, '_>, value: u64, radix: Radix, unsigned: bool) -> String {
    // Read the byte even if it has no effect, as for decimal digits, so that the following bytes mean the same in each base.
    let detail = if d.config().odd_spellings { d.byte() } else { 0 };
    integer_text(value, radix, unsigned, detail)
}

/// Spells an integer. `detail` controls the spelling: bit 0 selects a capital `X` or `B`, and bits 1 and 2 the case of the
/// digits. If bits 3 to 5 are all set, bits 6 and 7 give the number of leading zeros minus one.
pub(crate) fn integer_text(value: u64, radix: Radix, unsigned: bool, detail: u8) -> String {
    let zeros = if detail >> 3 & 7 == 7 { &"0000"[..=usize::from(detail >> 6)] } else { "" };
    let is_capital = detail & 1 == 1;
    let suffix = if unsigned { "U" } else { "" };
    match radix {
        Radix::Decimal => value.to_string() + suffix,
        Radix::Hexadecimal => {
            let x = if is_capital { 'X' } else { 'x' };
            format!("0{x}{zeros}{}{suffix}", hexadecimal(value, 1, detail >> 1))
        }
        Radix::Octal => {
            let prefix = if value == 0 { "" } else { "0" };
            format!("{prefix}{zeros}{value:o}{suffix}")
        }
        Radix::Binary => {
            let b = if is_capital { 'B' } else { 'b' };
            format!("0{b}{zeros}{value:b}{suffix}")
        }
    }
}

/// Spells at least `least` hexadecimal digits. The lowest two bits of `letters` choose lower case, capitals or a mixture.
fn hexadecimal(value: u64, least: usize, letters: u8) -> String {
    let digits = format!("{value:0least$x}");
    match letters & 3 {
        0 | 1 => digits,
        2 => digits.to_uppercase(),
        _ => digits.replace('b', "B").replace('d', "D").replace('f', "F"),
    }
}

// Integers as nodes

pub(crate) fn literal(d: &mut Draft<'_, '_>) -> String {
    let value = d.magnitude();
    spelled(d, value)
}

pub(crate) fn warp_size(d: &mut Draft<'_, '_>, _: u32) {
    d.warp_size();
}

pub(crate) fn huge(d: &mut Draft<'_, '_>) -> String {
    d.pick(&boundary::HUGE).to_owned()
}

fn minus(d: &mut Draft<'_, '_>) {
    d.bind(precedence::UNARY);
    d.unary(UnaryOp::Minus);
}

/// Adds a negated signed literal. The value is reduced to the range of `.s64`.
pub(crate) fn negative(d: &mut Draft<'_, '_>, _: u32) {
    let value = (d.magnitude() & i64::MAX as u64).max(1);
    add_signed(d, value);
    minus(d);
}

pub(crate) fn unsigned(d: &mut Draft<'_, '_>) -> String {
    let value = d.magnitude();
    let radix = d.radix();
    // Without a suffix, only a large value makes a literal unsigned.
    if d.config().unsigned_suffix {
        spelled_as(d, value, radix, true)
    } else {
        spelled_as(d, value | 1 << 63, radix, false)
    }
}

pub(crate) fn one(d: &mut Draft<'_, '_>) -> String {
    spelled(d, 1)
}

/// Spells 0 or 1.
pub(crate) fn bit(d: &mut Draft<'_, '_>) -> String {
    let value = d.byte() & 1;
    spelled_signed(d, value.into())
}

pub(crate) fn low_bits(d: &mut Draft<'_, '_>) -> String {
    let value = d.byte() & 0x7f;
    spelled_signed(d, value.into())
}

pub(crate) fn nonzero(d: &mut Draft<'_, '_>) -> String {
    let value = d.magnitude().max(1);
    spelled(d, value)
}

pub(crate) fn negative_nonzero(d: &mut Draft<'_, '_>, _: u32) {
    let number = nonzero(d);
    d.number(&number);
    minus(d);
}

pub(crate) fn zero(d: &mut Draft<'_, '_>) -> String {
    spelled(d, 0)
}

pub(crate) fn shift_count(d: &mut Draft<'_, '_>) -> String {
    let value = d.pick(&boundary::SHIFT_COUNTS);
    spelled(d, value)
}

pub(crate) fn wide_shift_count(d: &mut Draft<'_, '_>) -> String {
    let value = d.pick(&boundary::WIDE_SHIFT_COUNTS);
    spelled(d, value)
}

/// `-(2^63 - 1) - 1`
pub(crate) fn least_difference(d: &mut Draft<'_, '_>, _: u32) {
    add_signed(d, i64::MAX as u64);
    minus(d);
    add_signed(d, 1);
    d.infix(BinaryOp::Sub);
}

/// `1 << 63`, or a smaller shift of a larger power of two.
pub(crate) fn least_shift(d: &mut Draft<'_, '_>, _: u32) {
    let power = d.below(3);
    add_signed(d, 1 << power);
    add_signed(d, 63 - power as u64);
    d.infix(BinaryOp::Shl);
}

/// `(.s64) 2^63`
pub(crate) fn least_cast(d: &mut Draft<'_, '_>, _: u32) {
    add_signed(d, 1 << 63);
    d.cast(Cast::S64);
}

/// `-1`
pub(crate) fn minus_one(d: &mut Draft<'_, '_>, _: u32) {
    add_signed(d, 1);
    minus(d);
}

/// `n - (n + 1)`
pub(crate) fn minus_one_difference(d: &mut Draft<'_, '_>, _: u32) {
    let value = d.below(64) as u64;
    add_signed(d, value);
    add_signed(d, value + 1);
    d.infix(BinaryOp::Sub);
}

/// `(.s64) (2^64 - 1)`
pub(crate) fn minus_one_cast(d: &mut Draft<'_, '_>, _: u32) {
    add_signed(d, u64::MAX);
    d.cast(Cast::S64);
}

// Floats

/// Spells the bits of a float: `0d` or `0f` and hexadecimal digits. Capitals are chosen as for integers; there are no extra
/// leading zeros.
fn spelled_bits(d: &mut Draft<'_, '_>, bits: u64, digits: usize) -> String {
    let detail = if d.config().odd_spellings { d.byte() } else { 0 };
    let prefix = match (digits, detail & 1) {
        (16, 0) => "0d",
        (16, _) => "0D",
        (_, 0) => "0f",
        (_, _) => "0F",
    };
    prefix.to_owned() + &hexadecimal(bits, digits, detail >> 1)
}

pub(crate) fn boundary_decimal(d: &mut Draft<'_, '_>) -> String {
    d.pick(&boundary::DECIMALS).to_owned()
}

/// Spells a decimal float with an optional exponent. The value is far from the limits of the range.
pub(crate) fn decimal(d: &mut Draft<'_, '_>) -> String {
    if d.byte() >= 224 { long_decimal(d) } else { any_decimal(d, false) }
}

fn any_decimal(d: &mut Draft<'_, '_>, nonzero: bool) -> String {
    let form = d.byte();
    let count = 1 + (form & 15) as usize;
    let mut digits = d.word();
    let mut text = String::new();
    let point = d.below(count + 1);
    for place in 0..count {
        if place == point {
            text.push('.');
        }
        // The last digit of a divisor is not zero, so the divisor is not zero.
        let digit = if nonzero && place == count - 1 { 1 + digits % 9 } else { digits % 10 };
        text.push(char::from(b'0' + digit as u8));
        digits /= 10;
    }
    // Bits 4 and 5 of the form choose the exponent: none, plain, with a plus, with a minus.
    let sign = form >> 4 & 3;
    if point == count && (sign == 0 || form >> 6 & 1 == 0) {
        text.push('.');
    }
    if sign != 0 {
        text.push(if form >> 7 == 0 { 'e' } else { 'E' });
        match sign {
            1 => {}
            2 => text.push('+'),
            _ => text.push('-'),
        }
        let exponent = d.below(45);
        let width = if form >> 6 & 1 == 1 { 2 } else { 1 };
        text += &format!("{exponent:0width$}");
    }
    text
}

pub(crate) fn nonzero_decimal(d: &mut Draft<'_, '_>) -> String {
    any_decimal(d, true)
}

pub(crate) fn negative_decimal(d: &mut Draft<'_, '_>, _: u32) {
    let number = nonzero_decimal(d);
    d.number(&number);
    minus(d);
}

pub(crate) fn decimal_out_of_range(d: &mut Draft<'_, '_>) -> String {
    d.pick(&boundary::DECIMALS_OUT_OF_RANGE).to_owned()
}

pub(crate) fn denormal_decimal(d: &mut Draft<'_, '_>) -> String {
    d.pick(&boundary::DENORMAL_DECIMALS).to_owned()
}

pub(crate) fn float_zero(d: &mut Draft<'_, '_>) -> String {
    d.pick(&["0.0", "0d0000000000000000", "0e0", "0d8000000000000000"]).to_owned()
}

pub(crate) fn boundary_double(d: &mut Draft<'_, '_>) -> String {
    let bits = d.pick(&boundary::DOUBLE_BITS);
    spelled_bits(d, bits, 16)
}

pub(crate) fn double_nan(d: &mut Draft<'_, '_>) -> String {
    let bits = d.pick(&boundary::DOUBLE_NANS);
    spelled_bits(d, bits, 16)
}

/// Spells the bits of any finite double. An exponent of all ones (infinity or NaN) loses a bit.
pub(crate) fn double(d: &mut Draft<'_, '_>) -> String {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let bits = d.word();
    let bits = if bits & EXPONENT == EXPONENT { bits & !(1 << 52) } else { bits };
    spelled_bits(d, bits, 16)
}

/// Spells a double at or next to the midpoint of two singles, where the rounding to single precision is decided.
pub(crate) fn near_halfway(d: &mut Draft<'_, '_>) -> String {
    const HALF: u64 = 1 << 28;
    let word = d.word();
    // An exponent within the range of single precision, denormals included: 2^-149 to 2^127.
    let exponent = 1023 - 149 + (word >> 56) * 277 / 256;
    let sign = word >> 55 & 1;
    let mantissa = (word >> 3 & 0x7f_ffff) << 29 | HALF;
    let bits = sign << 63 | exponent << 52 | mantissa;
    spelled_bits(d, bits.wrapping_add(word & 3).wrapping_sub(1), 16)
}

/// Spells a decimal of about fifty digits at or next to the midpoint of two doubles. The rounding depends on more digits than
/// parsers usually examine.
fn long_decimal(d: &mut Draft<'_, '_>) -> String {
    const UNIT: u64 = 1 << 53;
    let word = d.word();
    // The midpoint of two neighbours in [1, 2), in units of 2^-53, is an odd number.
    let mut rest = word >> 11 | 1;
    let mut text = String::from("1.");
    while rest > 0 {
        rest *= 10;
        text.push(char::from(b'0' + (rest / UNIT) as u8));
        rest %= UNIT;
    }
    match word & 3 {
        // Above the midpoint, below it, or exactly at it, where the tie goes to the even neighbour.
        0 => text.push_str("001"),
        1 => drop(text.pop()),
        _ => {}
    }
    text
}

pub(crate) fn boundary_single(d: &mut Draft<'_, '_>) -> String {
    let most = if d.config().nans { boundary::SINGLE_BITS.len() } else { boundary::SINGLE_NUMBERS };
    let bits = d.pick(&boundary::SINGLE_BITS[..most]);
    spelled_bits(d, bits.into(), 8)
}

/// Spells the bits of any finite single.
pub(crate) fn single(d: &mut Draft<'_, '_>) -> String {
    const EXPONENT: u64 = 0x7f80_0000;
    let bits = d.word() >> 32;
    let bits = if bits & EXPONENT == EXPONENT { bits & !(1 << 23) } else { bits };
    spelled_bits(d, bits, 8)
}

#[cfg(test)]
mod tests {
    use ptxsmith_syntax::{Number, read_number};

    use super::*;

    #[test]
    fn an_integer_reads_as_the_number_that_it_was_made_of_in_every_spelling() {
        let powers = (0..64).map(|bit| 1u64 << bit);
        let values = powers.flat_map(|p| [p - 1, p, p | 1, p.wrapping_mul(0xb5)]).chain([u64::MAX, 0xa5c3]);
        for value in values {
            for radix in Radix::ALL {
                for detail in [0, 1, 0b110, 0b10_111_100, 0b11_111_011, u8::MAX] {
                    for suffix in [false, true] {
                        let text = integer_text(value, radix, suffix, detail);
                        let Some(Number::Integer { value: Some(read), unsigned, .. }) = read_number(&text)
                        else {
                            panic!("{text} of {value}");
                        };
                        assert_eq!((read, unsigned), (value, suffix), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_has_no_more_digits_than_it_needs_unless_zeros_are_asked_for() {
        let text = |value, radix, detail| integer_text(value, radix, false, detail);
        for digits in 1..20 {
            let power = 10_u64.pow(digits);
            assert_eq!(text(power, Radix::Decimal, 0), power.to_string());
            assert_eq!(text(power - 1, Radix::Decimal, 0), (power - 1).to_string());
            assert_eq!(text(power / 9 * 8 + 7, Radix::Decimal, 0), (power / 9 * 8 + 7).to_string());
        }
        assert_eq!(text(u64::MAX, Radix::Decimal, 0), "18446744073709551615");
        assert_eq!(text(0, Radix::Decimal, 0), "0");
        assert_eq!(text(0, Radix::Binary, 0), "0b0");
        assert_eq!(text(0xa5, Radix::Binary, 0), "0b10100101");
        assert_eq!(text(0x1_f00d, Radix::Hexadecimal, 0b101), "0X1F00D");
        assert_eq!(text(0o1750, Radix::Octal, 0), "01750");
        assert_eq!(text(0, Radix::Octal, 0), "0");
        assert_eq!(text(5, Radix::Hexadecimal, 0b01_111_000), "0x005");
    }
}
