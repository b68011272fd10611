//! Loops and branches: bounds and conditions, which on a warp differ between its lanes, and values that are kept across
//! them.

use super::draft::{KernelDraft, immediate_of};
use super::forms::{ArithmeticForm, IntegerType};
use super::{idioms, known};
use crate::stream::Draw;

/// How deep blocks are nested.
const DEPTH: u32 = 2;

/// A register that a block changes and that keeps its value behind it.
struct KeptRegister {
    name: String,
    bits: u32,
}

/// Creates a kernel for one thread, or for a warp in which each lane has an input and an output of its own.
pub(super) fn kernel(draw: &mut Draw, forms: &[ArithmeticForm], on_a_warp: bool) -> KernelDraft {
    let mut draft = KernelDraft::new(1);
    if on_a_warp {
        draft.separate_lanes(draw);
    }
    for _ in 0..1 + draw.below(3) {
        straight(&mut draft, draw, forms);
        block(&mut draft, draw, forms, DEPTH);
    }
    straight(&mut draft, draw, forms);
    draft
}

/// Writes a few instructions without branches.
fn straight(draft: &mut KernelDraft, draw: &mut Draw, forms: &[ArithmeticForm]) {
    for _ in 0..draw.below(3) {
        match draw.below(6) {
            0 | 1 => idioms::write(draft, draw),
            2 => known::write(draft, draw),
            3 => exchange(draft, draw),
            _ => {
                let form = draw.pick(forms);
                draft.instruction(draw, form, None);
            }
        }
    }
}

/// Writes an instruction on which the lanes meet; the whole warp has to reach it.
fn exchange(draft: &mut KernelDraft, draw: &mut Draw) {
    if draft.is_in_block() || draft.lane().is_none() {
        return idioms::write(draft, draw);
    }
    match draw.below(3) {
        0 => {
            let p = draft.value(draw, 1);
            draft.use_in(32, "vote.sync.ballot.b32", &[&p, "-1"]);
        }
        1 => {
            let p = draft.value(draw, 1);
            let opcode = *draw.pick(&["vote.sync.any.pred", "vote.sync.all.pred"]);
            draft.use_in(1, opcode, &[&p, "-1"]);
        }
        _ => {
            let x = draft.value(draw, 32);
            let by = (1 << draw.below(5)).to_string();
            draft.use_in(32, "shfl.sync.bfly.b32", &[&x, &by, "0x1f", "-1"]);
        }
    }
}

/// Writes a branch around instructions, one with two sides, or a loop.
fn block(draft: &mut KernelDraft, draw: &mut Draw, forms: &[ArithmeticForm], depth: u32) {
    let kept: Vec<KeptRegister> = (0..1 + draw.below(3)).map(|_| keep(draft, draw)).collect();
    match draw.below(5) {
        0 => {
            let (p, negated) = condition(draft, draw);
            let end = draft.label();
            draft.lines.push(format!("@{negated}{p} bra {end}"));
            body(draft, draw, forms, (depth, &kept));
            draft.lines.push(format!("{end}:"));
        }
        1 => {
            let (p, negated) = condition(draft, draw);
            let (other, end) = (draft.label(), draft.label());
            draft.lines.push(format!("@{negated}{p} bra {other}"));
            body(draft, draw, forms, (depth, &kept));
            draft.lines.push(format!("bra {end}"));
            draft.lines.push(format!("{other}:"));
            body(draft, draw, forms, (depth, &kept));
            draft.lines.push(format!("{end}:"));
        }
        _ => write_loop(draft, draw, forms, (depth, &kept)),
    }
    kept.iter().for_each(|register| draft.mark_changed(&register.name));
}

/// Sets a register to a value, so that blocks may change it.
fn keep(draft: &mut KernelDraft, draw: &mut Draw) -> KeptRegister {
    let bits = *draw.pick(&[32, 32, 32, 64, 16]);
    let initial = match draw.below(4) {
        0 => immediate_of(draw, IntegerType { bits, signed: false }),
        _ => draft.value(draw, bits),
    };
    KeptRegister { name: draft.use_in(bits, &format!("mov.b{bits}"), &[&initial]), bits }
}

/// Returns a predicate and, if it is to be negated, `!`.
fn condition(draft: &mut KernelDraft, draw: &mut Draw) -> (String, &'static str) {
    let p = match (draft.lane(), draw.below(3)) {
        (Some(lane), 0) => {
            let opcode = *draw.pick(&["setp.lt.u32", "setp.ge.s32", "setp.eq.u32", "setp.gt.u32"]);
            let bound = draw.below(33).to_string();
            draft.use_in(1, opcode, &[&lane, &bound])
        }
        (Some(lane), 1) => {
            let bit = draft.set(32, "and.b32", &[&lane, &(1 << draw.below(5)).to_string()]);
            draft.use_in(1, "setp.ne.u32", &[&bit, "0"])
        }
        _ => draft.value(draw, 1),
    };
    draft.mark_used(&[&p]);
    (p, if draw.below(2) == 0 { "" } else { "!" })
}

/// Writes a loop of at most seven rounds; their number often differs between the lanes.
fn write_loop(
    draft: &mut KernelDraft,
    draw: &mut Draw,
    forms: &[ArithmeticForm],
    within: (u32, &[KeptRegister]),
) {
    let mask = (*draw.pick(&[1, 3, 7])).to_string();
    let bound = match (draft.lane(), draw.below(4)) {
        (_, 0) => draw.below(6).to_string(),
        (Some(lane), 1) => draft.set(32, "and.b32", &[&lane, &mask]),
        (_, 2) => {
            let uniform = draft.set(32, "ld.param.u32", &["[s0]"]);
            draft.use_in(32, "and.b32", &[&uniform, &mask])
        }
        _ => {
            let x = draft.value(draw, 32);
            draft.set(32, "and.b32", &[&x, &mask])
        }
    };
    draft.mark_used(&[&bound]);
    let (again, end) = (draft.label(), draft.label());
    let is_counted_down = draw.below(4) == 0 && bound.starts_with('%');
    let counter = draft.set(32, "mov.b32", &[if is_counted_down { &bound } else { "0" }]);
    draft.mark_used(&[&counter]);
    let (step, compared) = match is_counted_down {
        true => (format!("add.s32 {counter}, {counter}, -1"), format!("{counter}, 0")),
        false => (format!("add.s32 {counter}, {counter}, 1"), format!("{counter}, {bound}")),
    };
    let goes_on = if is_counted_down { "setp.gt.s32" } else { *draw.pick(&["setp.lt.u32", "setp.lt.s32"]) };
    let p = draft.condition_register();
    draft.lines.push(format!("{goes_on} {p}, {compared}"));
    if draw.below(2) == 0 {
        draft.lines.push(format!("@!{p} bra {end}"));
    }
    draft.lines.push(format!("{again}:"));
    body(draft, draw, forms, within);
    draft.lines.push(step);
    if draw.below(4) == 0 {
        // Behind a loop that is skipped its registers are not set.
        let opened = draft.open_block();
        let (leaves, negated) = condition(draft, draw);
        draft.close_block(opened);
        draft.lines.push(format!("@{negated}{leaves} bra {end}"));
    }
    draft.lines.push(format!("{goes_on} {p}, {compared}"));
    draft.lines.push(format!("@{p} bra {again}"));
    draft.lines.push(format!("{end}:"));
}

/// Writes what stands within a block: its values are visible only there, and go into the kept registers.
fn body(
    draft: &mut KernelDraft,
    draw: &mut Draw,
    forms: &[ArithmeticForm],
    (depth, kept): (u32, &[KeptRegister]),
) {
    let opened = draft.open_block();
    for _ in 0..1 + draw.below(2) {
        straight(draft, draw, forms);
    }
    if depth > 1 && draw.below(3) == 0 {
        block(draft, draw, forms, depth - 1);
    }
    for register in kept {
        let KeptRegister { name, bits } = register;
        let value = draft.value(draw, *bits);
        let line = match draw.below(6) {
            0 | 1 => format!("mov.b{bits} {name}, {value}"),
            2 | 3 => format!("add.s{bits} {name}, {name}, {value}"),
            4 => format!("xor.b{bits} {name}, {value}, {name}"),
            _ => format!("max.s{bits} {name}, {name}, {value}"),
        };
        draft.lines.push(line);
    }
    for (name, bits) in draft.close_block(opened) {
        if let Some(into) = kept.iter().find(|register| register.bits == bits) {
            draft.lines.push(format!("xor.b{bits} {}, {}, {name}", into.name, into.name));
        }
    }
}
