//! Sequences that optimizers recognize: each has its meaning only if its parts are exactly as expected.

use super::draft::{KernelDraft, bits_of, immediate_of};
use super::forms::IntegerType;
use crate::stream::Draw;

const WORD: IntegerType = IntegerType { bits: 32, signed: false };
const SIGNED: IntegerType = IntegerType { bits: 32, signed: true };
pub(super) const ORDERS: [&str; 6] = ["lt", "le", "gt", "ge", "eq", "ne"];

/// Draws a word from a list.
pub(super) fn word<'a>(draw: &mut Draw, words: &[&'a str]) -> &'a str {
    words[draw.within(0..words.len())]
}

/// Writes an idiom.
pub(super) fn write(draft: &mut KernelDraft, draw: &mut Draw) {
    const IDIOMS: &[fn(&mut KernelDraft, &mut Draw)] = &[
        rotation,
        saturation,
        clamp,
        extremes,
        sign,
        average,
        byte_mask,
        field,
        carry,
        known_bits,
        comparison,
        halves,
        pairs,
        guarded,
        narrowing,
        magnitude,
        scaled_sum,
        logic,
        two_shifts,
        conversions,
        selected_bytes,
        part,
        wide_product,
        range,
        flag,
        negation,
        bit_count,
        shift_by_computed,
    ];
    draw.pick(IDIOMS)(draft, draw);
}

/// A rotation or funnel shift built from two shifts, or nearly one.
fn rotation(draft: &mut KernelDraft, draw: &mut Draw) {
    let x = draft.value(draw, 32);
    let y = if draw.below(2) == 0 { x.clone() } else { draft.value(draw, 32) };
    let count = 1 + draw.below(31) as u32;
    let other = if draw.below(4) == 0 { bits_of(draw, 32) } else { 32 - count };
    let left = draft.set(32, "shl.b32", &[&x, &count.to_string()]);
    let right = draft.set(32, word(draw, &["shr.u32", "shr.u32", "shr.s32"]), &[&y, &other.to_string()]);
    join(draft, draw, &left, &right);
}

fn join(draft: &mut KernelDraft, draw: &mut Draw, a: &str, b: &str) -> String {
    let opcode = word(draw, &["or.b32", "add.u32", "xor.b32", "and.b32", "sub.s32"]);
    draft.use_in(32, opcode, &[a, b])
}

/// A chain of sums that wrap and sums that saturate.
fn saturation(draft: &mut KernelDraft, draw: &mut Draw) {
    let mut x = draft.value(draw, 32);
    for _ in 0..2 + draw.below(2) {
        let opcode = word(draw, &["add.s32", "add.sat.s32", "add.sat.s32", "sub.sat.s32", "sub.s32"]);
        let by = match draw.below(3) {
            0 => draft.value(draw, 32),
            1 => immediate_of(draw, SIGNED),
            _ => (draw.below(20) as i64 - 10).to_string(),
        };
        let sources = if draw.below(3) == 0 { [by, x] } else { [x, by] };
        x = draft.use_in(32, opcode, &[&sources[0], &sources[1]]);
    }
}

/// A value clamped between bounds, with different types.
fn clamp(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[16, 32, 32, 32, 64]);
    let mut x = draft.value(draw, bits);
    for _ in 0..2 {
        let signed = draw.below(2) == 0;
        let opcode = format!("{}.{}{bits}", word(draw, &["min", "max"]), if signed { "s" } else { "u" });
        let bound = match draw.below(2) {
            0 => word(draw, &["0", "1", "127", "128", "255", "256", "32767", "65535"]).to_string(),
            _ => immediate_of(draw, IntegerType { bits, signed }),
        };
        let fits = bits != 16 || !signed || bound.parse::<i64>().is_ok_and(|bound| bound < 1 << 15);
        x = draft.use_in(bits, &opcode, &[&x, if fits { &bound } else { "127" }]);
    }
    if bits == 32 && draw.below(2) == 0 {
        let opcode = format!(
            "cvt.{}.{}",
            word(draw, &["u8", "s8", "u16", "s16", "sat.u8", "sat.s8"]),
            word(draw, &["u32", "s32"])
        );
        draft.use_in(32, &opcode, &[&x]);
    }
}

/// A chain of minima and maxima.
fn extremes(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[16, 32, 32, 32, 64]);
    let mut x = draft.value(draw, bits);
    for _ in 0..2 + draw.below(3) {
        let opcode = format!("{}.{}{bits}", word(draw, &["min", "max"]), word(draw, &["s", "u"]));
        let y = draft.value(draw, bits);
        x = draft.use_in(bits, &opcode, &[&x, &y]);
    }
}

/// The sign as a mask, for magnitudes and selections.
fn sign(draft: &mut KernelDraft, draw: &mut Draw) {
    let x = draft.value(draw, 32);
    let count = word(draw, &["31", "31", "31", "30", "32"]);
    let mask = draft.set(32, word(draw, &["shr.s32", "shr.s32", "shr.u32"]), &[&x, count]);
    let y = if draw.below(2) == 0 { x.clone() } else { draft.value(draw, 32) };
    let mixed = draft.use_in(32, word(draw, &["xor.b32", "add.s32", "and.b32", "or.b32"]), &[&y, &mask]);
    draft.use_in(32, word(draw, &["sub.s32", "add.s32", "xor.b32", "and.b32"]), &[&mixed, &mask]);
}

/// The mean of two values without overflow.
fn average(draft: &mut KernelDraft, draw: &mut Draw) {
    let (x, y) = (draft.value(draw, 32), draft.value(draw, 32));
    let common = draft.set(32, word(draw, &["and.b32", "or.b32"]), &[&x, &y]);
    let other = draft.set(32, "xor.b32", &[&x, &y]);
    let half = draft.use_in(32, word(draw, &["shr.u32", "shr.s32"]), &[&other, "1"]);
    draft.use_in(32, word(draw, &["add.u32", "sub.u32"]), &[&common, &half]);
}

/// Bytes extracted from words and combined again.
fn byte_mask(draft: &mut KernelDraft, draw: &mut Draw) {
    let x = draft.value(draw, 32);
    let mask = word(draw, &["0xff", "0xff00", "0xff0000", "0xff000000", "0xffff", "0xff00ff", "0x7f"]);
    let masked = draft.set(32, "and.b32", &[&x, mask]);
    let count = (8 * draw.below(4)).to_string();
    let shifted = draft.use_in(32, word(draw, &["shl.b32", "shr.u32", "shr.s32"]), &[&masked, &count]);
    let y = draft.value(draw, 32);
    let other = draft.set(32, "shr.u32", &[&y, &(8 * draw.below(4)).to_string()]);
    join(draft, draw, &shifted, &other);
}

/// A bit field that is extracted, shifted and inserted.
fn field(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[32, 32, 64]);
    let extraction = |draw: &mut Draw| format!("bfe.{}{bits}", word(draw, &["u", "s"]));
    let x = draft.value(draw, bits);
    let (at, length) = (bits_of(draw, bits).to_string(), bits_of(draw, bits).to_string());
    let part = draft.set(bits, &extraction(draw), &[&x, &at, &length]);
    let (to, width) = (bits_of(draw, bits).to_string(), bits_of(draw, bits).to_string());
    match draw.below(3) {
        0 => draft.use_in(bits, &format!("shl.b{bits}"), &[&part, &to]),
        1 => {
            let y = draft.value(draw, bits);
            draft.use_in(bits, &format!("bfi.b{bits}"), &[&part, &y, &to, &width])
        }
        _ => draft.use_in(bits, &extraction(draw), &[&part, &to, &width]),
    };
}

/// A sum or a difference of several words, word by word.
fn carry(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[32, 32, 64]);
    let opcodes = match draw.below(4) {
        0 => ["sub.cc", "subc.cc", "subc"],
        1 => ["mad.lo.cc", "madc.hi.cc", "addc"],
        2 => ["mad.hi.cc", "madc.lo.cc", "madc.hi"],
        _ => ["add.cc", "addc.cc", "addc"],
    };
    let signed = draw.below(4) == 0;
    let ty = IntegerType { bits, signed };
    for opcode in opcodes {
        let count = if opcode.starts_with("mad") { 3 } else { 2 };
        let sources: Vec<String> = (0..count)
            .map(|_| if draw.below(4) == 0 { immediate_of(draw, ty) } else { draft.value(draw, bits) })
            .collect();
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        draft.use_in(bits, &format!("{opcode}.{}{bits}", if signed { "s" } else { "u" }), &sources);
    }
}

/// Products and shifts of values with known bits.
fn known_bits(draft: &mut KernelDraft, draw: &mut Draw) {
    let (x, y) = (draft.value(draw, 32), draft.value(draw, 32));
    let mask = format!("{:#x}", (1u64 << draw.below(32)).wrapping_sub(draw.below(2)) & 0xffff_ffff);
    let a = draft.set(32, word(draw, &["and.b32", "or.b32"]), &[&x, &mask]);
    let b = match draw.below(3) {
        0 => y,
        1 => draft.set(32, "shl.b32", &[&y, &draw.below(32).to_string()]),
        _ => draft.set(32, "shr.u32", &[&y, &draw.below(32).to_string()]),
    };
    let product =
        draft.use_in(32, word(draw, &["mul.lo.u32", "mul.hi.u32", "mul.hi.s32", "mul24.lo.u32"]), &[&a, &b]);
    let count = draw.below(32).to_string();
    draft.use_in(32, word(draw, &["shr.u32", "shr.s32", "shl.b32"]), &[&product, &count]);
}

/// A comparison of a computed value, and a selection by its result.
fn comparison(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[16, 32, 32, 64]);
    let signed = draw.below(2) == 0;
    let ty = format!("{}{bits}", if signed { "s" } else { "u" });
    let x = draft.value(draw, bits);
    let by = immediate_of(draw, IntegerType { bits, signed });
    let moved = draft.set(bits, &format!("{}.{ty}", word(draw, &["add", "sub", "max", "min"])), &[&x, &by]);
    let bound = immediate_of(draw, IntegerType { bits, signed });
    let order = word(draw, &ORDERS);
    let p = draft.use_in(1, &format!("setp.{order}.{ty}"), &[&moved, &bound]);
    let (a, b) = (draft.value(draw, bits), draft.value(draw, bits));
    draft.use_in(bits, &format!("selp.b{bits}"), &[&a, &b, &p]);
}

/// A word as two halves, both used.
fn halves(draft: &mut KernelDraft, draw: &mut Draw) {
    let x = draft.value(draw, 32);
    let (low, high) = (draft.fresh(16), draft.fresh(16));
    draft.lines.push(format!("mov.b32 {{{low}, {high}}}, {x}"));
    let y = draft.value(draw, 16);
    let changed = draft.set(
        16,
        word(draw, &["add.s16", "mul.lo.u16", "min.s16", "max.u16", "shl.b16"]),
        &[&low, if draw.below(2) == 0 { "3" } else { "1" }],
    );
    let parts = *draw.pick(&[[0, 1], [1, 0], [2, 1], [2, 2], [0, 2]]);
    let names = [high, changed, y];
    draft.join_parts(32, "mov.b32", &parts.map(|part: usize| names[part].clone()));
}

/// One part of a word or of 64 bits; the others are not used.
fn part(draft: &mut KernelDraft, draw: &mut Draw) {
    let (bits, count, part_bits) = *draw.pick(&[(32, 2, 16), (64, 4, 16), (64, 2, 32)]);
    let x = draft.value(draw, bits);
    let parts: Vec<String> = (0..count).map(|_| draft.fresh(part_bits)).collect();
    draft.lines.push(format!("mov.b{bits} {{{}}}, {x}", parts.join(", ")));
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    draft.mark_used(&names);
    let chosen = draw.pick(&parts).clone();
    match draw.below(3) {
        0 => draft.join_parts(2 * part_bits, &format!("mov.b{}", 2 * part_bits), &[chosen.clone(), chosen]),
        1 => draft.set(part_bits, &format!("add.s{part_bits}"), &[&chosen, "1"]),
        _ => draft.set(part_bits, &format!("shr.u{part_bits}"), &[&chosen, "3"]),
    };
}

/// 64 bits as two words.
fn pairs(draft: &mut KernelDraft, draw: &mut Draw) {
    let x = draft.value(draw, 64);
    let (low, high) = (draft.fresh(32), draft.fresh(32));
    draft.lines.push(format!("mov.b64 {{{low}, {high}}}, {x}"));
    let changed = match draw.below(4) {
        0 => draft.set(32, "shr.s32", &[&low, "31"]),
        1 => draft.set(32, "add.u32", &[&high, "1"]),
        2 => draft.value(draw, 32),
        _ => "0".to_owned(),
    };
    let names = [low, high, changed];
    let parts = *draw.pick(&[[0, 1], [1, 0], [0, 2], [2, 1], [2, 0]]);
    let joined = draft.join_parts(64, "mov.b64", &parts.map(|part: usize| names[part].clone()));
    let count = bits_of(draw, 64).to_string();
    draft.use_in(64, word(draw, &["shl.b64", "shr.u64", "shr.s64"]), &[&joined, &count]);
}

/// An instruction under a predicate.
fn guarded(draft: &mut KernelDraft, draw: &mut Draw) {
    let p = draft.value(draw, 1);
    let (x, y) = (draft.value(draw, 32), draft.value(draw, 32));
    let to = draft.set(32, "mov.b32", &[&x]);
    let negated = word(draw, &["", "!"]);
    let opcode = word(draw, &["add.s32", "sub.s32", "and.b32", "max.s32", "min.u32", "shl.b32"]);
    draft.lines.push(format!("@{negated}{p} {opcode} {to}, {to}, {y}"));
}

/// A definition that is narrower than its use.
fn narrowing(draft: &mut KernelDraft, draw: &mut Draw) {
    let x = draft.value(draw, 32);
    let into = word(draw, &["u8", "s8", "u16", "s16"]);
    let saturation = word(draw, &["", ".sat"]);
    let narrow = draft.set(32, &format!("cvt{saturation}.{into}.{}", word(draw, &["s32", "u32"])), &[&x]);
    let opcode = word(
        draw,
        &["add.s32", "mul.lo.s32", "shl.b32", "shr.s32", "shr.u32", "min.s32", "max.u32", "and.b32"],
    );
    let by = immediate_of(draw, IntegerType { bits: 5, signed: false });
    let used = draft.use_in(32, opcode, &[&narrow, &by]);
    let wide =
        draft.use_in(64, word(draw, &["cvt.s64.s32", "cvt.u64.u32", "cvt.s64.s8", "cvt.u64.u16"]), &[&used]);
    if draw.below(2) == 0 {
        let y = draft.value(draw, 64);
        draft.use_in(64, word(draw, &["add.s64", "mul.lo.u64", "sub.s64", "max.s64"]), &[&wide, &y]);
    }
}

/// A magnitude, which a compiler may assume to be nonnegative.
fn magnitude(draft: &mut KernelDraft, draw: &mut Draw) {
    let x = draft.value(draw, 32);
    let magnitude = match draw.below(3) {
        0 => draft.set(32, "abs.s32", &[&x]),
        1 => {
            let negated = draft.set(32, "neg.s32", &[&x]);
            draft.use_in(32, "max.s32", &[&x, &negated])
        }
        _ => {
            let y = draft.value(draw, 32);
            draft.set(32, word(draw, &["sad.s32", "sad.u32"]), &[&x, &y, "0"])
        }
    };
    let bound = immediate_of(draw, SIGNED);
    draft.use_in(
        32,
        word(draw, &["max.s32", "min.s32", "shr.s32", "add.s32", "max.u32"]),
        &[&magnitude, &bound],
    );
}

/// An index that is scaled and added to a 64-bit base.
fn scaled_sum(draft: &mut KernelDraft, draw: &mut Draw) {
    let (x, y) = (draft.value(draw, 32), draft.value(draw, 64));
    let wide = match draw.below(3) {
        0 => draft.set(
            64,
            word(draw, &["mul.wide.s32", "mul.wide.u32"]),
            &[&x, word(draw, &["4", "8", "12", "255"])],
        ),
        1 => {
            let wide = draft.set(64, word(draw, &["cvt.s64.s32", "cvt.u64.u32"]), &[&x]);
            draft.use_in(64, "shl.b64", &[&wide, &bits_of(draw, 64).to_string()])
        }
        _ => draft.set(64, word(draw, &["mad.wide.s32", "mad.wide.u32"]), &[&x, "24", &y]),
    };
    draft.use_in(64, word(draw, &["add.s64", "sub.s64"]), &[&y, &wide]);
}

/// Logic that a compiler combines into a single `lop3` table.
fn logic(draft: &mut KernelDraft, draw: &mut Draw) {
    let mut x = draft.value(draw, 32);
    for _ in 0..2 + draw.below(3) {
        if draw.below(4) == 0 {
            x = draft.use_in(32, "not.b32", &[&x]);
        }
        let y = if draw.below(3) == 0 { immediate_of(draw, WORD) } else { draft.value(draw, 32) };
        x = draft.use_in(32, word(draw, &["and.b32", "or.b32", "xor.b32"]), &[&x, &y]);
    }
}

/// Two shifts by constants, each at or beyond the width.
fn two_shifts(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[16, 32, 32, 64]);
    let mut x = draft.value(draw, bits);
    for _ in 0..2 {
        let opcode = match draw.below(3) {
            0 => format!("shr.s{bits}"),
            1 => format!("shr.u{bits}"),
            _ => format!("shl.b{bits}"),
        };
        x = draft.use_in(bits, &opcode, &[&x, &bits_of(draw, bits).to_string()]);
    }
}

/// A shift by an amount that is computed: the width minus a count, its complement, or a part of it.
fn shift_by_computed(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[16, 32, 32, 64]);
    let count = draft.value(draw, 32);
    let width = draw.pick(&[bits, bits - 1, 31, 32]).to_string();
    let amount = match draw.below(4) {
        0 => draft.set(32, "sub.u32", &[&width, &count]),
        1 => draft.set(32, "and.b32", &[&count, &width]),
        2 => draft.set(32, "min.u32", &[&count, &width]),
        _ => draft.set(32, "xor.b32", &[&count, &width]),
    };
    let x = draft.value(draw, bits);
    let opcode = format!("{}{bits}", word(draw, &["shl.b", "shr.u", "shr.s"]));
    let shifted = draft.use_in(bits, &opcode, &[&x, &amount]);
    if draw.below(2) == 0 {
        let opcode = format!("{}{bits}", word(draw, &["shl.b", "shr.u", "shr.s"]));
        let by = if draw.below(2) == 0 { count } else { amount };
        draft.use_in(bits, &opcode, &[&shifted, &by]);
    }
}

/// Conversions in a row; some saturate.
fn conversions(draft: &mut KernelDraft, draw: &mut Draw) {
    let types = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
    let register = |ty: &str| IntegerType::of(ty).register();
    let mut of = *draw.pick(&types);
    let mut x = draft.value(draw, register(of));
    for _ in 0..2 + draw.below(2) {
        let into = *draw.pick(&types);
        let fits = IntegerType::of(into).holds(IntegerType::of(of));
        let saturation = if !fits && draw.below(2) == 0 { ".sat" } else { "" };
        x = draft.use_in(register(into), &format!("cvt{saturation}.{into}.{of}"), &[&x]);
        // The result is read as signed, as unsigned, or as a narrower type.
        let same: Vec<&str> = types.into_iter().filter(|ty| register(ty) == register(into)).collect();
        of = *draw.pick(&same);
    }
}

/// Bytes that are selected from words, selected again or masked.
fn selected_bytes(draft: &mut KernelDraft, draw: &mut Draw) {
    let selectors = |draw: &mut Draw| match draw.below(3) {
        0 => format!("{:#x}", draw.below(1 << 16)),
        _ => word(
            draw,
            &[
                "0x4140", "0x4340", "0x7540", "0x1054", "0x0123", "0x8880", "0x9991", "0xbbb3", "0x4442",
                "0x5432", "0x2107",
            ],
        )
        .to_owned(),
    };
    let x = draft.value(draw, 32);
    let y = if draw.below(3) == 0 { draft.value(draw, 32) } else { "0".to_owned() };
    let bytes = match draw.below(4) {
        0 => draft.set(
            32,
            "and.b32",
            &[&x, word(draw, &["0xff", "0xffff", "0xff00", "0xff00ff00", "0xffff0000"])],
        ),
        1 => draft.set(
            32,
            word(draw, &["shl.b32", "shr.u32", "shr.s32"]),
            &[&x, word(draw, &["8", "16", "24"])],
        ),
        _ => draft.set(32, "prmt.b32", &[&x, &y, &selectors(draw)]),
    };
    let other = if draw.below(2) == 0 { draft.value(draw, 32) } else { x };
    let sources = if draw.below(2) == 0 { [&bytes, &other] } else { [&other, &bytes] };
    let chosen = draft.use_in(32, "prmt.b32", &[sources[0], sources[1], &selectors(draw)]);
    if draw.below(3) == 0 {
        draft.use_in(32, word(draw, &["cvt.s32.s8", "cvt.u32.u16", "cvt.s32.s16", "not.b32"]), &[&chosen]);
    }
}

/// A part of a product of twice the width.
fn wide_product(draft: &mut KernelDraft, draw: &mut Draw) {
    let (x, y) = (draft.value(draw, 32), draft.value(draw, 32));
    let y = if draw.below(3) == 0 { immediate_of(draw, SIGNED) } else { y };
    let product = draft.set(64, word(draw, &["mul.wide.s32", "mul.wide.u32"]), &[&x, &y]);
    match draw.below(4) {
        0 => {
            let opcode = word(draw, &["shr.u64", "shr.s64", "shl.b64"]);
            let shifted = draft.use_in(64, opcode, &[&product, &bits_of(draw, 64).to_string()]);
            draft.use_in(32, "cvt.u32.u64", &[&shifted]);
        }
        1 => {
            let sum = draft.value(draw, 64);
            draft.use_in(64, word(draw, &["add.s64", "sub.s64", "max.s64", "and.b64"]), &[&sum, &product]);
        }
        2 => {
            let (low, high) = (draft.fresh(32), draft.fresh(32));
            draft.lines.push(format!("mov.b64 {{{low}, {high}}}, {product}"));
            join(draft, draw, &low, &high);
        }
        _ => {
            let narrow = draft.use_in(
                32,
                word(draw, &["cvt.u32.u64", "cvt.sat.s32.s64", "cvt.sat.u32.s64"]),
                &[&product],
            );
            join(draft, draw, &narrow, &x);
        }
    };
}

/// Two comparisons of one value, joined: whether it lies in a range.
fn range(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[16, 32, 32, 64]);
    let ty = IntegerType { bits, signed: draw.below(2) == 0 };
    let name = format!("{}{bits}", if ty.signed { "s" } else { "u" });
    let x = draft.value(draw, bits);
    let near = draw.below(3) as i64;
    let first = draw.below(100) as i64;
    let bounds = match draw.below(3) {
        0 => [immediate_of(draw, ty), immediate_of(draw, ty)],
        _ => [first.to_string(), (first + near).to_string()],
    };
    let p = draft.set(1, &format!("setp.{}.{name}", word(draw, &ORDERS)), &[&x, &bounds[0]]);
    let opcode = format!("setp.{}.{}.{name}", word(draw, &ORDERS), word(draw, &["and", "or", "xor"]));
    let negated = format!("{}{p}", word(draw, &["", "!"]));
    draft.set(1, &opcode, &[&x, &bounds[1], &negated]);
}

/// A truth value as a number, and compared or computed with again.
fn flag(draft: &mut KernelDraft, draw: &mut Draw) {
    let (x, y) = (draft.value(draw, 32), draft.value(draw, 32));
    let order = word(draw, &ORDERS);
    let sign = word(draw, &["s32", "u32"]);
    let flag = match draw.below(4) {
        0 => draft.set(32, &format!("set.{order}.{}.{sign}", word(draw, &["u32", "s32"])), &[&x, &y]),
        1 => draft.set(32, "cnot.b32", &[&x]),
        _ => {
            let p = draft.set(1, &format!("setp.{order}.{sign}"), &[&x, &y]);
            let values = draw.pick(&[["1", "0"], ["0", "1"], ["-1", "0"], ["1", "-1"], ["4", "3"]]);
            draft.use_in(32, "selp.b32", &[values[0], values[1], &p])
        }
    };
    let by = word(draw, &["0", "1", "-1", "2", "31"]);
    match draw.below(5) {
        0 => {
            let p = draft.use_in(1, &format!("setp.{}.s32", word(draw, &ORDERS)), &[&flag, by]);
            draft.use_in(32, "selp.b32", &[&x, &y, &p])
        }
        1 => {
            draft.use_in(32, word(draw, &["neg.s32", "not.b32", "cnot.b32", "abs.s32", "clz.b32"]), &[&flag])
        }
        2 => draft.use_in(32, word(draw, &["mul.lo.s32", "shl.b32", "min.s32", "and.b32"]), &[&flag, &x]),
        3 => draft.use_in(32, word(draw, &["mul.lo.s32", "shl.b32", "xor.b32", "sub.s32"]), &[&flag, by]),
        _ if draw.below(2) == 0 => draft.use_in(32, "slct.b32.s32", &[&x, &y, &flag]),
        _ => draft.use_in(32, word(draw, &["add.s32", "sub.s32", "add.sat.s32"]), &[&y, &flag]),
    };
}

/// Negation and complement within sums, products and extremes.
fn negation(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[16, 32, 32, 64]);
    let negated = |draft: &mut KernelDraft, draw: &mut Draw, x: &str| match draw.below(3) {
        0 => draft.use_in(bits, &format!("not.b{bits}"), &[x]),
        1 => draft.use_in(bits, &format!("abs.s{bits}"), &[x]),
        _ => draft.use_in(bits, &format!("neg.s{bits}"), &[x]),
    };
    let x = draft.value(draw, bits);
    let a = negated(draft, draw, &x);
    let y = draft.value(draw, bits);
    let b = match draw.below(3) {
        0 => negated(draft, draw, &y),
        1 => immediate_of(draw, IntegerType { bits, signed: true }),
        _ => y,
    };
    let opcode =
        word(draw, &["add.s", "sub.s", "mul.lo.s", "min.s", "max.s", "min.u", "max.u", "mul.hi.s", "sad.s"]);
    let mut sources = vec![a.as_str(), b.as_str()];
    if draw.below(2) == 0 {
        sources.reverse();
    }
    if opcode == "sad.s" {
        sources.push(&x);
    }
    let result = draft.use_in(bits, &format!("{opcode}{bits}"), &sources);
    if draw.below(2) == 0 {
        negated(draft, draw, &result);
    }
}

/// Counts of bits, also of reversed and masked words.
fn bit_count(draft: &mut KernelDraft, draw: &mut Draw) {
    let bits = *draw.pick(&[32, 32, 64]);
    let x = draft.value(draw, bits);
    let changed = match draw.below(5) {
        0 => draft.use_in(bits, &format!("brev.b{bits}"), &[&x]),
        1 => draft.use_in(bits, &format!("neg.s{bits}"), &[&x]),
        2 => draft.use_in(bits, &format!("shl.b{bits}"), &[&x, &bits_of(draw, bits).to_string()]),
        3 => {
            let mask = immediate_of(draw, IntegerType { bits, signed: false });
            draft.use_in(bits, &format!("{}.b{bits}", word(draw, &["and", "or"])), &[&x, &mask])
        }
        _ => x,
    };
    let opcode = match draw.below(4) {
        0 => format!("popc.b{bits}"),
        1 => format!("bfind.{}{bits}", word(draw, &["u", "s"])),
        2 => format!("bfind.shiftamt.{}{bits}", word(draw, &["u", "s"])),
        _ => format!("clz.b{bits}"),
    };
    let count = draft.use_in(32, &opcode, &[&changed]);
    let by = word(draw, &["31", "32", "63", "5", "1"]);
    match draw.below(4) {
        0 => draft.use_in(32, "sub.s32", &[by, &count]),
        1 => draft.use_in(32, "xor.b32", &[&count, by]),
        2 => draft.use_in(32, word(draw, &["shr.u32", "shr.s32", "min.u32"]), &[&count, by]),
        _ => draft.use_in(32, "shl.b32", &["1", &count]),
    };
}
