//! Operations on known words.

use super::super::operation::{DotProduct, Extreme, Funnel, Granularity};

/// Combines three words bit by bit: the three bits select one of the eight bits of the table.
pub(super) fn apply_table(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let mut result = 0;
    for index in (0..8).filter(|index| table >> index & 1 == 1) {
        let a = if index & 4 == 0 { !a } else { a };
        let b = if index & 2 == 0 { !b } else { b };
        let c = if index & 1 == 0 { !c } else { c };
        result |= a & b & c;
    }
    result
}

pub(super) fn permute(a: u32, control: u32, b: u32) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |result, nth| {
        let selector = control >> (4 * nth) & 0xf;
        let byte = (both >> (8 * (selector & 7))) as u8;
        // The fourth bit selects the sign of the byte instead of its value.
        let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        result | u32::from(byte) << (8 * nth)
    })
}

/// Shifts a pair of words; a count greater than the width counts as the width.
pub(super) fn funnel_shift(funnel: Funnel, low: u32, count: u32, high: u32) -> u32 {
    let Funnel { left, wide, signed, wraps, upper } = funnel;
    let width = if wide { 64 } else { 32 };
    let count = if wraps { count & (width - 1) } else { count.min(width) };
    let both = u64::from(high) << 32 | u64::from(low);
    let result = match (left, signed) {
        (true, _) => both.checked_shl(count).unwrap_or(0),
        (false, false) => both.checked_shr(count).unwrap_or(0),
        (false, true) => ((both as i64) >> count.min(63)) as u64,
    };
    if upper { (result >> 32) as u32 } else { result as u32 }
}

/// Extends the lowest bits of a word to the full word.
pub(super) fn sign_extend(signed: bool, a: u32, width: u32) -> Option<u32> {
    match 32u32.saturating_sub(width) {
        32 => Some(0),
        unused if signed => Some(((a << unused) as i32 >> unused) as u32),
        unused => Some(a << unused >> unused),
    }
}

/// Returns a mask of `width` ones, starting at bit `at`.
pub(super) fn mask(wraps: bool, start: u32, width: u32) -> Option<u32> {
    let (start, width) = if wraps { (start & 31, width & 31) } else { (start.min(32), width.min(32)) };
    let ones = (1u64 << width) - 1;
    Some((ones << start) as u32)
}

/// Returns the position of the highest bit that differs from the sign, counted from the lowest bit; with
/// `shift`, the shift count that moves that bit to the top. All ones if there is no such bit.
pub(super) fn highest(signed: bool, shift: bool, a: u32) -> u32 {
    let bits = if signed && (a as i32) < 0 { !a } else { a };
    match bits.checked_ilog2() {
        None => u32::MAX,
        Some(place) if shift => 31 - place,
        Some(place) => place,
    }
}

pub(super) fn by_halves(a: u32, b: u32, operation: impl Fn(u16, u16) -> u16) -> u32 {
    let [low, high] = [0, 16].map(|start| u32::from(operation((a >> start) as u16, (b >> start) as u16)));
    high << 16 | low
}

/// Returns the minimum or maximum of words, or of each half.
pub(super) fn extreme(extreme: Extreme, least: bool, values: &[u32]) -> u32 {
    match extreme.granularity {
        Granularity::Halves => {
            let high = extreme_field(extreme, least, values, 16, 16);
            high << 16 | extreme_field(extreme, least, values, 0, 16)
        }
        Granularity::Bytes => {
            let starts = [0, 8, 16, 24].into_iter();
            starts.map(|start| extreme_field(extreme, least, values, start, 8) << start).sum()
        }
        Granularity::Word | Granularity::Pair => extreme_field(extreme, least, values, 0, 32),
    }
}

/// Returns the minimum or maximum of the fields of `bits` bits that begin at bit `start` of the words.
fn extreme_field(extreme: Extreme, least: bool, values: &[u32], start: u32, bits: u32) -> u32 {
    let fields = values.iter().map(|value| {
        let field = i64::from(value >> start) & ((1 << bits) - 1);
        if extreme.signed && field >> (bits - 1) == 1 { field - (1 << bits) } else { field }
    });
    let result = if least { fields.min() } else { fields.max() }.unwrap_or(0);
    let result = if extreme.positive { result.max(0) } else { result };
    (result & ((1 << bits) - 1)) as u32
}

pub(super) fn extreme_pair(signed: bool, least: bool, a: u64, b: u64) -> u64 {
    match (signed, least) {
        (true, true) => (a as i64).min(b as i64) as u64,
        (true, false) => (a as i64).max(b as i64) as u64,
        (false, true) => a.min(b),
        (false, false) => a.max(b),
    }
}

/// Adds the products of bytes, or of halves and bytes, to a word.
pub(super) fn dot_product(dot: DotProduct, a: u32, b: u32, c: u32) -> u32 {
    let [a_signed, b_signed] = dot.signed;
    // The number of products, the width of the factors from `a`, and the first bit of the factors from `b`.
    let (count, width, first) = match dot.halves {
        None => (4, 8, 0),
        Some(upper) => (2, 16, if upper { 16 } else { 0 }),
    };
    let mut sum = c;
    for nth in 0..count {
        let a = field(a, width * nth, width, a_signed);
        let b = field(b, first + 8 * nth, 8, b_signed);
        sum = sum.wrapping_add(a.wrapping_mul(b) as u32);
    }
    sum
}

/// Returns the number in `bits` bits of a word, from bit `start` on.
fn field(word: u32, start: u32, bits: u32, signed: bool) -> i32 {
    let value = word >> start & ((1 << bits) - 1);
    if signed { ((value << (32 - bits)) as i32) >> (32 - bits) } else { value as i32 }
}

/// Returns the absolute differences of unsigned bytes, or their sum with a word.
pub(super) fn byte_differences(a: u32, b: u32, sum: Option<u32>) -> u32 {
    let distances = by_bytes(a, b, u8::abs_diff);
    match sum {
        Some(sum) => distances.to_le_bytes().into_iter().fold(sum, |sum, byte| sum.wrapping_add(byte.into())),
        None => distances,
    }
}

pub(super) fn by_bytes(a: u32, b: u32, operation: impl Fn(u8, u8) -> u8) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u32::from_le_bytes([0, 1, 2, 3].map(|nth| operation(a[nth], b[nth])))
}

/// Clamps a word to the range of a type of this width in bits.
pub(super) fn saturate(bits: u32, signed: bool, from_signed: bool, a: u32) -> u32 {
    let value = if from_signed { i64::from(a as i32) } else { i64::from(a) };
    let (least, greatest) =
        if signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
    value.clamp(least, greatest) as u32
}

/// Converts an integer of at most 64 bits to the nearest float that is not less.
pub(super) fn float_upwards(value: i128) -> f32 {
    let nearest = value as f32;
    if (nearest as i128) < value { nearest.next_up() } else { nearest }
}

/// Returns the reciprocal of zero or of a float whose reciprocal is normal: the nearest float (`which` is 0), or the
/// one above or below it.
pub(super) fn reciprocal(value: f32, which: u64) -> Option<f32> {
    if value == 0.0 {
        return Some(f32::INFINITY.copysign(value));
    }
    let nearest = value.recip();
    (value.is_normal() && nearest.is_normal()).then(|| match which {
        0 => nearest,
        1 => nearest.next_up(),
        _ => nearest.next_down(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_permuted_and_combined_as_tables_say() {
        assert_eq!(permute(0x4433_2211, 0x7610, 0x8877_6655), 0x8877_2211);
        assert_eq!(permute(0x80, 0x8, 0), 0x8080_80ff);
        assert_eq!(apply_table(0b1100, 0b1010, 0, 0xc0), 0b1000);
        assert_eq!(apply_table(0b1111_0000, 0b1100_1100, 0b1010_1010, 0x96) & 0xff, 0b1001_0110);
    }

    #[test]
    fn shifts_and_fields_end_at_the_width() {
        let left = Funnel { left: true, wide: false, signed: false, wraps: false, upper: false };
        assert_eq!(funnel_shift(left, 1, 31, 0), 1 << 31);
        assert_eq!(funnel_shift(left, 1, 32, 0), 0);
        assert_eq!(funnel_shift(Funnel { wraps: true, ..left }, 1, 33, 0), 2);
        assert_eq!(funnel_shift(Funnel { upper: true, wraps: true, ..left }, 0x8000_0001, 1, 0x8000_0001), 3);
        let right = Funnel { left: false, signed: true, upper: true, ..left };
        assert_eq!(funnel_shift(right, 0, 40, 0x8000_0000), u32::MAX);
        assert_eq!(funnel_shift(Funnel { signed: false, ..right }, 0, 4, 0x80), 8);
        assert_eq!(
            (sign_extend(true, 0x80, 8), sign_extend(false, 0x180, 8)),
            (Some(0xffff_ff80), Some(0x80))
        );
        assert_eq!((sign_extend(true, 5, 0), sign_extend(true, 5, 40)), (Some(0), Some(5)));
        assert_eq!(
            (mask(false, 4, 8), mask(false, 4, 40), mask(false, 32, 1)),
            (Some(0xff0), Some(0xffff_fff0), Some(0))
        );
        assert_eq!(mask(true, 33, 33), Some(2));
    }

    #[test]
    fn floats_for_quotients_are_rounded_upwards_and_reciprocals_are_near() {
        assert_eq!(float_upwards(0x0100_0001), 16_777_218.0);
        assert_eq!((float_upwards(7), float_upwards(u64::MAX.into())), (7.0, 18_446_744_073_709_551_616.0));
        assert_eq!(float_upwards((-1i128 << 31) + 1), -2_147_483_520.0);
        let near: Vec<u32> = (0..3).map(|which| reciprocal(3.0, which).unwrap().to_bits()).collect();
        assert_eq!(near, [0x3eaa_aaab, 0x3eaa_aaac, 0x3eaa_aaaa]);
        assert_eq!((reciprocal(0.0, 0), reciprocal(f32::MAX, 0)), (Some(f32::INFINITY), None));
    }

    #[test]
    fn parts_of_words_have_their_own_signs() {
        assert_eq!(highest(true, false, u32::MAX), u32::MAX);
        assert_eq!((highest(true, false, -5i32 as u32), highest(false, true, 1)), (2, 31));
        let dot = DotProduct { signed: [true, false], halves: None };
        assert_eq!(dot_product(dot, 0xff02_0000, 0x0380_0000, 1) as i32, 1 - 3 + 256);
        let halves = DotProduct { signed: [true, true], halves: Some(true) };
        assert_eq!(dot_product(halves, 0xffff_0003, 0x02ff_0000, 0) as i32, -3 - 2);
        assert_eq!((saturate(8, true, true, 200), saturate(8, false, true, -3i32 as u32)), (127, 0));
        assert_eq!(saturate(16, true, true, -40_000i32 as u32) as i32, -32_768);
        let least = Extreme { granularity: Granularity::Halves, signed: true, positive: false, adds: false };
        assert_eq!(extreme(least, true, &[0x8000_0001, 0x0001_ffff]), 0x8000_ffff);
        let bytes = Extreme { granularity: Granularity::Bytes, signed: false, ..least };
        assert_eq!(extreme(bytes, false, &[0x80ff_0105, 0x7f00_0206]), 0x80ff_0206);
        assert_eq!(byte_differences(0x0180_ff00, 0x0300_01ff, None), 0x0280_feff);
        assert_eq!(byte_differences(0x0180_ff00, 0x0300_01ff, Some(1)), 1 + 2 + 0x80 + 0xfe + 0xff);
    }
}
