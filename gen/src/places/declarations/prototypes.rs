//! Results and parameters of functions, prototypes and calls: every type and shape, in registers and in `.param`.

use crate::places::{PlaceFamily, lines, words};

use super::module;

/// Declarations of a result or parameter, with `T` for the type and `X` for the name.
const SHAPES: &str = "
none :=
.reg T X
.param T X
.param T X[4]
.param T X[]
.param T X[0]
.param .align 8 T X
.param .align 16 T X[16]
.param .v2 T X
.reg .v2 T X
.param .align 3 T X
.param T X<2>
.reg T X<2>
.global T X
.local T X
.param T X = 1
.param .ptr .global .align 8 T X
.param T X, .param T Y
.param T _
T X
.param T
";

/// The positions of such a declaration, with `R` for a result and `P` for a parameter.
const PLACES: &str = "
declared-result := .func (R) f ();
declared-parameter := .func f (P);
declared-both := .extern .func (R) f (P);
defined-result := .func (R) f () { ret; }
defined-parameter := .func f (P) { ret; }
defined-both := .visible .func (R) f (P) { ret; }
kernel := .entry k (P) { ret; }
kernel-result := .entry (R) k () { ret; }
prototype-result := .entry k () { .reg .u64 a; P: .callprototype (R) _ (); ret; }
prototype-parameter := .entry k () { .reg .u64 a; P: .callprototype _ (P); ret; }
prototype-called := .entry k () { .reg .u64 a; .reg .u32 r; .reg .pred q; P: .callprototype (R) _ (P); call (r), a, (r), P; ret; }
two-results := .func (R, R) f () { ret; }
two-parameters := .func f (P, P) { ret; }
declared-and-defined := .func (R) f (P); .func (R) f (P) { ret; }
";

const TYPES: &str =
    ".b8 .b16 .b32 .b64 .b128 .u8 .u32 .s64 .f16 .f16x2 .bf16 .f32 .f64 .pred .texref .samplerref .nosuch";

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![PlaceFamily::new("prototypes", vec![lines(PLACES), lines(SHAPES), words(TYPES)], |c| {
        let text = with_parameters(c[0], "R", [parameter(c[1], c[2], "r1"), parameter(c[1], c[2], "z")]);
        module(&with_parameters(&text, "P", [parameter(c[1], c[2], "p1"), parameter(c[1], c[2], "z")]))
    })]
}

/// Returns the declaration of a parameter or result of this shape, type and name.
fn parameter(shape: &str, ty: &str, name: &str) -> String {
    let words = shape.split(' ').map(|word| match word {
        "T" => ty.to_owned(),
        word => word.replace('X', name).replace('Y', "y"),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Replaces a placeholder at the start of a list by the first declaration, and at its end by the last one.
fn with_parameters(text: &str, placeholder: &str, [first, last]: [String; 2]) -> String {
    let start = text.replace(&format!("({placeholder}"), &format!("({first}"));
    start.replace(&format!("{placeholder})"), &format!("{last})"))
}
