//! Inputs for kernels that are compared by value: boundary values, and related values.

/// Words at the boundaries of types, fields and signs.
const CORNERS: [u32; 24] = [
    0,
    1,
    2,
    3,
    5,
    7,
    0x1f,
    0x20,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ff80,
    0xffff_fffe,
];

/// Returns the word at a place (counted in words) of an input.
pub(super) fn word(input: u64, place: u64) -> u32 {
    let first = match input {
        0 => return 0,
        1 => return u32::MAX,
        2 => return 1,
        3 => return 0x8000_0000,
        4 => return 0x7fff_ffff,
        // The least numbers of 16 and of 8 bits.
        30 => return 0x8000_8000,
        31 => return 0x8080_8080,
        _ => mixed(input, 0),
    };
    let base = match first & 1 {
        0 => corner(first >> 8),
        _ => (first >> 16) as u32,
    };
    let mixed = mixed(input, place + 1);
    let bits = (mixed >> 16) as u32;
    // The upper half of a 64-bit value is often the extension of the lower half.
    if place % 2 == 1 && mixed >> 8 & 3 < 2 {
        return if mixed >> 8 & 1 == 0 { 0 } else { (word(input, place - 1) as i32 >> 31) as u32 };
    }
    match mixed & 15 {
        0..3 => base,
        3 => base.wrapping_neg(),
        4 => base.wrapping_add(1),
        5 => base.wrapping_sub(1),
        6 => !base,
        7 => 1 << (bits & 31),
        8 => (1u32 << (bits & 31)).wrapping_sub(1),
        9..13 => corner(mixed >> 16),
        // Four bytes, each from a boundary value of its own.
        13 => u32::from_le_bytes([0, 8, 16, 24].map(|at| corner(mixed >> (16 + at)) as u8)),
        _ => bits,
    }
}

/// Returns the bytes of a scalar parameter.
pub(super) fn parameter(input: u64, nth: u64, size: u64) -> Vec<u8> {
    let first = (1 << 20) + (nth << 8);
    (0..size).map(|at| (word(input, first + 2 * (at / 4)) >> (8 * (at % 4))) as u8).collect()
}

fn corner(number: u64) -> u32 {
    CORNERS[(number % CORNERS.len() as u64) as usize]
}

fn mixed(input: u64, place: u64) -> u64 {
    let mut mixed =
        (input << 40 ^ place).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 32
}
