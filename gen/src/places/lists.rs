//! Operands of two parts (6.4.2, 6.4.3): lists of two different elements, and bases with an index.

use super::{
    AxisChoice, PlaceFamily, lines,
    operands::{in_kernel, places},
    words,
};

/// Forms that accept a list of two elements.
const FORMS: &str = "
ld.global.v2.u32 <{u32, d32}>, [gv]
ld.global.v2.f64 <wf>, [gx]
st.global.v2.u32 [gv], <{u32, d32}>
st.shared.v2.f32 [sd], <{f32, f32}>
mov.v2.u32 <v2>, <{u32, d32}>
mov.v2.f32 <vf>, <{f32, f32}>
mov.b32 <{vh.x, vh.y}>, <{b16, b16}>
mov.b64 <{u32, d32}>, <{u32, d32}>
tex.2d.v4.f32.s32 vf, [tr, <{s32, s32}>]
suld.b.2d.b32.trap b32, [ur, <{s32, s32}>]
call fn, <(u32)>
vadd.u32.u32.u32 u32, <u32>, u32
";

/// Elements of each kind.
const ELEMENTS: &str = "
b8 b16 b32 b64 u32 s32 f16 f32 f64 pr v2 v2.x vf.y nr1 %laneid %tid.x WARP_SZ 1 -1 1.0 0f3f800000 1+1 gu ga[1] ga+4 la tr fn L nosuch _
";

/// Bases: operands that are indexed or added to.
const BASES: &str = "ga gm gv gd gr gn gz gi ca su la pa in tr ur fn L u64 v2 %tid nosuch 0 (ga) ga[0]";

/// Indices, or operands that are added to a base.
const INDICES: &str = "
u32 s32 u64 s64 b32 b16 f32 pr v2 v2.x nr1 %laneid %tid.x WARP_SZ 0 1 -1 4 2147483647 2147483648 4294967296 -2147483649 1.0 1+1 1-2 !0 1<<3
gu ga ca su la in tr sr fn kk L nosuch _ ga[1] u32+1 u32-1 u32*4 u32+u32 {u32} (u32)
";

/// The ways to combine a base `X` and an index `Y`.
const SHAPES: &str = "
X[Y]
[X+Y]
[X-Y]
[X[Y]]
X[1][Y]
X[Y][1]
X+Y
[X[Y]+4]
";

const USES: &str = "
ld.global.u32 u32, <[ga]>
mov.u64 u64, <ga>
mov.u32 u32, <d32>
st.shared.u32 <[sa]>, u32
";

pub(super) fn families() -> Vec<PlaceFamily> {
    let mut pairs = Vec::new();
    for first in words(ELEMENTS) {
        for second in words(ELEMENTS) {
            let text = format!("{{{}, {}}}", first.text, second.text);
            pairs.push(AxisChoice::named(format!("{{{},{}}}", first.name, second.name), text));
        }
    }
    let mut indexed = Vec::new();
    for shape in lines(SHAPES) {
        for base in words(BASES) {
            for index in words(INDICES) {
                let name = shape.name.replace('X', &base.name).replace('Y', &index.name);
                let text = shape.text.replace('X', &base.text).replace('Y', &index.text);
                indexed.push(AxisChoice::named(name, text));
            }
        }
    }
    vec![
        PlaceFamily::new("lists", vec![places(FORMS), pairs], in_kernel),
        PlaceFamily::new("indices", vec![places(USES), indexed], in_kernel),
    ]
}
