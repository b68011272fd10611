//! Every form of a literal, and every type by every conversion.

use ptxsmith_syntax::{Radix, ScalarType};

use super::{
    INTEGER_TYPES,
    post::{IntegerOperand, Least, Minus, Plain, Post, Unsigned, single},
    take,
};
use crate::{boundary, case::Body, number::integer_text};

/// The spellings of an integer: the base, and the `detail` argument of [`integer_text`].
pub(super) static SPELLINGS: [(Radix, u8); 12] = [
    (Radix::Decimal, 0),
    (Radix::Hexadecimal, 0b000),
    (Radix::Hexadecimal, 0b001),
    (Radix::Hexadecimal, 0b100),
    (Radix::Hexadecimal, 0b111),
    (Radix::Hexadecimal, 0b0111_1000),
    (Radix::Octal, 0),
    (Radix::Octal, 0b0011_1000),
    (Radix::Octal, 0b1111_1000),
    (Radix::Binary, 0),
    (Radix::Binary, 1),
    (Radix::Binary, 0b0111_1001),
];

pub(super) fn literals() -> u64 {
    (boundary::INTEGERS.len() * SPELLINGS.len() * 2) as u64
}

pub(super) fn literal(mut index: u64) -> Body {
    let value = take(&mut index, &boundary::INTEGERS);
    let unsigned = take(&mut index, &[false, true]);
    let (radix, detail) = take(&mut index, &SPELLINGS);
    single(&integer_text(value, radix, unsigned, detail), ScalarType::U64)
}

pub(super) fn float_literals() -> u64 {
    let texts =
        boundary::DECIMALS.len() + boundary::DENORMAL_DECIMALS.len() + boundary::DECIMALS_OUT_OF_RANGE.len();
    (texts + 2 * (boundary::DOUBLE_BITS.len() + boundary::DOUBLE_NANS.len())) as u64
}

pub(super) fn float_literal(index: u64) -> Body {
    let texts = [&boundary::DECIMALS[..], &boundary::DENORMAL_DECIMALS, &boundary::DECIMALS_OUT_OF_RANGE];
    let mut at = index as usize;
    for part in texts {
        if at < part.len() {
            return single(part[at], ScalarType::F64);
        }
        at -= part.len();
    }
    let bits = double(at / 2);
    let text = if at.is_multiple_of(2) { format!("0d{bits:016x}") } else { format!("0D{bits:016X}") };
    single(&text, ScalarType::F64)
}

pub(super) fn double(at: usize) -> u64 {
    let numbers = &boundary::DOUBLE_BITS;
    if at < numbers.len() { numbers[at] } else { boundary::DOUBLE_NANS[at - numbers.len()] }
}

/// The operands that are converted to every type, besides the limits of types.
pub(super) static INSIDE: [IntegerOperand; 8] =
    [Plain(0), Plain(1), Minus(1), Plain(100), Minus(100), Plain(300), Unsigned(300), Least];

pub(super) fn integers_by_type() -> u64 {
    (INTEGER_TYPES.len() * (2 * boundary::TYPE_LIMITS.len() + INSIDE.len())) as u64
}

pub(super) fn integer_by_type(mut index: u64) -> Body {
    let ty = take(&mut index, &INTEGER_TYPES);
    let limits = &boundary::TYPE_LIMITS;
    let at = index as usize;
    let operand = match at / limits.len() {
        0 => Plain(limits[at]),
        1 => Minus(limits[at - limits.len()]),
        _ => INSIDE[at - 2 * limits.len()],
    };
    let mut post = Post::default();
    post.operand(operand, 0);
    post.body(ty)
}

pub(super) const FLOAT_TYPES: [ScalarType; 4] =
    [ScalarType::F32, ScalarType::F64, ScalarType::B32, ScalarType::B64];
pub(super) const SINGLE_TYPES: [ScalarType; 3] = [ScalarType::F32, ScalarType::F64, ScalarType::B32];

pub(super) fn floats_by_type() -> u64 {
    let doubles = boundary::DOUBLE_BITS.len() + boundary::DOUBLE_NANS.len();
    (FLOAT_TYPES.len() * doubles + SINGLE_TYPES.len() * boundary::SINGLE_BITS.len()) as u64
}

pub(super) fn float_by_type(mut index: u64) -> Body {
    let singles = (SINGLE_TYPES.len() * boundary::SINGLE_BITS.len()) as u64;
    if index < singles {
        let ty = take(&mut index, &SINGLE_TYPES);
        return single(&format!("0f{:08x}", boundary::SINGLE_BITS[index as usize]), ty);
    }
    index -= singles;
    let ty = take(&mut index, &FLOAT_TYPES);
    single(&format!("0d{:016x}", double(index as usize)), ty)
}
