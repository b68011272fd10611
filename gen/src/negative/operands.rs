//! Edits of operands: kernels that use one in a form that the text refuses (6.4).

use ptxsmith_syntax::{Item, parse};

use super::pair::Pair;
use crate::draft::Draft;

/// A kernel with this body, and what the body may use: a variable `v1`, a function `v2`, registers of every sort and a
/// label.
fn kernel(body: &str) -> Vec<Item> {
    let text = format!(
        ".version 7.8 .target sm_80
        .global .align 16 .u32 v1[8] = {{1, 2, 3, 4, 5, 6, 7, 8}};
        .func v2() {{ ret; }}
        .visible .entry v0(.param .u64 out)
        {{
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
            {body}
        L:
            st.global.u32 [o], a;
            ret;
        }}"
    );
    let mut items = parse(&text).unwrap_or_else(|error| panic!("{}", error.render("", &text))).items;
    items.drain(..2);
    items
}

/// The same kernel around two instructions.
fn pair(twin: &str, broken: &str) -> Pair {
    Pair::new(kernel(twin), kernel(broken))
}

/// A byte offset inside of `v1`.
fn inside(d: &mut Draft<'_, '_>) -> u64 {
    4 * d.below(8) as u64
}

pub(super) fn label_moved(_: &mut Draft<'_, '_>) -> Pair {
    pair("mov.u64 p, v1;", "mov.u64 p, L;")
}

pub(super) fn label_loaded(d: &mut Draft<'_, '_>) -> Pair {
    let offset = inside(d);
    pair(&format!("ld.global.u32 a, [v1 + {offset}];"), &format!("ld.global.u32 a, [L + {offset}];"))
}

pub(super) fn function_loaded(_: &mut Draft<'_, '_>) -> Pair {
    pair("ld.global.u32 a, [v1];", "ld.global.u32 a, [v2];")
}

pub(super) fn function_branched(_: &mut Draft<'_, '_>) -> Pair {
    pair("bra L;", "bra v2;")
}

pub(super) fn function_added(d: &mut Draft<'_, '_>) -> Pair {
    let more = inside(d);
    pair(&format!("add.u64 p, p, {more};"), &format!("add.u64 p, v2, {more};"))
}

pub(super) fn float_register(d: &mut Draft<'_, '_>) -> Pair {
    let register = d.pick(&["f", "g"]);
    pair("ld.global.u32 a, [p];", &format!("ld.global.u32 a, [{register}];"))
}

pub(super) fn predicate_register(_: &mut Draft<'_, '_>) -> Pair {
    pair("ld.global.u32 a, [p];", "ld.global.u32 a, [q];")
}

pub(super) fn vector_register(_: &mut Draft<'_, '_>) -> Pair {
    pair("ld.global.u32 a, [p];", "ld.global.u32 a, [v];")
}

pub(super) fn float_offset(d: &mut Draft<'_, '_>) -> Pair {
    let base = d.pick(&["v1", "p"]);
    pair(&format!("ld.global.u32 a, [{base} + 4];"), &format!("ld.global.u32 a, [{base} + 4.0];"))
}

pub(super) fn wide_offset(d: &mut Draft<'_, '_>) -> Pair {
    let base = d.pick(&["v1", "p"]);
    let offset = d.pick(&["2147483648", "0x80000004", "4294967296", "-2147483652", "0x100000000000"]);
    pair(&format!("ld.global.u32 a, [{base} + 8];"), &format!("ld.global.u32 a, [{base} + {offset}];"))
}

pub(super) fn wide_address(d: &mut Draft<'_, '_>) -> Pair {
    let address = d.pick(&["4294967296", "0x100000010", "-4"]);
    let load = |at: &str| format!("st.local.u32 [16], a; ld.local.u32 b, [{at}];");
    pair(&load("16"), &load(address))
}

pub(super) fn float_index(d: &mut Draft<'_, '_>) -> Pair {
    let index = d.pick(&["1.0", "0.0", "0f3f800000"]);
    pair("ld.global.u32 a, v1[1];", &format!("ld.global.u32 a, v1[{index}];"))
}

pub(super) fn float_index_register(d: &mut Draft<'_, '_>) -> Pair {
    let register = d.pick(&["f", "g", "q"]);
    pair("ld.global.u32 a, v1[b];", &format!("ld.global.u32 a, v1[{register}];"))
}

pub(super) fn product_index(d: &mut Draft<'_, '_>) -> Pair {
    let operator = d.pick(&["*", "<<", "/", "&"]);
    pair("ld.global.u32 a, v1[b + 2];", &format!("ld.global.u32 a, v1[b {operator} 2];"))
}

pub(super) fn register_sum_index(_: &mut Draft<'_, '_>) -> Pair {
    pair("ld.global.u32 a, v1[b + 1];", "ld.global.u32 a, v1[b + a];")
}

pub(super) fn behind_the_vector(d: &mut Draft<'_, '_>) -> Pair {
    let (twin, broken) = d.pick(&[(".y", ".z"), (".x", ".w"), (".g", ".b"), (".r", ".a")]);
    pair(
        &format!("mov.v2.u32 v, {{a, b}}; mov.u32 c, v{twin};"),
        &format!("mov.v2.u32 v, {{a, b}}; mov.u32 c, v{broken};"),
    )
}

pub(super) fn element_of_scalar(d: &mut Draft<'_, '_>) -> Pair {
    let suffix = d.pick(&[".x", ".r", ".y"]);
    pair(
        &format!("mov.v4.u32 w, {{a, b, a, b}}; mov.u32 c, w{suffix};"),
        &format!("mov.v4.u32 w, {{a, b, a, b}}; mov.u32 c, a{suffix};"),
    )
}

pub(super) fn short_list(d: &mut Draft<'_, '_>) -> Pair {
    let list = d.pick(&["{a, b}", "{a}", "{a, b, c}"]);
    pair("ld.global.v4.u32 {a, b, c, d}, [v1];", &format!("ld.global.v4.u32 {list}, [v1];"))
}
