//! Edits of programs with addresses, masks, attributes and function bodies.

use super::{
    edits::{behind, integer_type, literal, made, space},
    pair::ProgramPair,
};
use crate::{draft::Draft, nonterminal::Nonterminal};

// Pieces

/// Declares a variable `v1` for the edit to use its address.
fn target(d: &mut Draft<'_, '_>) -> String {
    let ty = integer_type(d);
    format!("{} {ty} v1;", space(d))
}

/// Chooses `.func` or `.entry`.
fn function_kind(d: &mut Draft<'_, '_>) -> &'static str {
    d.pick(&[".func", ".entry"])
}

/// Creates a `.u64` variable that holds an address in the valid counterpart and `broken` in the broken program.
fn word(d: &mut Draft<'_, '_>, broken: &str) -> ProgramPair {
    let target = target(d);
    behind(d, &target, ".u64", "v1", broken)
}

/// Like [`word`], with one of several broken values.
pub(super) fn word_of(d: &mut Draft<'_, '_>, any: &[&str]) -> ProgramPair {
    let broken = d.pick(any);
    word(d, broken)
}

fn mask(d: &mut Draft<'_, '_>) -> String {
    format!("{:#x}", 0xff_u64 << (8 * d.below(8)))
}

/// Creates a `.u8` variable that holds one byte of an address in the valid counterpart and `broken` in the broken program.
fn byte(d: &mut Draft<'_, '_>, before: &str, broken: &str) -> ProgramPair {
    let counterpart = format!("{}(v1)", mask(d));
    behind(d, before, ".u8", &counterpart, broken)
}

// The edits, in the order of the table

pub(super) fn name_in_dimension(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (target, ty) = (target(d), integer_type(d));
    ProgramPair::around(&format!("{target} {} {ty} v0[@];", space(d)), "2", "v1")
}

pub(super) fn name_in_align(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (target, ty) = (target(d), integer_type(d));
    ProgramPair::around(&format!("{target} {} .align @ {ty} v0;", space(d)), "8", "v1")
}

pub(super) fn other_space(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (ty, of_target) = (integer_type(d), space(d));
    let value = if d.byte() < 128 { "v1" } else { "generic(v1)" };
    ProgramPair::around(&format!("@ {ty} v1; {} .u64 v0 = {value};", space(d)), of_target, ".shared")
}

pub(super) fn other_type(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (target, space) = (target(d), space(d));
    let other =
        d.pick(&[".s64", ".b64", ".f64", ".s32", ".b32", ".f32", ".u16", ".s16", ".b16", ".s8", ".b8"]);
    ProgramPair::around(&format!("{target} {space} @ v0 = v1;"), ".u64", other)
}

pub(super) fn kernel_before_3_1(d: &mut Draft<'_, '_>) -> ProgramPair {
    let text = format!(".entry v1() {{ ret; }} {} .u64 v0 = v1;", space(d));
    // Implementations support kernels that launch kernels from sm_35 on, and PTX 3.0 does not have that target.
    ProgramPair::since(&text, ["3.1", "sm_35"], ["3.0", "sm_30"])
}

pub(super) fn byte_without_mask(d: &mut Draft<'_, '_>) -> ProgramPair {
    let target = target(d);
    byte(d, &target, "v1")
}

/// Creates a `.u64` variable that holds an address with an offset, which replaces `#`.
pub(super) fn offset(d: &mut Draft<'_, '_>, counterpart: &str, broken: &str) -> ProgramPair {
    let offset = (1 + d.below(64)).to_string();
    let target = target(d);
    behind(d, &target, ".u64", &counterpart.replace('#', &offset), &broken.replace('#', &offset))
}

/// The valid counterpart holds a function's address; the broken program adds an offset or applies `generic()`.
pub(super) fn more_than_a_function(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (kind, space) = (function_kind(d), space(d));
    let broken = if d.byte() < 128 { "v1 + 8" } else { "generic(v1)" };
    ProgramPair::around(&format!("{kind} v1() {{ ret; }} {space} .u64 v0 = @;"), "v1", broken)
}

pub(super) fn infix_of_address(d: &mut Draft<'_, '_>) -> ProgramPair {
    let op = d.pick(&["*", "/", "%", "<<", ">>", "&", "|", "^", "<", "==", "&&"]);
    let broken = format!("v1 {op} {}", 1 + d.below(8));
    word(d, &broken)
}

pub(super) fn other_mask(d: &mut Draft<'_, '_>) -> ProgramPair {
    let mask = d.pick(&[
        "0",
        "0x0",
        "1",
        "0x7f",
        "0xf",
        "0xff0",
        "0xffff",
        "0x1ff",
        "0xff00ff",
        "0xffffffffffffffff",
        "256",
        "0x1fe",
    ]);
    let target = target(d);
    let operand = if d.byte() < 192 { "v1" } else { "1000" };
    byte(d, &target, &format!("{mask}({operand})"))
}

pub(super) fn mask_of_float(d: &mut Draft<'_, '_>) -> ProgramPair {
    let mask = mask(d);
    let float = d.pick(&["1.0", "0d3ff0000000000000", "0f3f800000", "2e3"]);
    let target = target(d);
    byte(d, &target, &format!("{mask}({float})"))
}

pub(super) fn mask_of_function(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (kind, mask, target) = (function_kind(d), mask(d), target(d));
    byte(d, &format!("{target} {kind} v2() {{ ret; }}"), &format!("{mask}(v2)"))
}

pub(super) fn mask_of_mask(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (outer, inner, target) = (mask(d), mask(d), target(d));
    byte(d, &target, &format!("{outer}({inner}(v1))"))
}

pub(super) fn mask_before_7_1(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (target, mask) = (target(d), mask(d));
    let text = format!("{target} {} .u8 v0 = {mask}(v1);", space(d));
    ProgramPair::since(&text, ["7.1", "sm_80"], ["7.0", "sm_80"])
}

pub(super) fn mask_of_constant_before_7_3(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (mask, value) = (mask(d), literal(d));
    let text = format!("{} .u8 v0 = {mask}({value});", space(d));
    ProgramPair::since(&text, ["7.3", "sm_80"], ["7.2", "sm_80"])
}

pub(super) fn label(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (target, kind) = (target(d), function_kind(d));
    ProgramPair::around(&format!("{target} {kind} v2() {{ .global .u64 v0 = @; v3: ret; }}"), "v1", "v3")
}

pub(super) fn unknown_name(d: &mut Draft<'_, '_>) -> ProgramPair {
    let unknown = d.pick(&["v9", "V1", "v1_", "_v1", "%tid"]);
    let form = d.pick(&["#", "# + 4", "generic(#)"]);
    word(d, &form.replace('#', unknown))
}

/// Creates a variable with a valid attribute, and in the broken program with one of several others.
pub(super) fn attribute(d: &mut Draft<'_, '_>, counterpart: &str, any: &[&str]) -> ProgramPair {
    let ty = integer_type(d);
    let broken = d.pick(any);
    ProgramPair::around(&format!(".global .attribute(@) {ty} v0;"), counterpart, broken)
}

pub(super) fn initialized_in_a_body(d: &mut Draft<'_, '_>) -> ProgramPair {
    let value = made(d, Nonterminal::LowBits, 1);
    let space = d.pick(&[".reg", ".local", ".shared"]);
    let text = format!(".entry v2() {{ {space} .u32 v0@; ret; }}");
    ProgramPair::around(&text, "", &format!(" = {value}"))
}
