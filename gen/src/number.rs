//! Makers of numbers: their values, and how they are written.

use std::ops::Range;

use ptxsmith_syntax::{BinaryOp, Cast, Radix, Text, UnaryOp, precedence};

use crate::{boundary, draft::Draft, grammar::Nonterminal};

/// A number as it is written, in ASCII.
#[derive(Clone, Debug)]
pub(crate) struct Spelled {
    room: Room,
    place: Range<usize>,
}

/// More than any number takes.
type Room = [u8; 80];

impl Spelled {
    pub fn text(&self) -> &[u8] {
        &self.room[self.place.clone()]
    }
}

impl From<&str> for Spelled {
    fn from(text: &str) -> Spelled {
        let mut room = ROOM;
        room[..text.len()].copy_from_slice(text.as_bytes());
        Spelled { room, place: 0..text.len() }
    }
}

// Magnitudes

/// Any value of a width that one byte says, so that every order of magnitude is as likely.
pub(crate) fn some_bits(d: &mut Draft<'_, '_>, _: u32) {
    let width = d.below(64);
    d.value = d.word() >> (63 - width);
}

pub(crate) fn all_bits(d: &mut Draft<'_, '_>, _: u32) {
    d.value = d.word();
}

// Spellings

/// A literal of this value, in a base and with a suffix that the bytes choose.
fn spelled(d: &mut Draft<'_, '_>, value: u64) -> Spelled {
    let radix = d.choose(Nonterminal::Spelling);
    let unsigned = d.choose(Nonterminal::Suffix) == 1;
    spelled_as(d, value, radix, unsigned)
}

/// A literal of this value without a suffix, in a base that the bytes choose.
fn spelled_signed(d: &mut Draft<'_, '_>, value: u64) -> Spelled {
    let radix = d.choose(Nonterminal::Spelling);
    spelled_as(d, value, radix, false)
}

/// Adds a literal of this value without a suffix, in a base that the bytes choose.
pub(crate) fn add_signed(d: &mut Draft<'_, '_>, value: u64) {
    let number = spelled_signed(d, value);
    d.number(number.text());
}

fn spelled_as(d: &mut Draft<'_, '_>, value: u64, radix: u8, unsigned: bool) -> Spelled {
    let radix = Radix::ALL[radix as usize];
    // Also where it says nothing, as for decimal digits: so the bytes behind it mean the same in every base.
    let detail = if d.config().odd_spellings { d.byte() } else { 0 };
    let mut room = ROOM;
    let place = spell_integer(value, radix, unsigned, detail, &mut room);
    Spelled { room, place }
}

/// An integer as it is written; see [`spell_integer`].
pub(crate) fn integer_text(value: u64, radix: Radix, unsigned: bool, detail: u8) -> Text {
    let mut room = ROOM;
    let place = spell_integer(value, radix, unsigned, detail, &mut room);
    Text::from_utf8(&room[place]).expect("numbers are spelled in ASCII")
}

/// Room for any spelling of an integer, full of zeros, which are left over in front where it has fewer digits.
const ROOM: Room = [b'0'; size_of::<Room>()];

/// Where spellings end that are written from their end on.
const END: usize = size_of::<Room>();

/// Writes an integer into [`ROOM`] and says where. `detail` says how: bit 0 a capital `X` or `B`, bits 1 and 2 the case of
/// the digits, bits 3 to 5 all set for leading zeros, as many as bits 6 and 7 say and one more.
fn spell_integer(value: u64, radix: Radix, unsigned: bool, detail: u8, buffer: &mut Room) -> Range<usize> {
    // Also where it is left out.
    buffer[END - 1] = b'U';
    let end = END - usize::from(unsigned);
    let mut at = end;
    let prefix = match radix {
        Radix::Hexadecimal => {
            let digits = DIGITS[(detail >> 1 & 3) as usize];
            for place in 0..8 {
                let byte = (value >> (8 * place)) as usize & 0xff;
                buffer[at - 2 * place - 2] = digits[byte >> 4];
                buffer[at - 2 * place - 1] = digits[byte & 15];
            }
            at -= digits_of(value, 4);
            Some(if detail & 1 == 0 { b'x' } else { b'X' })
        }
        Radix::Octal => {
            for place in 0..22 {
                buffer[at - place - 1] = b'0' + (value >> (3 * place) & 7) as u8;
            }
            at -= digits_of(value, 3);
            None
        }
        Radix::Decimal => {
            // 24 digits, of which 20 are enough.
            let mut rest = value;
            for group in 0..3 {
                let digits = eight_digits(rest % 100_000_000);
                buffer[end - 8 * group - 8..end - 8 * group].copy_from_slice(&digits);
                rest /= 100_000_000;
            }
            return end - decimal_digits_of(value)..END;
        }
        Radix::Binary => {
            for place in 0..8 {
                let byte = value >> (8 * place) & 0xff;
                // Eight copies of the byte, of each of which one bit is kept: of the lowest copy the highest bit.
                let bits = byte.wrapping_mul(0x8040_2010_0804_0201) >> 7 & 0x0101_0101_0101_0101;
                let digits = (bits | 0x3030_3030_3030_3030).to_le_bytes();
                buffer[at - 8 * place - 8..at - 8 * place].copy_from_slice(&digits);
            }
            at -= digits_of(value, 1);
            Some(if detail & 1 == 0 { b'b' } else { b'B' })
        }
    };
    let mut put = |byte: u8| {
        at -= 1;
        buffer[at] = byte;
    };
    if detail >> 3 & 7 == 7 {
        for _ in 0..=detail >> 6 {
            put(b'0');
        }
    }
    if let Some(prefix) = prefix {
        put(prefix);
        put(b'0');
    } else if value != 0 {
        put(b'0');
    }
    at..END
}

/// The eight digits of a number below 10^8, without a jump: how many digits a literal has nobody foresees.
#[inline]
fn eight_digits(number: u64) -> [u8; 8] {
    // Two numbers of four digits, the first one lowest; four of two; eight of one.
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = fours.wrapping_mul(5243) >> 19 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = twos.wrapping_mul(103) >> 10 & 0x000f_000f_000f_000f;
    let ones = tens | (twos - tens * 10) << 8;
    (ones | 0x3030_3030_3030_3030).to_le_bytes()
}

/// How many decimal digits a number has: at least one.
fn decimal_digits_of(value: u64) -> usize {
    const POWERS: [u64; 20] = {
        let mut powers = [1; 20];
        let mut at = 1;
        while at < powers.len() {
            powers[at] = powers[at - 1] * 10;
            at += 1;
        }
        powers
    };
    // An odd number has as many as the even one before it. 1233 / 4096 is a little less than the logarithm of two.
    let odd = value | 1;
    let fewest = ((u64::BITS - odd.leading_zeros()) as usize * 1233) >> 12;
    fewest + usize::from(odd >= POWERS[fewest])
}

/// How many digits of so many bits each a number has: at least one.
fn digits_of(value: u64, bits: u32) -> usize {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(bits) as usize
}

/// Digits in small letters, capitals and both, chosen by two bits.
static DIGITS: [&[u8; 16]; 4] =
    [b"0123456789abcdef", b"0123456789abcdef", b"0123456789ABCDEF", b"0123456789aBcDeF"];

// Integers as nodes

pub(crate) fn literal(d: &mut Draft<'_, '_>) -> Spelled {
    let value = d.magnitude();
    spelled(d, value)
}

pub(crate) fn warp_size(d: &mut Draft<'_, '_>, _: u32) {
    d.warp_size();
}

pub(crate) fn huge(d: &mut Draft<'_, '_>) -> Spelled {
    d.pick(&boundary::HUGE).into()
}

fn minus(d: &mut Draft<'_, '_>) {
    d.bind(precedence::UNARY);
    d.unary(UnaryOp::Minus);
}

/// A signed literal with a minus: the value is brought into the range of `.s64`.
pub(crate) fn negative(d: &mut Draft<'_, '_>, _: u32) {
    let value = (d.magnitude() & i64::MAX as u64).max(1);
    add_signed(d, value);
    minus(d);
}

pub(crate) fn unsigned(d: &mut Draft<'_, '_>) -> Spelled {
    let value = d.magnitude();
    let radix = d.choose(Nonterminal::Spelling);
    // Without the suffix, the value must be one that makes a literal unsigned.
    if d.config().unsigned_suffix {
        spelled_as(d, value, radix, true)
    } else {
        spelled_as(d, value | 1 << 63, radix, false)
    }
}

pub(crate) fn one(d: &mut Draft<'_, '_>) -> Spelled {
    spelled(d, 1)
}

/// Zero or one.
pub(crate) fn bit(d: &mut Draft<'_, '_>) -> Spelled {
    let value = d.byte() & 1;
    spelled_signed(d, value.into())
}

pub(crate) fn low_bits(d: &mut Draft<'_, '_>) -> Spelled {
    let value = d.byte() & 0x7f;
    spelled_signed(d, value.into())
}

pub(crate) fn nonzero(d: &mut Draft<'_, '_>) -> Spelled {
    let value = d.magnitude().max(1);
    spelled(d, value)
}

pub(crate) fn negative_nonzero(d: &mut Draft<'_, '_>, _: u32) {
    let number = nonzero(d);
    d.number(number.text());
    minus(d);
}

pub(crate) fn zero(d: &mut Draft<'_, '_>) -> Spelled {
    spelled(d, 0)
}

pub(crate) fn shift_count(d: &mut Draft<'_, '_>) -> Spelled {
    let value = d.pick(&boundary::SHIFT_COUNTS);
    spelled(d, value)
}

pub(crate) fn wide_shift_count(d: &mut Draft<'_, '_>) -> Spelled {
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

/// Writes the bits of a float: `0d` or `0f` and its digits. `detail` as for integers, but for the leading zeros.
fn spell_bits(bits: u64, digits: usize, detail: u8, buffer: &mut Room) -> Range<usize> {
    buffer[0] = b'0';
    buffer[1] = match (digits, detail & 1) {
        (16, 0) => b'd',
        (16, _) => b'D',
        (_, 0) => b'f',
        (_, _) => b'F',
    };
    let spelling = DIGITS[(detail >> 1 & 3) as usize];
    for (place, byte) in buffer[2..2 + digits].iter_mut().enumerate() {
        *byte = spelling[(bits >> (4 * (digits - 1 - place)) & 15) as usize];
    }
    0..2 + digits
}

fn spelled_bits(d: &mut Draft<'_, '_>, bits: u64, digits: usize) -> Spelled {
    let detail = if d.config().odd_spellings { d.byte() } else { 0 };
    let mut room = ROOM;
    let place = spell_bits(bits, digits, detail, &mut room);
    Spelled { room, place }
}

pub(crate) fn boundary_decimal(d: &mut Draft<'_, '_>) -> Spelled {
    d.pick(&boundary::DECIMALS).into()
}

/// Digits, a point somewhere among them, and maybe an exponent, so that the value stays far inside the range.
pub(crate) fn decimal(d: &mut Draft<'_, '_>) -> Spelled {
    any_decimal(d, false)
}

fn any_decimal(d: &mut Draft<'_, '_>, nonzero: bool) -> Spelled {
    let form = d.byte();
    let count = 1 + (form & 15) as usize;
    let mut digits = d.word();
    let mut room = ROOM;
    let mut at = 0;
    let mut put = |byte: u8| {
        room[at] = byte;
        at += 1;
    };
    let point = d.below(count + 1);
    for place in 0..count {
        if place == point {
            put(b'.');
        }
        // The last digit of a divisor is not zero, so neither is the divisor.
        let digit = if nonzero && place == count - 1 { 1 + digits % 9 } else { digits % 10 };
        put(b'0' + digit as u8);
        digits /= 10;
    }
    // Bits 4 and 5 of the form choose the exponent: none, plain, with a plus, with a minus.
    let sign = form >> 4 & 3;
    if point == count && (sign == 0 || form >> 6 & 1 == 0) {
        put(b'.');
    }
    if sign != 0 {
        put(if form >> 7 == 0 { b'e' } else { b'E' });
        match sign {
            1 => {}
            2 => put(b'+'),
            _ => put(b'-'),
        }
        let exponent = d.below(45) as u8;
        if exponent >= 10 || form >> 6 & 1 == 1 {
            put(b'0' + exponent / 10);
        }
        put(b'0' + exponent % 10);
    }
    Spelled { room, place: 0..at }
}

pub(crate) fn nonzero_decimal(d: &mut Draft<'_, '_>) -> Spelled {
    any_decimal(d, true)
}

pub(crate) fn negative_decimal(d: &mut Draft<'_, '_>, _: u32) {
    let number = nonzero_decimal(d);
    d.number(number.text());
    minus(d);
}

pub(crate) fn decimal_out_of_range(d: &mut Draft<'_, '_>) -> Spelled {
    d.pick(&boundary::DECIMALS_OUT_OF_RANGE).into()
}

pub(crate) fn denormal_decimal(d: &mut Draft<'_, '_>) -> Spelled {
    d.pick(&boundary::DENORMAL_DECIMALS).into()
}

pub(crate) fn float_zero(d: &mut Draft<'_, '_>) -> Spelled {
    d.pick(&["0.0", "0d0000000000000000", "0e0", "0d8000000000000000"]).into()
}

pub(crate) fn boundary_double(d: &mut Draft<'_, '_>) -> Spelled {
    let bits = d.pick(&boundary::DOUBLE_BITS);
    spelled_bits(d, bits, 16)
}

pub(crate) fn double_nan(d: &mut Draft<'_, '_>) -> Spelled {
    let bits = d.pick(&boundary::DOUBLE_NANS);
    spelled_bits(d, bits, 16)
}

/// Any bits of a number: an exponent of all ones, which would be infinity or no number, loses one.
pub(crate) fn double(d: &mut Draft<'_, '_>) -> Spelled {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let bits = d.word();
    let bits = if bits & EXPONENT == EXPONENT { bits & !(1 << 52) } else { bits };
    spelled_bits(d, bits, 16)
}

/// A double halfway between two singles, or next to that: where the conversion to single precision decides.
pub(crate) fn near_halfway(d: &mut Draft<'_, '_>) -> Spelled {
    const HALF: u64 = 1 << 28;
    let word = d.word();
    // An exponent within the range of single precision, denormals included: 2^-149 to 2^127.
    let exponent = 1023 - 149 + (word >> 56) * 277 / 256;
    let sign = word >> 55 & 1;
    let mantissa = (word >> 3 & 0x7f_ffff) << 29 | HALF;
    let bits = sign << 63 | exponent << 52 | mantissa;
    spelled_bits(d, bits.wrapping_add(word & 3).wrapping_sub(1), 16)
}

pub(crate) fn boundary_single(d: &mut Draft<'_, '_>) -> Spelled {
    let most = if d.config().nans { boundary::SINGLE_BITS.len() } else { boundary::SINGLE_NUMBERS };
    let bits = d.pick(&boundary::SINGLE_BITS[..most]);
    spelled_bits(d, bits.into(), 8)
}

/// Any bits of a number in single precision.
pub(crate) fn single(d: &mut Draft<'_, '_>) -> Spelled {
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
        let text = |value, radix, detail| integer_text(value, radix, false, detail).to_string();
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
