//! Attributes in every position of a declaration.

use super::module;
use crate::places::{PlaceFamily, lines};

/// Declarations with an attribute `A`.
const ATTRIBUTED: &str = "
first := A .global .u32 x;
behind-space := .global A .u32 x;
behind-type := .global .u32 A x;
last := .global .u32 x A;
const := .const A .u32 x;
shared := .shared A .u32 x;
extern := .extern .global A .u32 x;
visible := .visible .global A .u32 x[2] = {1, 2};
align := .global A .align 8 .u32 x;
align-first := .global .align 8 A .u32 x;
numbered := .global A .u32 x<2>;
local := .entry k() { .local A .u32 x; ret; }
register := .entry k() { .reg A .u32 x; ret; }
parameter := .entry k(.param A .u32 x) { ret; }
in-kernel := .entry k() { .global A .u32 x; ret; }
function := .func A f() { ret; }
function-last := .func f() A { ret; }
prototype := .extern .func A f();
kernel := .entry A k() { ret; }
texture := .global A .texref x;
visible-function := .visible .func A f() { ret; }
";

const ATTRIBUTES: &str = "
.attribute(.managed)
.attribute(.unified)
.attribute(.unified(1, 2))
.attribute(.unified(18446744073709551615, 18446744073709551615))
.attribute(.unified(18446744073709551616, 1))
.attribute(.unified(-1, 1))
.attribute(.unified(1))
.attribute(.unified(1, 2, 3))
.attribute(.unified())
.attribute(.managed, .unified(1, 2))
.attribute(.managed, .managed)
.attribute(.managed) .attribute(.managed)
.attribute()
.attribute(.nosuch)
.attribute(1)
.attribute
.attribute .managed
.attribute((.managed))
.managed
.unified
";

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![PlaceFamily::new("attributes", vec![lines(ATTRIBUTED), lines(ATTRIBUTES)], |c| {
        module(&c[0].replace('A', c[1]))
    })]
}
