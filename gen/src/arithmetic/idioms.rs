//! Sequences that optimizers recognize: each has its meaning only if its parts are exactly as expected.

use super::draft::{KernelDraft, bits_of, immediate_of};
use super::forms::IntegerType;
use crate::stream::Draw;

const WORD: IntegerType = IntegerType { bits: 32, signed: false };
const SIGNED: IntegerType = IntegerType { bits: 32, signed: true };

/// Draws a word from a list.
fn word<'a>(draw: &mut Draw, words: &[&'a str]) -> &'a str {
    words[draw.within(0..words.len())]
}

/// Writes an idiom.
pub(super) fn write(draft: &mut KernelDraft, draw: &mut Draw) {
    const IDIOMS: &[fn(&mut KernelDraft, &mut Draw)] = &[
        rotation, saturation, clamp, extremes, sign, average, byte_mask, field, carry, known_bits,
        comparison, halves, pairs, guarded, narrowing, magnitude, scaled_sum, logic,
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
        x = draft.use_in(32, opcode, &[&x, &by]);
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
    let x = draft.value(draw, 32);
    let (at, length) = (bits_of(draw, 32).to_string(), bits_of(draw, 32).to_string());
    let part = draft.set(32, word(draw, &["bfe.u32", "bfe.s32"]), &[&x, &at, &length]);
    let (to, width) = (bits_of(draw, 32).to_string(), bits_of(draw, 32).to_string());
    match draw.below(3) {
        0 => draft.use_in(32, "shl.b32", &[&part, &to]),
        1 => {
            let y = draft.value(draw, 32);
            draft.use_in(32, "bfi.b32", &[&part, &y, &to, &width])
        }
        _ => draft.use_in(32, word(draw, &["bfe.u32", "bfe.s32"]), &[&part, &to, &width]),
    };
}

/// A sum or a difference of 64 or 96 bits, word by word.
fn carry(draft: &mut KernelDraft, draw: &mut Draw) {
    let opcodes = match draw.below(3) {
        0 => ["sub.cc.u32", "subc.cc.u32", "subc.u32"],
        1 => ["mad.lo.cc.u32", "madc.hi.cc.u32", "addc.u32"],
        _ => ["add.cc.u32", "addc.cc.u32", "addc.u32"],
    };
    let mut sources = Vec::new();
    for _ in 0..7 {
        sources.push(if draw.below(4) == 0 { immediate_of(draw, WORD) } else { draft.value(draw, 32) });
    }
    for (nth, opcode) in opcodes.iter().enumerate() {
        let mut own = vec![sources[2 * nth].as_str(), sources[2 * nth + 1].as_str()];
        if opcode.starts_with("mad") {
            own.push(sources[6].as_str());
        }
        draft.use_in(32, opcode, &own);
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
    let order = word(draw, &["lt", "le", "gt", "ge", "eq", "ne"]);
    let p = draft.use_in(1, &format!("setp.{order}.{ty}"), &[&moved, &bound]);
    let (a, b) = (draft.value(draw, bits), draft.value(draw, bits));
    draft.use_in(bits, &format!("selp.b{bits}"), &[&a, &b, &p]);
}

/// A word as two halves.
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
