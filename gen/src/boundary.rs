//! Values at which implementations tend to be wrong.
//!
//! Integers are magnitudes, because a literal has no sign; a negative number is a unary minus on a magnitude. Floats are
//! bit patterns and spellings close to the points where a conversion rounds up or down.

/// Small integers. The generator chooses each with the same probability.
pub static SMALL: [u64; 17] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// The number of integers in [`INTEGERS`].
const INTEGER_COUNT: usize = 3 + 62 * 3 + 2;

/// Zero, one, two, and every power of two up to 2^63 with its neighbours, to 2^64 - 1, in ascending order.
///
/// Includes the limits of every integer type: `2^(n-1) - 1`, `2^(n-1)` and `2^n - 1`.
pub static INTEGERS: [u64; INTEGER_COUNT] = {
    let mut values = [0; INTEGER_COUNT];
    values[1] = 1;
    values[2] = 2;
    let (mut at, mut k) = (3, 2);
    while k < 64 {
        values[at] = (1 << k) - 1;
        values[at + 1] = 1 << k;
        values[at + 2] = (1 << k) + 1;
        at += 3;
        k += 1;
    }
    values[at] = u64::MAX - 1;
    values[at + 1] = u64::MAX;
    values
};

/// The magnitudes of the limits of the signed and unsigned types of 8 to 64 bits.
pub static TYPE_LIMITS: [u64; 12] = [
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// Literals of 2^64 and more, which fit into no 64-bit type. Their meaning is ambiguous.
pub static HUGE: [&str; 10] = [
    "18446744073709551616",
    "18446744073709551617",
    "0x10000000000000000",
    "0x1ffffffffffffffff",
    "0X8000000000000000FU",
    "02000000000000000000000",
    "99999999999999999999",
    "18446744073709551616U",
    "340282366920938463463374607431768211456",
    "0b10000000000000000000000000000000000000000000000000000000000000000",
];

/// Shift counts below 64, including those next to the widths that an implementation may assume (8, 16, 32).
pub static SHIFT_COUNTS: [u64; 12] = [0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 62, 63];

/// Shift counts of 64 and more.
pub static WIDE_SHIFT_COUNTS: [u64; 10] = [64, 65, 66, 95, 96, 127, 128, 1 << 32, 1 << 63, u64::MAX];

/// The bits of doubles at boundaries of formats and of rounding.
pub static DOUBLE_BITS: [u64; 36] = [
    0x0000_0000_0000_0000, // 0
    0x8000_0000_0000_0000, // -0
    0x3ff0_0000_0000_0000, // 1
    0xbff0_0000_0000_0000, // -1
    0x3fb9_9999_9999_999a, // 0.1
    // To single precision: halfway between 1 and its neighbour, to even and not, and just off halfway.
    0x3ff0_0000_1000_0000,
    0x3ff0_0000_0fff_ffff,
    0x3ff0_0000_1000_0001,
    0x3ff0_0000_3000_0000,
    0xbff0_0000_1000_0000,
    // The largest single, the halfway point above it, from which values round to infinity, and its neighbours.
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_efff_ffff,
    0x47ef_ffff_f000_0000,
    0x47ef_ffff_f000_0001,
    0xc7ef_ffff_f000_0000,
    // The smallest normal single, its predecessor, and the halfway point between them.
    0x3810_0000_0000_0000,
    0x380f_ffff_c000_0000,
    0x380f_ffff_e000_0000,
    0x380f_ffff_dfff_ffff,
    // The smallest denormal single, half of it (a tie to zero), and just above half.
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0000,
    0x3690_0000_0000_0001,
    0xb690_0000_0000_0000,
    // A tie between the two smallest denormals.
    0x36a8_0000_0000_0000,
    // Doubles: largest finite, smallest normal, largest denormal, smallest denormal, all ones in the mantissa.
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x0000_0000_0000_0001,
    0x8000_0000_0000_0001,
    0x3fff_ffff_ffff_ffff,
    0x4340_0000_0000_0000, // 2^53
    0x4340_0000_0000_0001,
    0x43e0_0000_0000_0000, // 2^63
    0x7ff0_0000_0000_0000, // infinity
    0xfff0_0000_0000_0000, // -infinity
];

/// The bits of double NaNs: quiet and signalling, of both signs, with payloads.
pub static DOUBLE_NANS: [u64; 6] = [
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0000,
    0x7ff8_0000_0000_0001,
    0x7ff0_0000_0000_0001,
    0x7fff_ffff_ffff_ffff,
    0x7ff8_0000_2000_0000,
];

/// The bits of singles at boundaries of the format. The last six are NaNs.
pub static SINGLE_BITS: [u32; 20] = [
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3dcc_cccd,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x0080_0000,
    0x007f_ffff,
    0x0000_0001,
    0x8000_0001,
    0x3f80_0001,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0000,
    0x7fc0_0001,
    0x7f80_0001,
    0x7fff_ffff,
    0xffff_ffff,
];

/// The number of values in [`SINGLE_BITS`] before the NaNs.
pub const SINGLE_NUMBERS: usize = 14;

/// Decimal spellings that are hard to parse or to round, with every form of point and exponent.
pub static DECIMALS: [&str; 38] = [
    "0.0",
    "1.0",
    "0.",
    ".0",
    "0e0",
    "1e0",
    "2.",
    ".5",
    "1.5",
    "0.1",
    "0.33",
    "3E0",
    "00.5e-1",
    "5.e+3",
    "1e3",
    "1E+03",
    "16777217.0",         // 2^24 + 1: halfway between two singles
    "16777219.0",         // 2^24 + 3
    "9007199254740993.0", // 2^53 + 1: halfway between two doubles
    "9007199254740992.5",
    "9223372036854775808.0",
    "4294967296.0",
    "1.00000005960464477539", // about halfway between 1 and the next single
    "3.4028234663852886e38",  // the largest single
    "3.4028235677973366e38",  // where single precision turns infinite
    "3.402823e+38",
    "1.1754943508222875e-38", // the smallest normal single
    "1.1754942807573643e-38",
    "1.401298464324817e-45", // the smallest denormal single
    "7.006492321624085e-46", // half of it
    "7.1e-46",
    "1.7976931348623157e308",  // the largest double
    "2.2250738585072014e-308", // the smallest normal double
    "1e23",                    // no double; the nearest two are a hair apart
    "8.5e-1",
    "123456789.0e-9",
    "1000000000000000000000.0",
    "0.000000000000000000001",
];

/// Decimal spellings of doubles below the smallest normal one.
pub static DENORMAL_DECIMALS: [&str; 5] = [
    "4.9406564584124654e-324", // the smallest
    "2.2250738585072011e-308", // the largest, spelled so that careless readers never end
    "2.225073858507201e-308",
    "1e-310",
    "5e-324",
];

/// Decimal spellings outside the range of double precision: too large, or so small that they round to zero.
pub static DECIMALS_OUT_OF_RANGE: [&str; 5] = ["1e309", "1.8e308", "1e999", "1e-400", "2e-324"];

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_syntax::{Number, read_number};

    #[test]
    fn the_integers_ascend_without_repeats_and_hold_the_limits_of_every_type() {
        assert!(INTEGERS.windows(2).all(|pair| pair[0] < pair[1]));
        for limit in TYPE_LIMITS {
            assert!(INTEGERS.contains(&limit), "{limit:#x}");
        }
    }

    #[test]
    fn every_huge_literal_is_one() {
        for text in HUGE {
            assert!(matches!(read_number(text), Some(Number::Integer { value: None, .. })), "{text}");
        }
    }

    #[test]
    fn every_decimal_is_a_float_and_only_the_out_of_range_ones_are_infinite_or_vanish() {
        for text in DECIMALS {
            assert!(matches!(read_number(text), Some(Number::Float(v)) if v.is_finite()), "{text}");
        }
        for text in DENORMAL_DECIMALS {
            assert!(matches!(read_number(text), Some(Number::Float(v)) if v.is_subnormal()), "{text}");
        }
        for text in DECIMALS_OUT_OF_RANGE {
            assert!(
                matches!(read_number(text), Some(Number::Float(v)) if v == 0.0 || v.is_infinite()),
                "{text}"
            );
        }
    }

    #[test]
    fn the_tables_of_bits_say_truly_which_are_numbers() {
        assert!(DOUBLE_BITS.iter().all(|&bits| !f64::from_bits(bits).is_nan()));
        assert!(DOUBLE_NANS.iter().all(|&bits| f64::from_bits(bits).is_nan()));
        for (i, &bits) in SINGLE_BITS.iter().enumerate() {
            assert_eq!(f32::from_bits(bits).is_nan(), i >= SINGLE_NUMBERS, "{bits:#x}");
        }
    }

    #[test]
    fn the_halfway_points_lie_halfway_between_two_singles() {
        for bits in
            [0x3ff0_0000_1000_0000u64, 0x3ff0_0000_3000_0000, 0x380f_ffff_e000_0000, 0x36a8_0000_0000_0000]
        {
            let exact = f64::from_bits(bits);
            let near = f64::from(exact as f32);
            let other = 2.0 * exact - near;
            assert_ne!(near, other);
            assert_eq!(f64::from(other as f32), other, "{bits:#x}");
        }
    }
}
