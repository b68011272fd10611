//! Instructions with observable results: the kernel writes them to its output buffer.

use super::operands::{HEADER, kernel};
use super::{AxisChoice, PlaceFamily, lines, words};

/// Instructions that write a result to the output buffer. `T` is a type, and also the register named after that type.
const SHOWN: &str = "
st.global.T [o], <>
mov.T T, <>; st.global.T [o], T
mov.T T, 100; add.T T, T, <>; st.global.T [o], T
mov.T T, 100; sub.T T, T, <>; st.global.T [o], T
mov.T T, 100; and.T T, T, <>; st.global.T [o], T
mov.T T, 100; or.T T, T, <>; st.global.T [o], T
mov.T T, 100; xor.T T, T, <>; st.global.T [o], T
mov.T T, 100; mul.lo.T T, T, <>; st.global.T [o], T
mov.T T, 100; max.T T, T, <>; st.global.T [o], T
mov.T T, 100; min.T T, T, <>; st.global.T [o], T
mov.T T, 100; shl.T T, T, <>; st.global.T [o], T
mov.T T, 100; shr.T T, T, <>; st.global.T [o], T
mov.u32 u32, 1; setp.eq.u32 pr, u32, 1; selp.T T, <>, 7, pr; st.global.T [o], T
st.local.T [lu], <>; ld.local.T T, [lu]; st.global.T [o], T
st.shared.v2.T [sd], {<>, <>}; ld.shared.v2.T {T, T}, [sd]; st.global.T [o], T
cvt.u64.T d64, <>; st.global.u64 [o], d64
cvt.s64.T d64, <>; st.global.u64 [o], d64
";

const SHOWN_TYPES: &str = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";

/// Functions that return their argument, in registers and in `.param` variables, and calls that store the result in `x`.
const PASSED: &str = "
.func (.reg .T r) f(.reg .T a) { mov.T r, a; ret; } | .reg .T x; call (x), f, (<>)
.func (.param .T r) f(.param .T a) { .reg .T t; ld.param.T t, [a]; st.param.T [r], t; ret; } | .param .T y; .reg .T x; call (y), f, (<>); ld.param.T x, [y]
";

const PASSED_TYPES: &str = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64";

const CONSTANTS: &str = "
0 1 -1 2 -2 127 128 -128 -129 255 256 -255 -256 32767 32768 -32768 -32769 65535 65536 -65535 -65536 2147483647 2147483648 -2147483648
-2147483649 4294967295 4294967296 -4294967295 -4294967296 9223372036854775807 9223372036854775808 -9223372036854775808
18446744073709551615 1U 255U 4294967295U -1U 010 0x80 0xffffffffffffffff 0b11 WARP_SZ -WARP_SZ WARP_SZ+1 1+1 1-2 ~0 ~0U !0 !5 -(1) 1?-1:2 0?1:-2 1<<31 1<<63
-1>>1 -1>>63 7/2 -7/2 7%4 -7%4 (.u64)-1 (.s64)4294967295 1==1 1<-1 1<-1U 1.0 -1.0 0.5 1e10 0f3f800000 0d3ff0000000000000 1.0+1.0 1.5*2 -0.0 1.0==1.0
";

/// Instructions that show an address, or the value stored there.
const ADDRESSED: &str = "
mov.u64 d64, <>; st.global.u64 [o], d64
mov.b64 d64, <>; st.global.u64 [o], d64
mov.u32 u32, <>; st.global.u32 [o], u32
mov.u64 d64, 8; add.u64 d64, d64, <>; st.global.u64 [o], d64
mov.u64 d64, <>; add.u64 d64, d64, 8; st.global.u64 [o], d64
cvta.global.u64 d64, <>; st.global.u64 [o], d64
mov.u64 d64, <>; cvta.global.u64 d64, d64; st.global.u64 [o], d64
mov.u64 d64, <>; ld.global.u32 u32, [d64+4]; st.global.u32 [o], u32
st.global.u64 [o], <>
mov.b64 {u32, d32}, <>; st.global.v2.u32 [o], {u32, d32}
";

/// Instructions that show the content of memory. `S` is a state space.
const LOADED: &str = "
ld.S.u32 u32, <>; st.global.u32 [o], u32
ld.S.u8 u32, <>; st.global.u32 [o], u32
ld.S.s8 s32, <>; st.global.u32 [o], s32
ld.S.b16 u32, <>; st.global.u32 [o], u32
ld.S.s16 s64, <>; st.global.u64 [o], s64
ld.S.u64 u64, <>; st.global.u64 [o], u64
ld.S.v2.u32 {u32, d32}, <>; st.global.v2.u32 [o], {u32, d32}
ld.S.v2.u16 {u32, d32}, <>; st.global.v2.u32 [o], {u32, d32}
ld.S.v4.u8 {u32, d32, e32, s32}, <>; st.global.v4.u32 [o], {u32, d32, e32, s32}
ld.S.v2.u32 v2, <>; st.global.u32 [o], v2.y
ld.S.f32 f32, <>; st.global.f32 [o], f32
st.S.u32 <>, 5; ld.S.u32 u32, <>; st.global.u32 [o], u32
st.S.u8 <>, 517; ld.S.u8 u32, <>; st.global.u32 [o], u32
st.S.v2.u16 <>, {1, 65538}; ld.S.u32 u32, <>; st.global.u32 [o], u32
";

/// The forms of an operand that refers to a variable `X` at a distance `N`.
const STANDING: &str = "
X
X+N
X-N
X[N]
X[-N]
X[N+1]
";

const DISTANCES: &str = "0 1 2 3 4 5 7 8 12 16 127 128 255 256 4095 4096 8388607 8388608 16777216 2147483647 2147483648 010 0x4 1U 4U WARP_SZ 1+1 2*2 1<<2 (4) -4";

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![
        PlaceFamily { name: "results", axes: vec![of_types(SHOWN), words(CONSTANTS)], write: left },
        PlaceFamily {
            name: "addresses-left",
            axes: vec![forms(ADDRESSED), standing("gq gy gt gg gb gn gn1 ca sa")],
            write: left,
        },
        PlaceFamily {
            name: "loads",
            axes: vec![in_space(LOADED, ".global"), standing("gq gy gt gg")],
            write: left,
        },
        PlaceFamily {
            name: "const-loads",
            axes: vec![in_space(LOADED, ".const"), standing("cq")],
            write: left,
        },
        PlaceFamily {
            name: "shared-loads",
            axes: vec![in_space(LOADED, ".shared"), standing("sq")],
            write: left,
        },
        PlaceFamily {
            name: "arguments",
            axes: vec![of_types_of(PASSED, PASSED_TYPES), words(CONSTANTS)],
            write: passed,
        },
        PlaceFamily {
            name: "local-loads",
            axes: vec![in_space(LOADED, ".local"), standing("lq")],
            write: left,
        },
    ]
}

/// Returns every form with every type in place of `T`, which is also the register named after that type.
pub(super) fn of_types(forms: &str) -> Vec<AxisChoice> {
    of_types_of(forms, SHOWN_TYPES)
}

fn of_types_of(forms: &str, types: &str) -> Vec<AxisChoice> {
    let types = words(types);
    let mut choices = Vec::new();
    for form in lines(forms) {
        choices.extend(types.iter().map(|AxisChoice { text: ty, .. }| {
            AxisChoice::new(&form.text.replace(".T", &format!(".{ty}")).replace('T', ty))
        }));
    }
    choices
}

fn forms(text: &str) -> Vec<AxisChoice> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(AxisChoice::new).collect()
}

fn in_space(text: &str, space: &str) -> Vec<AxisChoice> {
    forms(&text.replace(".S", space))
}

/// Returns each variable in each form and at each distance. Forms other than `X[N]` also occur in brackets.
fn standing(variables: &str) -> Vec<AxisChoice> {
    let mut all = Vec::new();
    for variable in words(variables) {
        for way in lines(STANDING) {
            for distance in words(DISTANCES) {
                let text = way.text.replace('X', &variable.text).replace('N', &distance.text);
                if !way.text.contains('[') {
                    all.push(AxisChoice::new(&format!("[{text}]")));
                }
                all.push(AxisChoice::new(&text));
            }
        }
    }
    all
}

/// Returns a module with a kernel that executes an instruction sequence and writes its result to the output buffer.
pub(super) fn left(chosen: &[&str]) -> String {
    let instructions = chosen[0].replace("<>", chosen[1]);
    let body = format!("ld.param.u64 o, [in];\n{instructions};\n");
    kernel(&body)
}

/// Returns a module with a kernel that passes a constant to a function and writes its result to the output buffer.
fn passed(chosen: &[&str]) -> String {
    let (function, call) = chosen[0].split_once(" | ").expect("a function and a call of it");
    // The stored value has the type of the function's result.
    let ty = function.split(' ').nth(2).expect("a type behind the state space");
    let call = call.replace("<>", chosen[1]);
    format!(
        "{HEADER}{function}\n.entry k(.param .u64 in) {{\n.reg .u64 o;\nld.param.u64 o, [in];\n{call};\nst.global{ty} [o], x;\nret;\n}}\n"
    )
}
