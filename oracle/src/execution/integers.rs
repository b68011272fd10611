//! Computes the results of integer instructions.
//!
//! The authority is chapter 9.7 of the PTX manual, which is public but not part of the specification at hand for the
//! rest of the oracle. Each rule names its section. A result that the manual leaves undefined, machine-dependent or
//! unspecified is [`Some(None)`](calculated): values that depend on it are not compared. A form that is not listed is
//! `None`.

use ptxsmith_syntax::{Opcode, ScalarType, TypeKind};

use super::form::InstructionForm;
use crate::value::{low_bits, sign_extended};

/// Returns the result of an instruction for integers extended from their types to 64 bits: `None` if the form is not
/// modelled, `Some(None)` if the manual does not define the result for these values.
pub(super) fn calculated(form: &InstructionForm<'_>, ty: ScalarType, values: &[u64]) -> Option<Option<u64>> {
    let how: &[&str] = &form.others;
    let bits = 8 * ty.size()?;
    let signed = ty.kind() == TypeKind::Signed;
    Some(match (form.opcode, how, values) {
        // 9.7.1.1, 9.7.1.2: `.sat`, for `.s32` only, clamps the result to the range of the type.
        (Opcode::Add, [], &[a, b]) => Some(a.wrapping_add(b)),
        (Opcode::Sub, [], &[a, b]) => Some(a.wrapping_sub(b)),
        (Opcode::Add, [".sat"], &[a, b]) if ty == ScalarType::S32 => Some(within_word(a.wrapping_add(b))),
        (Opcode::Sub, [".sat"], &[a, b]) if ty == ScalarType::S32 => Some(within_word(a.wrapping_sub(b))),
        // Each half of a word on its own.
        (Opcode::Add, [".u16x2" | ".s16x2"], &[a, b]) => Some(by_halves(a, b, u16::wrapping_add)),
        // 9.7.1.3, 9.7.1.4: half of the product, or all of it.
        (Opcode::Mul, [half], &[a, b]) => Some(product(half, ty, a, b)?),
        (Opcode::Mad, [half], &[a, b, c]) => Some(product(half, ty, a, b)?.wrapping_add(c)),
        (Opcode::Mad, [".hi", ".sat"], &[a, b, c]) if ty == ScalarType::S32 => {
            let upper = low_bits(ty, product(".hi", ty, a, b)?);
            Some(within_word((sign_extended(ty, upper) as u64).wrapping_add(c)))
        }
        // 9.7.1.5, 9.7.1.6: operands of 24 bits.
        (Opcode::Mul24, [half], &[a, b]) => product_of_24(half, ty, a, b)?,
        (Opcode::Mad24, [half], &[a, b, c]) => {
            product_of_24(half, ty, a, b)?.map(|product| product.wrapping_add(c))
        }
        // 9.7.1.7
        (Opcode::Sad, [], &[a, b, c]) => Some(distance(signed, a, b).wrapping_add(c)),
        // 9.7.1.8: division by zero and a signed quotient out of range are unspecified.
        (Opcode::Div, [], &[a, b]) => quotient(ty, signed, a, b).map(|(quotient, _)| quotient),
        // 9.7.1.9: with negative operands the result is machine-dependent.
        (Opcode::Rem, [], &[a, b]) => {
            let is_negative = signed && ((a as i64) < 0 || (b as i64) < 0);
            quotient(ty, signed, a, b).filter(|_| !is_negative).map(|(_, rest)| rest)
        }
        // 9.7.1.10, 9.7.1.11: the result for the smallest signed number is unspecified.
        (Opcode::Abs | Opcode::Neg, [], &[a]) if signed && low_bits(ty, a) == 1 << (bits - 1) => None,
        (Opcode::Abs, [], &[a]) if signed => Some((a as i64).unsigned_abs()),
        (Opcode::Neg, [], &[a]) => Some(a.wrapping_neg()),
        // 9.7.1.12, 9.7.1.13: `.relu` makes a negative result zero.
        (Opcode::Min, [], &[a, b]) => Some(if is_less(signed, b, a) { b } else { a }),
        (Opcode::Max, [], &[a, b]) => Some(if is_less(signed, a, b) { b } else { a }),
        (Opcode::Min, [".relu"], &[a, b]) if ty == ScalarType::S32 => {
            Some((a as i64).min(b as i64).max(0) as u64)
        }
        (Opcode::Max, [".relu"], &[a, b]) if ty == ScalarType::S32 => {
            Some((a as i64).max(b as i64).max(0) as u64)
        }
        (Opcode::Min, [".u16x2"], &[a, b]) => Some(by_halves(a, b, u16::min)),
        (Opcode::Max, [".u16x2"], &[a, b]) => Some(by_halves(a, b, u16::max)),
        (Opcode::Min, [.., ".s16x2"], &[a, b]) => {
            let least = least_positive(how)?;
            Some(by_halves(a, b, |a, b| (a as i16).min(b as i16).max(least) as u16))
        }
        (Opcode::Max, [.., ".s16x2"], &[a, b]) => {
            let least = least_positive(how)?;
            Some(by_halves(a, b, |a, b| (a as i16).max(b as i16).max(least) as u16))
        }
        // 9.7.1.14, 9.7.1.15
        (Opcode::Popc, [], &[a]) => Some(a.count_ones().into()),
        (Opcode::Clz, [], &[a]) => Some(u64::from(a.leading_zeros()) + bits - 64),
        // 9.7.1.16: for a negative number, the highest zero bit counts; the result is all ones if there is no such bit.
        (Opcode::Bfind, [] | [".shiftamt"], &[a]) => {
            let found = if signed && (a as i64) < 0 { !a } else { a };
            Some(match found.checked_ilog2() {
                None => u64::MAX,
                Some(place) if how.is_empty() => place.into(),
                Some(place) => bits - 1 - u64::from(place),
            })
        }
        // 9.7.1.17
        (Opcode::Fns, [], &[mask, base, offset]) => find_nth_set(mask, base, offset as i32),
        // 9.7.1.18
        (Opcode::Brev, [], &[a]) => Some(a.reverse_bits() >> (64 - bits)),
        // 9.7.1.19, 9.7.1.20: position and length of a field have 8 bits; the effect of larger values is unspecified.
        (Opcode::Bfe | Opcode::Bfi, [], [.., at, length]) if *at.max(length) > 0xff => None,
        (Opcode::Bfe, [], &[a, at, length]) => Some(extracted(bits, signed, a, at, length)),
        (Opcode::Bfi, [], &[a, b, at, length]) => Some(inserted(bits, a, b, at, length)),
        // 9.7.1.21: fills the bits from a position on with the sign or zeros.
        (Opcode::Szext, [".clamp"], &[a, width]) => Some(extracted(32, signed, a, 0, width.min(32))),
        (Opcode::Szext, [".wrap"], &[a, width]) => Some(extracted(32, signed, a, 0, width & 31)),
        // 9.7.1.22
        (Opcode::Bmsk, [".clamp"], &[at, width]) => {
            Some(ones(width.min(32)).checked_shl(at.min(63) as u32).unwrap_or(0))
        }
        (Opcode::Bmsk, [".wrap"], &[at, width]) => Some(ones(width & 31) << (at & 31)),
        // 9.7.1.23, 9.7.1.24
        (Opcode::Dp4a, [a_type], &[a, b, c]) => {
            let places = [0, 8, 16, 24].map(|at| (at, at));
            Some(dot_product((a_type, ty), [a, b, c], 8, &places)?)
        }
        (Opcode::Dp2a, [half @ (".lo" | ".hi"), a_type], &[a, b, c]) => {
            let first = if *half == ".lo" { 0 } else { 16 };
            Some(dot_product((a_type, ty), [a, b, c], 16, &[(0, first), (16, first + 8)])?)
        }
        // 9.7.7.1 to 9.7.7.5
        (Opcode::And, [], &[a, b]) => Some(a & b),
        (Opcode::Or, [], &[a, b]) => Some(a | b),
        (Opcode::Xor, [], &[a, b]) => Some(a ^ b),
        (Opcode::Not, [], &[a]) => Some(!a),
        (Opcode::Cnot, [], &[a]) => Some(u64::from(a == 0)),
        // 9.7.7.6: the table has one bit for every combination of three input bits.
        (Opcode::Lop3, [] | [".or" | ".and"], &[a, b, c, table, ..]) => Some(looked_up(a, b, c, table)),
        // 9.7.7.7: the count is clamped to 32, or reduced to its lowest five bits.
        (Opcode::Shf, [direction, mode], &[a, b, count]) => {
            let count = match *mode {
                ".clamp" => count.min(32),
                ".wrap" => count & 31,
                _ => return None,
            };
            let both = low_bits(ScalarType::B32, b) << 32 | low_bits(ScalarType::B32, a);
            match *direction {
                ".l" => Some((u128::from(both) << count >> 32) as u64),
                ".r" => Some(both >> count),
                _ => return None,
            }
        }
        // 9.7.7.8, 9.7.7.9: a count beyond the width acts like the width.
        (Opcode::Shl, [], &[a, count]) => Some(if count < bits { a << count } else { 0 }),
        (Opcode::Shr, [], &[a, count]) if signed => Some((sign_extended(ty, a) >> count.min(63)) as u64),
        (Opcode::Shr, [], &[a, count]) => Some(if count < bits { low_bits(ty, a) >> count } else { 0 }),
        // 9.7.9.7
        (Opcode::Prmt, [], &[a, b, control]) => Some(permuted(a, b, control)),
        (Opcode::Prmt, [mode], &[a, b, control]) => Some(permuted(a, b, selectors(mode, control & 3)?)),
        // 9.7.6.3: the sign of the third operand selects.
        (Opcode::Slct, [_], &[a, b, c]) if ty == ScalarType::S32 => Some(if (c as i64) < 0 { b } else { a }),
        _ => return None,
    })
}

/// Returns the result of an instruction with carry, and the carry or borrow (9.7.2); `None` if its form is not one of
/// them.
pub(super) fn carried(
    form: &InstructionForm<'_>,
    ty: ScalarType,
    values: &[u64],
    carry: bool,
) -> Option<(u64, bool)> {
    let half = form.others.iter().copied().find(|word| *word != ".cc");
    let (a, b) = match (form.opcode, half, values) {
        (Opcode::Add | Opcode::Addc | Opcode::Sub | Opcode::Subc, None, &[a, b]) => (a, b),
        (Opcode::Mad | Opcode::Madc, Some(half @ (".lo" | ".hi")), &[a, b, c]) => {
            (product(half, ty, a, b)?, c)
        }
        _ => return None,
    };
    let [a, b] = [a, b].map(|value| u128::from(low_bits(ty, value)));
    let carry = u128::from(carry);
    let result = if subtracts(form.opcode) { a.wrapping_sub(b).wrapping_sub(carry) } else { a + b + carry };
    Some((low_bits(ty, result as u64), result >> (8 * ty.size()?) & 1 == 1))
}

/// Whether an instruction reads or writes the carry.
pub(super) fn is_carried(form: &InstructionForm<'_>) -> bool {
    form.others.contains(&".cc") || reads_carry(form.opcode)
}

pub(super) fn reads_carry(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc)
}

pub(super) fn subtracts(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Sub | Opcode::Subc)
}

/// Applies an operation to each half of two words.
fn by_halves(a: u64, b: u64, operation: impl Fn(u16, u16) -> u16) -> u64 {
    [0, 16].into_iter().map(|at| u64::from(operation((a >> at) as u16, (b >> at) as u16)) << at).sum()
}

/// Returns the least half that these modifiers allow; `None` if they are not modelled.
fn least_positive(how: &[&str]) -> Option<i16> {
    match how {
        [_] => Some(i16::MIN),
        [".relu", _] => Some(0),
        _ => None,
    }
}

fn within_word(sum: u64) -> u64 {
    (sum as i64).clamp(i32::MIN.into(), i32::MAX.into()) as u64
}

fn is_less(signed: bool, a: u64, b: u64) -> bool {
    if signed { (a as i64) < b as i64 } else { a < b }
}

fn distance(signed: bool, a: u64, b: u64) -> u64 {
    if is_less(signed, a, b) { b.wrapping_sub(a) } else { a.wrapping_sub(b) }
}

/// Returns the low or high half of a product, or a whole product of at most 64 bits.
fn product(half: &str, ty: ScalarType, a: u64, b: u64) -> Option<u64> {
    match half {
        ".lo" | ".wide" => return Some(a.wrapping_mul(b)),
        ".hi" => {}
        _ => return None,
    }
    let whole = match ty.kind() {
        TypeKind::Signed => (i128::from(a as i64) * i128::from(b as i64)) as u128,
        _ => u128::from(a) * u128::from(b),
    };
    Some((whole >> (8 * ty.size()?)) as u64)
}

/// Returns 32 of the 48 bits of a product of 24-bit operands; `Some(None)` if an operand needs more bits, because the
/// result is unspecified.
fn product_of_24(half: &str, ty: ScalarType, a: u64, b: u64) -> Option<Option<u64>> {
    let are_in_range = [a, b].iter().all(|&value| match ty.kind() {
        TypeKind::Signed => (-(1i64 << 23)..1 << 23).contains(&(value as i64)),
        _ => value < 1 << 24,
    });
    let whole = a.wrapping_mul(b);
    let part = match half {
        ".lo" => whole,
        ".hi" => whole >> 16,
        _ => return None,
    };
    Some(are_in_range.then_some(part))
}

fn quotient(ty: ScalarType, signed: bool, a: u64, b: u64) -> Option<(u64, u64)> {
    if !signed {
        return Some((a.checked_div(b)?, a.checked_rem(b)?));
    }
    let (a, b) = (a as i64, b as i64);
    let quotient = a.checked_div(b)?;
    (sign_extended(ty, low_bits(ty, quotient as u64)) == quotient).then(|| (quotient as u64, (a % b) as u64))
}

/// Returns the place of a set bit of a mask: the first one from `base` upwards for an offset of 1, the second one for 2,
/// and so on; downwards for negative offsets; `base` itself for 0. All ones if there is no such bit.
fn find_nth_set(mask: u64, base: u64, offset: i32) -> Option<u64> {
    if base > 31 {
        return None;
    }
    let upwards = base..32;
    let nth = offset.unsigned_abs() as usize;
    let place = match offset {
        0 => bit_set(mask, base).then_some(base),
        1.. => upwards.filter(|&at| bit_set(mask, at)).nth(nth - 1),
        _ => (0..=base).rev().filter(|&at| bit_set(mask, at)).nth(nth - 1),
    };
    Some(place.unwrap_or(u32::MAX.into()))
}

fn bit_set(bits: u64, at: u64) -> bool {
    bits >> at & 1 == 1
}

/// Returns a number with this many low bits set.
fn ones(count: u64) -> u64 {
    1u64.checked_shl(count as u32).map_or(u64::MAX, |bit| bit - 1)
}

/// Returns the field of `length` bits at a place, extended to `bits` bits with zeros or its sign. Bits of the field beyond
/// the width count as the sign.
fn extracted(bits: u64, signed: bool, a: u64, at: u64, length: u64) -> u64 {
    let sign = signed && length > 0 && bit_set(a, (at + length - 1).min(bits - 1));
    let mut field = 0;
    for nth in 0..bits {
        let bit = if nth < length && at + nth < bits { bit_set(a, at + nth) } else { sign };
        field |= u64::from(bit) << nth;
    }
    field
}

fn inserted(bits: u64, a: u64, b: u64, at: u64, length: u64) -> u64 {
    let field = if at < bits { ones(length.min(bits - at)) << at } else { 0 };
    b & !field | (if at < bits { a << at } else { 0 }) & field
}

/// Returns `c` plus the products of parts of `a`, each of `bits` bits, and bytes of `b`, at these places. The types
/// determine how the parts are extended.
fn dot_product(
    (a_type, b_type): (&str, ScalarType),
    [a, b, c]: [u64; 3],
    bits: u32,
    places: &[(u32, u32)],
) -> Option<u64> {
    let a_signed = is_signed_word(ScalarType::from_keyword(a_type)?)?;
    let b_signed = is_signed_word(b_type)?;
    let mut sum = c;
    for &(in_a, in_b) in places {
        let product = part(a, in_a, bits, a_signed).wrapping_mul(part(b, in_b, 8, b_signed));
        sum = sum.wrapping_add(product);
    }
    Some(sum)
}

fn is_signed_word(ty: ScalarType) -> Option<bool> {
    match ty {
        ScalarType::S32 => Some(true),
        ScalarType::U32 => Some(false),
        _ => None,
    }
}

/// Returns a part of a word, extended to 64 bits.
fn part(word: u64, at: u32, bits: u32, signed: bool) -> u64 {
    let value = word >> at & ones(bits.into());
    let is_negative = signed && value >> (bits - 1) == 1;
    if is_negative { value.wrapping_sub(1 << bits) } else { value }
}

/// Looks up each bit of the result in a table, by the bits of three words at its place.
fn looked_up(a: u64, b: u64, c: u64, table: u64) -> u64 {
    (0..32).fold(0, |result, at| {
        let [a, b, c] = [a, b, c].map(|word| word >> at & 1);
        let index = a << 2 | b << 1 | c;
        result | (table >> index & 1) << at
    })
}

/// Builds a word from four bytes of two words. Four bits select each byte; the highest of them selects the byte's sign
/// instead of its value.
fn permuted(a: u64, b: u64, control: u64) -> u64 {
    let both = low_bits(ScalarType::B32, b) << 32 | low_bits(ScalarType::B32, a);
    (0..4).fold(0, |result, nth| {
        let selector = control >> (4 * nth) & 0xf;
        let byte = both >> (8 * (selector & 7)) & 0xff;
        let chosen = match selector & 8 {
            0 => byte,
            _ if byte & 0x80 != 0 => 0xff,
            _ => 0,
        };
        result | chosen << (8 * nth)
    })
}

/// Returns the `prmt` selectors equivalent to a mode.
fn selectors(mode: &str, control: u64) -> Option<u64> {
    let table: [u64; 4] = match mode {
        ".f4e" => [0x3210, 0x4321, 0x5432, 0x6543],
        ".b4e" => [0x5670, 0x6701, 0x7012, 0x0123],
        ".rc8" => [0x0000, 0x1111, 0x2222, 0x3333],
        ".ecl" => [0x3210, 0x3211, 0x3222, 0x3333],
        ".ecr" => [0x0000, 0x1110, 0x2210, 0x3210],
        ".rc16" => [0x1010, 0x3232, 0x1010, 0x3232],
        _ => return None,
    };
    Some(table[control as usize & 3])
}

#[cfg(test)]
mod tests;
