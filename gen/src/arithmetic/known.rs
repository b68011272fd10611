//! Values with bits or a range that a compiler knows, and instructions that it may decide or simplify by them:
//! comparisons, carries, fields, products.

use super::draft::{KernelDraft, bits_of, immediate_of};
use super::forms::IntegerType;
use super::idioms::{ORDERS, word};
use crate::stream::Draw;

const SIGNED: IntegerType = IntegerType { bits: 32, signed: true };

/// A word with a limited range, and a number at an end of the range.
struct LimitedWord {
    name: String,
    limit: i64,
}

/// Writes a value with a limited range and something that depends on the range.
pub(super) fn write(draft: &mut KernelDraft, draw: &mut Draw) {
    const USES: &[fn(&mut KernelDraft, &mut Draw, &LimitedWord)] =
        &[comparison, guard, carry, field, square, product, saturation, extreme, mask, shift, sign];
    let mut value = limited(draft, draw);
    for _ in 0..draw.below(3) {
        value = limited_again(draft, draw, &value);
    }
    draft.mark_used(&[&value.name]);
    draw.pick(USES)(draft, draw, &value);
}

/// Writes an instruction whose result has a limited range.
fn limited(draft: &mut KernelDraft, draw: &mut Draw) -> LimitedWord {
    let x = draft.value(draw, 32);
    let count = draw.below(32);
    let ones = (1i64 << count) - 1;
    let by = count.to_string();
    let (name, limit) = match draw.below(16) {
        0 | 1 => {
            // Low bits, high bits, one bit.
            let bits = *draw.pick(&[ones, ones, !ones, i32::MIN.into(), 1 << count]);
            (draft.set(32, word(draw, &["and.b32", "or.b32"]), &[&x, &limit_of(bits)]), bits)
        }
        2 => (draft.set(32, "shr.u32", &[&x, &by]), u32::MAX as i64 >> count),
        3 => (draft.set(32, "shr.s32", &[&x, &by]), i32::MAX as i64 >> count),
        4 => (draft.set(32, "shl.b32", &[&x, &by]), 1 << count),
        5 => (draft.set(32, "cnot.b32", &[&x]), 1),
        6 => (draft.set(32, "popc.b32", &[&x]), 32),
        7 => (draft.set(32, "clz.b32", &[&x]), 32),
        8 => (draft.set(32, word(draw, &["bfind.u32", "bfind.s32", "bfind.shiftamt.u32"]), &[&x]), 31),
        9 => {
            let length = bits_of(draw, 32);
            let opcode = word(draw, &["bfe.u32", "bfe.s32"]);
            (draft.set(32, opcode, &[&x, &by, &length.to_string()]), (1 << length.min(31)) - 1)
        }
        10 => {
            let (one, other) = (draw.below(40) as i64 - 20, immediate_of(draw, SIGNED));
            let p = draft.value(draw, 1);
            (draft.set(32, "selp.b32", &[&one.to_string(), &other, &p]), one)
        }
        11 => {
            let bound = draw.below(1 << 17) as i64 - (1 << 16);
            (draft.set(32, word(draw, &["min.s32", "max.s32"]), &[&x, &bound.to_string()]), bound)
        }
        12 => (draft.set(32, "abs.s32", &[&x]), i32::MAX.into()),
        13 => {
            let opcode = word(draw, &["cvt.u32.u8", "cvt.s32.s8", "cvt.u32.u16", "cvt.s32.s16"]);
            (draft.set(32, opcode, &[&x]), *draw.pick(&[127, 255, 32767, 65535]))
        }
        14 => {
            let special = word(draw, &["%ntid.x", "%ntid.y", "%ctaid.x", "%nctaid.y"]);
            (draft.set(32, "mov.u32", &[special]), *draw.pick(&[0, 64, 1023, 1024, 65535]))
        }
        _ => {
            let order = word(draw, &ORDERS);
            let y = draft.value(draw, 32);
            let opcode = format!("set.{order}.u32.{}", word(draw, &["s32", "u32"]));
            (draft.set(32, &opcode, &[&x, &y]), -1)
        }
    };
    LimitedWord { name, limit }
}

/// Writes an instruction that makes another range of a limited one.
fn limited_again(
    draft: &mut KernelDraft,
    draw: &mut Draw,
    LimitedWord { name, limit }: &LimitedWord,
) -> LimitedWord {
    let small = draw.below(6) as i64;
    let by = small.to_string();
    let (name, limit) = match draw.below(10) {
        0 => (draft.use_in(32, "add.s32", &[name, &by]), limit + small),
        1 => (draft.use_in(32, "sub.s32", &[name, &by]), limit - small),
        2 => (draft.use_in(32, "sub.s32", &[&limit_of(*limit), name]), 0),
        3 => (draft.use_in(32, "neg.s32", &[name]), -limit),
        4 => (draft.use_in(32, "not.b32", &[name]), !limit),
        5 => (draft.use_in(32, "xor.b32", &[name, &limit_of(*limit)]), *limit),
        6 => (draft.use_in(32, "shl.b32", &[name, &by]), limit << small),
        7 => (draft.use_in(32, word(draw, &["shr.u32", "shr.s32"]), &[name, &by]), limit >> small),
        8 => (draft.use_in(32, word(draw, &["mul.lo.s32", "mul24.lo.s32"]), &[name, &by]), limit * small),
        _ => (draft.use_in(32, word(draw, &["brev.b32", "cnot.b32", "clz.b32", "popc.b32"]), &[name]), 31),
    };
    LimitedWord { name, limit }
}

/// Prints a limit as a signed word.
fn limit_of(limit: i64) -> String {
    (limit as i32).to_string()
}

/// Draws a number at the end of a range, next to it, or at the end of the type.
fn near(draw: &mut Draw, limit: i64) -> String {
    limit_of(match draw.below(7) {
        0 | 1 => limit,
        2 => limit + 1,
        3 => limit - 1,
        4 => *draw.pick(&[0, 1, -1]),
        5 => i64::from(*draw.pick(&[i32::MIN, i32::MAX])),
        _ => limit / 2,
    })
}

fn comparison(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let opcode = format!("setp.{}.{}", word(draw, &ORDERS), word(draw, &["s32", "u32"]));
    let mut sources = [value.name.clone(), near(draw, value.limit)];
    if draw.below(4) == 0 {
        sources.reverse();
    }
    let p = draft.set(1, &opcode, &[&sources[0], &sources[1]]);
    if draw.below(2) == 0 {
        let x = draft.value(draw, 32);
        draft.use_in(32, "selp.b32", &[&x, &value.name, &p]);
    }
}

/// An instruction under a condition on the value.
fn guard(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let opcode = format!("setp.{}.{}", word(draw, &ORDERS), word(draw, &["s32", "u32"]));
    let p = draft.use_in(1, &opcode, &[&value.name, &near(draw, value.limit)]);
    draft.mark_used(&[&p]);
    let x = draft.value(draw, 32);
    let to = draft.use_in(32, "mov.b32", &[word(draw, &["0", "-1", "7"])]);
    let opcode = word(draw, &["add.s32", "and.b32", "mul.lo.s32", "shr.s32", "sub.s32", "shl.b32"]);
    draft.lines.push(format!("@{}{p} {opcode} {to}, {x}, {}", word(draw, &["", "!"]), value.name));
}

/// A carry that may be known.
fn carry(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let (first, then) =
        *draw.pick(&[("add.cc", "addc"), ("sub.cc", "subc"), ("sub.cc", "subc"), ("add.cc", "addc.cc")]);
    let ty = word(draw, &["u32", "s32"]);
    let other = match draw.below(3) {
        0 => limited(draft, draw).name,
        1 => draft.value(draw, 32),
        _ => near(draw, value.limit),
    };
    let mut sources = [&*value.name, &*other];
    if draw.below(2) == 0 {
        sources.reverse();
    }
    draft.use_in(32, &format!("{first}.{ty}"), &sources);
    let x = draft.value(draw, 32);
    let y = word(draw, &["0", "-1", "1", &x]);
    draft.use_in(32, &format!("{then}.{ty}"), &[&x, y]);
}

/// A field whose place or length is the value.
fn field(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let place = draft.use_in(32, "and.b32", &[&value.name, word(draw, &["31", "63", "15", "255"])]);
    let (x, y) = (draft.value(draw, 32), draft.value(draw, 32));
    let other = bits_of(draw, 32).to_string();
    let mut at = [&*place, &*other];
    if draw.below(2) == 0 {
        at.reverse();
    }
    match draw.below(6) {
        0 => draft.use_in(32, word(draw, &["bfe.u32", "bfe.s32"]), &[&x, at[0], at[1]]),
        1 => draft.use_in(32, "bfi.b32", &[&x, &y, at[0], at[1]]),
        2 => draft.use_in(32, word(draw, &["bmsk.clamp.b32", "bmsk.wrap.b32"]), &[at[0], at[1]]),
        3 => draft.use_in(32, word(draw, &["szext.clamp.s32", "szext.wrap.u32"]), &[&x, &place]),
        4 => draft.use_in(32, "prmt.b32", &[&x, &y, &value.name]),
        _ => {
            let opcode =
                word(draw, &["shf.l.wrap.b32", "shf.r.wrap.b32", "shf.l.clamp.b32", "shf.r.clamp.b32"]);
            draft.use_in(32, opcode, &[&x, &y, &place])
        }
    };
}

/// The square of the value, or its product with a related one, and some bits of it.
fn square(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let other = match draw.below(3) {
        0 => draft.set(32, word(draw, &["add.s32", "xor.b32", "or.b32"]), &[&value.name, "1"]),
        _ => value.name.clone(),
    };
    let opcode = word(draw, &["mul.lo.u32", "mul.lo.s32", "mul.hi.u32", "mul.hi.s32", "mul24.lo.u32"]);
    let product = draft.use_in(32, opcode, &[&value.name, &other]);
    let by = word(draw, &["1", "2", "3", "7", "8", "15", "31"]);
    draft.use_in(32, word(draw, &["and.b32", "shr.u32", "shr.s32", "or.b32"]), &[&product, by]);
}

fn product(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let other = match draw.below(3) {
        0 => limited(draft, draw).name,
        1 => draft.value(draw, 32),
        _ => near(draw, value.limit),
    };
    let product = draft.use_in(64, word(draw, &["mul.wide.s32", "mul.wide.u32"]), &[&value.name, &other]);
    let by = bits_of(draw, 64).to_string();
    let shifted =
        draft.use_in(64, word(draw, &["shr.u64", "shr.s64", "shl.b64", "and.b64"]), &[&product, &by]);
    if draw.below(2) == 0 {
        draft.use_in(32, word(draw, &["cvt.u32.u64", "cvt.sat.s32.s64"]), &[&shifted]);
    }
}

fn saturation(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    match draw.below(3) {
        0 => {
            let opcode =
                word(draw, &["cvt.sat.u8.s32", "cvt.sat.s8.u32", "cvt.sat.s16.s32", "cvt.sat.u16.u32"]);
            draft.use_in(32, opcode, &[&value.name])
        }
        _ => {
            let mut sources = [value.name.clone(), near(draw, value.limit)];
            if draw.below(2) == 0 {
                sources.reverse();
            }
            draft.use_in(32, word(draw, &["add.sat.s32", "sub.sat.s32"]), &[&sources[0], &sources[1]])
        }
    };
}

fn extreme(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let opcode = word(draw, &["min.s32", "max.s32", "min.u32", "max.u32"]);
    let least = draft.use_in(32, opcode, &[&value.name, &near(draw, value.limit)]);
    let opcode = word(draw, &["min.s32", "max.s32", "min.u32", "max.u32", "add.s32", "sub.s32"]);
    let x = draft.value(draw, 32);
    draft.use_in(32, opcode, &[&least, &x]);
}

/// An instruction that asks for the sign of the value or continues it.
fn sign(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let name = &value.name;
    match draw.below(6) {
        0 => draft.use_in(32, word(draw, &["shr.u32", "shr.s32"]), &[name, "31"]),
        1 => draft.use_in(32, word(draw, &["abs.s32", "neg.s32"]), &[name]),
        2 => {
            let (x, y) = (draft.value(draw, 32), draft.value(draw, 32));
            draft.use_in(32, "slct.b32.s32", &[&x, &y, name])
        }
        3 => draft.use_in(64, "cvt.s64.s32", &[name]),
        4 => {
            draft.use_in(32, word(draw, &["div.s32", "rem.s32"]), &[name, word(draw, &["2", "8", "-4", "7"])])
        }
        _ => draft.use_in(32, "prmt.b32", &[name, name, word(draw, &["0xffff", "0xb", "0x8a10"])]),
    };
}

/// Bits of the value, compared or selected by.
fn mask(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let masked = draft.use_in(
        32,
        word(draw, &["and.b32", "or.b32", "xor.b32"]),
        &[&value.name, &near(draw, value.limit)],
    );
    let (x, y) = (draft.value(draw, 32), draft.value(draw, 32));
    match draw.below(3) {
        0 => {
            draft.use_in(1, word(draw, &["setp.eq.u32", "setp.ne.s32"]), &[&masked, &near(draw, value.limit)])
        }
        1 => draft.use_in(32, "slct.b32.s32", &[&x, &y, &masked]),
        _ => draft.use_in(32, word(draw, &["sub.s32", "add.s32", "mul.lo.s32"]), &[&masked, &x]),
    };
}

fn shift(draft: &mut KernelDraft, draw: &mut Draw, value: &LimitedWord) {
    let bits = *draw.pick(&[16, 32, 32, 64]);
    let x = draft.value(draw, bits);
    let opcode = format!("{}{bits}", word(draw, &["shl.b", "shr.u", "shr.s"]));
    let shifted = draft.use_in(bits, &opcode, &[&x, &value.name]);
    if draw.below(2) == 0 {
        let opcode = format!("{}{bits}", word(draw, &["and.b", "or.b", "xor.b"]));
        let by = immediate_of(draw, IntegerType { bits, signed: false });
        draft.use_in(bits, &opcode, &[&shifted, &by]);
    }
}

/// Computes with 16 bits and uses the result with more.
pub(super) fn short(draft: &mut KernelDraft, draw: &mut Draw) {
    let mut x = draft.value(draw, 16);
    for _ in 0..1 + draw.below(2) {
        let by = draw.below(1 << 15).to_string();
        let y = if draw.below(2) == 0 { draft.value(draw, 16) } else { by };
        x = match draw.below(4) {
            0 => draft.use_in(16, word(draw, &["neg.s16", "abs.s16", "not.b16", "cnot.b16"]), &[&x]),
            1 => {
                let opcode = word(draw, &["shl.b16", "shr.u16", "shr.s16"]);
                draft.use_in(16, opcode, &[&x, &bits_of(draw, 16).to_string()])
            }
            _ => {
                let opcode = word(
                    draw,
                    &[
                        "add.s16",
                        "sub.s16",
                        "min.s16",
                        "max.s16",
                        "min.u16",
                        "max.u16",
                        "mul.lo.s16",
                        "and.b16",
                    ],
                );
                draft.use_in(16, opcode, &[&x, &y])
            }
        };
    }
    match draw.below(4) {
        0 => {
            let opcode =
                word(draw, &["cvt.s32.s16", "cvt.u32.u16", "cvt.u32.s16", "cvt.s32.u16", "cvt.s32.s8"]);
            draft.use_in(32, opcode, &[&x])
        }
        1 => {
            let y = draft.value(draw, 16);
            draft.use_in(32, word(draw, &["mul.wide.s16", "mul.wide.u16"]), &[&x, &y])
        }
        2 => draft.use_in(64, word(draw, &["cvt.s64.s16", "cvt.u64.u16", "cvt.s64.u16"]), &[&x]),
        _ => {
            let opcode = format!("setp.{}.{}", word(draw, &ORDERS), word(draw, &["s16", "u16"]));
            let bound = word(draw, &["0", "1", "32767", "255", "128"]);
            draft.use_in(1, &opcode, &[&x, bound])
        }
    };
}
