//! Kernels that show which part of a value an operand denotes: an element of a vector, a part of a scalar, or the element that an
//! index register selects. Also kernels that show the truth value of constants used as predicates.

use super::{
    PlaceFamily, lines,
    results::{left, of_types},
    words,
};

/// Instructions that fill a vector with known elements and show the element `E`.
const ELEMENTS: &str = "
mov.v2.u32 v2, {5, 6}; st.global.u32 [o], v2.E
ld.global.v2.u32 v2, [gt+8]; st.global.u32 [o], v2.E
ld.global.v2.u32 v2, [gt+8]; mov.u32 u32, v2.E; st.global.u32 [o], u32
ld.global.v2.u32 v2, [gt+8]; add.u32 u32, v2.E, 7; st.global.u32 [o], u32
ld.global.v2.u32 v2, [gt+8]; cvt.u64.u32 d64, v2.E; st.global.u64 [o], d64
ld.global.v2.u32 v2, [gt+8]; mov.u32 v2.E, 9; st.global.v2.u32 [o], v2
ld.global.v2.u32 v2, [gt+8]; st.global.v2.u32 [o], {v2.E, v2.x}
ld.global.v2.u32 v2, [gt+8]; ld.global.v2.u32 {v2.E, u32}, [gt+16]; st.global.v2.u32 [o], v2
ld.global.v4.u32 v4, [gt]; st.global.u32 [o], v4.E
ld.global.v4.u32 v4, [gt]; mov.u32 v4.E, 9; st.global.v4.u32 [o], v4
ld.global.v4.u32 v4, [gt]; mov.v2.u32 v2, {v4.E, v4.x}; st.global.v2.u32 [o], v2
ld.global.v4.u32 v4, [gt]; mov.b64 d64, {v4.E, v4.y}; st.global.u64 [o], d64
ld.global.v4.u32 v4, [gt]; ld.global.u32 u32, gq[v4.E]; st.global.u32 [o], u32
mov.v2.u64 w2, {5, 6}; st.global.u64 [o], w2.E
ld.global.v2.u64 w2, [gt]; mov.u64 w2.E, 9; st.global.v2.u64 [o], w2
ld.global.v4.f32 vf, [gt]; mov.f32 f32, vf.E; st.global.f32 [o], f32
";

const LETTERS: &str = "x y z w r g b a X R xx xy 0 nosuch";

/// Instructions that split a scalar into a list in braces, or build a scalar or vector from such a list, and show the result.
const LISTS: &str = "
mov.b64 {u32, d32}, <>; st.global.v2.u32 [o], {u32, d32}
mov.b64 {u32, _}, <>; st.global.u32 [o], u32
mov.b64 {_, u32}, <>; st.global.u32 [o], u32
mov.b32 {vh.x, vh.y}, <>; st.global.v2.b16 [o], {vh.x, vh.y}
mov.b64 {h0, h1, h2, h3}, <>; st.global.v4.b16 [o], {h0, h1, h2, h3}
mov.b64 {h0, h1, h0, h3}, <>; st.global.v4.b16 [o], {h0, h1, h2, h3}
mov.b64 d64, <>; mov.b64 {u32, d32}, d64; st.global.v2.u32 [o], {u32, d32}
mov.b64 d64, <>; mov.b64 {h0, h1, h2, h3}, d64; st.global.v4.b16 [o], {h3, h2, h1, h0}
mov.b32 u32, <>; mov.b32 {h0, h1}, u32; st.global.v2.b16 [o], {h0, h1}
mov.b64 d64, {<>, 7}; st.global.u64 [o], d64
mov.b64 d64, {7, <>}; st.global.u64 [o], d64
mov.u32 u32, <>; mov.b64 d64, {u32, 7}; st.global.u64 [o], d64
mov.u32 u32, <>; mov.b64 d64, {7, u32}; st.global.u64 [o], d64
mov.b32 b32, {<>, 7}; st.global.u32 [o], b32
mov.b16 h0, <>; mov.b32 b32, {h0, h0}; st.global.u32 [o], b32
mov.b16 h0, <>; mov.b64 d64, {7, h0, 8, h0}; st.global.u64 [o], d64
st.global.v2.u32 [o], {<>, 7}
st.global.v4.u16 [o], {7, <>, 8, <>}
st.global.v4.b8 [o], {<>, <>, 7, <>}
st.global.v2.u64 [o], {7, <>}
st.global.v2.f32 [o], {<>, 1.0}
";

const BITS: &str = "
0 1 -1 0x11223344 0x1122334455667788 0x8000 0xffff 65536 0x80000000 0xffffffff 0x100000000 -2 -32769 255 256 1U WARP_SZ 1+1 !0 1.0 -0.0
0f3f800000 0d3ff0000000000000 gq _ %laneid
";

/// Instructions that index with a register of type `T` and show the selected element.
const INDEXED: &str = "
mov.T T, <>; mov.u64 d64, gq[T]; st.global.u64 [o], d64
mov.T T, <>; mov.u64 d64, gq[T+1]; st.global.u64 [o], d64
mov.T T, <>; mov.u64 d64, gq[T-1]; st.global.u64 [o], d64
mov.T T, <>; ld.global.u32 d32, gq[T]; st.global.u32 [o], d32
mov.T T, <>; ld.global.u32 d32, gq[T+1]; st.global.u32 [o], d32
mov.T T, <>; ld.global.u32 d32, gq[T-1]; st.global.u32 [o], d32
mov.T T, <>; ld.global.u32 d32, gq[1+T]; st.global.u32 [o], d32
mov.T T, <>; ld.global.u32 d32, gq[T*1]; st.global.u32 [o], d32
mov.T T, <>; ld.global.u32 d32, [gq+T]; st.global.u32 [o], d32
mov.T T, <>; ld.global.v2.u32 {d32, e32}, gt[T]; st.global.v2.u32 [o], {d32, e32}
mov.T T, <>; ld.global.u8 d32, gy[T]; st.global.u32 [o], d32
mov.T T, <>; ld.const.u32 d32, cq[T]; st.global.u32 [o], d32
mov.T T, <>; st.shared.u32 sq[T], 5; ld.shared.u32 d32, sq[T]; st.global.u32 [o], d32
mov.T T, <>; st.local.u32 lq[T], 5; ld.local.u32 d32, lq[T]; st.global.u32 [o], d32
mov.u64 d64, gq; mov.T T, <>; ld.global.u32 d32, [d64+T]; st.global.u32 [o], d32
";

const PICKS: &str = "0 1 2 3 7 8 -1 -2 127 255 32767 32768 65535 65536 65537 2147483647 2147483648 4294967295 4294967296 4294967297";

/// Instructions that show whether a constant is true as a predicate.
const TRUTHS: &str = "
selp.u32 u32, 5, 7, <>; st.global.u32 [o], u32
mov.pred pr, <>; selp.u32 u32, 5, 7, pr; st.global.u32 [o], u32
not.pred pr, <>; selp.u32 u32, 5, 7, pr; st.global.u32 [o], u32
mov.u32 u32, 1; setp.eq.u32 pq, u32, 1; and.pred pr, pq, <>; selp.u32 u32, 5, 7, pr; st.global.u32 [o], u32
mov.u32 u32, 1; setp.eq.u32 pq, u32, 1; xor.pred pr, pq, <>; selp.u32 u32, 5, 7, pr; st.global.u32 [o], u32
mov.u32 u32, 1; setp.eq.u32 pq, u32, 2; or.pred pr, pq, <>; selp.u32 u32, 5, 7, pr; st.global.u32 [o], u32
mov.u32 u32, 1; setp.eq.and.u32 pr, u32, 1, <>; selp.u32 u32, 5, 7, pr; st.global.u32 [o], u32
mov.pred pr, <>; mov.u32 u32, 7; @pr mov.u32 u32, 5; st.global.u32 [o], u32
mov.pred pr, <>; mov.u32 u32, 7; @!pr mov.u32 u32, 5; st.global.u32 [o], u32
";

const CONSTANTS: &str = "
0 1 2 3 4 256 65536 0x80000000 0x100000000 0x8000000000000000 0x200000000 0x7000000000000000 0xffffffff00000000 1<<32 1<<40 1<<63 3<<32 4294967296*2 -4294967296 -1 -2 0U 2U 0x0 !0 !2 1-1 1==1 1==2 1&&2 1>2 WARP_SZ WARP_SZ-32 ~0 0.0 1.0
0.0==0.0 0f3f800000 pq _ gq
";

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![
        PlaceFamily::new("elements-left", vec![lines(ELEMENTS), words(LETTERS)], lettered),
        PlaceFamily::new("parts-left", vec![lines(LISTS), words(BITS)], left),
        PlaceFamily::new("indices-left", vec![of_types(INDEXED), words(PICKS)], left),
        PlaceFamily::new("truths-left", vec![lines(TRUTHS), words(CONSTANTS)], left),
    ]
}

/// Returns a kernel that shows the vector element with this letter.
fn lettered(chosen: &[&str]) -> String {
    left(&[&chosen[0].replace(".E", &format!(".{}", chosen[1])), ""])
}
