//! Parts of a declaration: specifiers in every order, types with values, shapes in scopes.

use super::{module, with_g};
use crate::places::{AxisChoice, PlaceFamily, lines, words};

/// The positions of a declaration `D`. The surrounding program is valid.
const SCOPES: &str = "
module := D;
kernel := .entry k() { D; ret; }
block := .entry k() { { D; } ret; }
function := .func f() { D; ret; }
parameter := .entry k(D) { ret; }
argument := .func f(D) { ret; }
result := .func (D) f() { ret; }
prototype := .entry k() { P: .callprototype (D) _ (D); ret; }
";

/// The scopes in which all orders of specifiers are tried.
const FEW_SCOPES: &str = "
module := D;
kernel := .entry k() { D; ret; }
parameter := .entry k(D) { ret; }
argument := .func f(D) { ret; }
result := .func (D) f() { ret; }
";

const SPECIFIERS: &str = ".global .const .shared .local .param .reg .sreg .tex .u32 .b8 .f32 .pred .texref .v2 .v3 .v4 .v8 \
    .align÷8 .align .extern .visible .weak .common .ptr .unified .attribute(.managed) .volatile .nosuch";

/// The specifiers that are tried three at a time in every order.
const FEW: &str = ".global .reg .param .u32 .v2 .v4 .align÷8 .extern .common .ptr";

const TAILS: &str = "
plain := x
nameless :=
list := x[2] = {1, 2}
numbered := x<2>
";

const TYPES: &str = ".b8 .b16 .b32 .b64 .b128 .u8 .u32 .u64 .s16 .s64 .f16 .f16x2 .bf16 .f32 .f64 .pred .texref .samplerref .surfref \
    .v2÷.u32 .v4÷.f32 .v2÷.pred .v2÷.b8 .v4÷.u64 .v2÷.f16 .e4m3 .e4m3x2 .u16x2";

const SPACES: &str = ".global .const .shared .local .reg .param .sreg .tex";

const VARIABLES: &str = "
x
x[]
x[0]
x[1]
x[2]
x[2][2]
x[][2]
x[2][]
x[2][2][2]
x<2>
";

/// The declarators that are combined with every value.
const FEW_VARIABLES: &str = "
x
x[]
x[2]
x[2][2]
x<2>
";

const VALUES: &str = "
1
-1
0
256
4294967296
18446744073709551615
18446744073709551616
1.0
-1.0
1e400
0f3f800000
0d3ff0000000000000
1/0
1 % 0
1+1
!1.0
1.0 % 2.0
1 ? 2 : 3
1 ? 1.0 : 2.0
1.0 && 2.0
~1.0
1 << 1.0
(.s64)1.0
(.u64)1
-0f3f800000
{}
{1}
{1, 2}
{1, 2, 3}
{{1}, {2}}
{{1, 2}, {3, 4}}
{{}}
{{}, {}}
{1, {2}}
{{1}, 2}
{{{1}}}
{1,}
{,1}
{1 2}
{1.0, 2}
x
x + 1
-x
{x}
{x, x}
generic(x)
0xff(x)
{0xff(x), 1}
g
g + 4
{g}
generic(g)
0xff00(g)
nosuch
(1)
({1})
\"a\"
WARP_SZ
%tid
_
";

/// Joins choices into one: the names without a separator, the texts with spaces.
fn joined(choices: &[&AxisChoice]) -> AxisChoice {
    let names: Vec<&str> = choices.iter().map(|choice| &*choice.name).collect();
    let texts: Vec<&str> = choices.iter().map(|choice| &*choice.text).collect();
    AxisChoice::named(names.concat(), texts.join(" "))
}

pub(super) fn families() -> Vec<PlaceFamily> {
    let (all, few) = (spaced(SPECIFIERS), spaced(FEW));
    let mut specifiers = vec![AxisChoice::named("none", "")];
    specifiers.extend(all.iter().map(|first| joined(&[first])));
    specifiers.extend(all.iter().flat_map(|first| all.iter().map(move |second| joined(&[first, second]))));
    for first in &few {
        for second in &few {
            specifiers.extend(few.iter().map(|third| joined(&[first, second, third])));
        }
    }
    // One specifier before and one after the beginning of most declarations.
    let usual = AxisChoice::new(".global .u32");
    for before in &all {
        specifiers.extend(all.iter().map(|after| joined(&[before, &usual, after])));
    }
    vec![
        PlaceFamily::new("specifiers", vec![lines(FEW_SCOPES), specifiers, lines(TAILS)], |c| {
            module(&c[0].replace('D', &format!("{} {}", c[1], c[2])))
        }),
        PlaceFamily::new(
            "values",
            vec![
                words(".global .const .shared .local .reg .param"),
                spaced(TYPES),
                lines(FEW_VARIABLES),
                lines(VALUES),
            ],
            |c| {
                let declaration = format!("{} {} {} = {};", c[0], c[1], c[2], c[3]);
                module(&with_g(&within_its_scope(c[0], &declaration)))
            },
        ),
        PlaceFamily::new(
            "shapes",
            vec![spaced(SPACES), spaced(TYPES), lines(VARIABLES), lines(SCOPES)],
            |c| module(&c[3].replace('D', &format!("{} {} {}", c[0], c[1], c[2]))),
        ),
    ]
}

fn spaced(list: &str) -> Vec<AxisChoice> {
    words(list)
        .into_iter()
        .map(|word| AxisChoice::named(word.name.replace('÷', ""), word.text.replace('÷', " ")))
        .collect()
}

/// Puts declarations of registers, parameters and local variables into a kernel.
fn within_its_scope(space: &str, declaration: &str) -> String {
    match space {
        ".reg" | ".param" | ".local" => format!(".entry k() {{ {declaration} ret; }}"),
        _ => declaration.to_owned(),
    }
}
