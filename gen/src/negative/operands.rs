//! Edits of operands: kernels with an operand in a form that the specification rejects (6.4).

use super::pair::ProgramPair;
use crate::draft::Draft;

/// A kernel with `@` for the edited instructions, which may use the variable `v1`, the function `v2`, registers of every kind
/// and a label.
const KERNEL: &str = "
    .global .align 16 .u32 v1[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    .func v2() { ret; }
    .visible .entry v0(.param .u64 out)
    {
        .reg .u64 o, p;
        .reg .u32 a, b, c, d;
        .reg .f32 f;
        .reg .f64 g;
        .reg .pred q;
        .reg .v2 .u32 v;
        .reg .v4 .u32 w;
        ld.param.u64 o, [out];
        mov.u64 p, v1;
        mov.u32 a, 1;
        mov.u32 b, 2;
        @
    L:
        st.global.u32 [o], a;
        ret;
    }";

/// Byte offsets within `v1`.
pub(super) const INSIDE: &[&str] = &["0", "4", "8", "12", "16", "20", "24", "28"];

/// Puts the valid and the broken instruction into the kernel, with the same choice from `any` in place of `#`.
pub(super) fn pair(d: &mut Draft<'_, '_>, any: &[&str], counterpart: &str, broken: &str) -> ProgramPair {
    let chosen = d.pick(any);
    ProgramPair::around(KERNEL, &counterpart.replace('#', chosen), &broken.replace('#', chosen))
}

/// Puts the valid and the broken instruction into the kernel unchanged.
pub(super) fn plain(counterpart: &str, broken: &str) -> ProgramPair {
    ProgramPair::around(KERNEL, counterpart, broken)
}

pub(super) fn wide_offset(d: &mut Draft<'_, '_>) -> ProgramPair {
    let base = d.pick(&["v1", "p"]);
    let counterpart = format!("ld.global.u32 a, [{base} + 8];");
    let broken = format!("ld.global.u32 a, [{base} + #];");
    pair(
        d,
        &["2147483648", "0x80000004", "4294967296", "-2147483652", "0x100000000000"],
        &counterpart,
        &broken,
    )
}

pub(super) fn behind_the_vector(d: &mut Draft<'_, '_>) -> ProgramPair {
    let (counterpart, broken) = d.pick(&[(".y", ".z"), (".x", ".w"), (".g", ".b"), (".r", ".a")]);
    let [valid, broken] =
        [counterpart, broken].map(|element| format!("mov.v2.u32 v, {{a, b}}; mov.u32 c, v{element};"));
    plain(&valid, &broken)
}
