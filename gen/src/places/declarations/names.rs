//! Names, and pairs of declarations with the same name.

use super::module;
use crate::places::{PlaceFamily, lines, words};

/// Declarations of `x`, each in a scope of its own.
const OF_X: &str = "
.global .u32 x;
.global .u32 x = 1;
.global .f32 x[4];
.const .u32 x;
.shared .u32 x;
.extern .global .u32 x;
.extern .global .u32 x[];
.extern .shared .u32 x[];
.common .global .u32 x;
.weak .global .u32 x;
.visible .global .u32 x;
.global .texref x;
.global .samplerref x;
.func x() { ret; }
.func x();
.func (.reg .u32 r) x() { mov.u32 r, 1; ret; }
.func (.param .u32 x) g(.param .u32 x) { ret; }
.func (.reg .u32 x) g() { mov.u32 x, 1; ret; }
.visible .func x() { ret; }
.extern .func x();
.extern .func (.param .u32 r) x(.param .u32 p);
.weak .func x() { ret; }
.entry x() { ret; }
.entry x();
.entry g(.param .u32 x) { ret; }
.entry g() { .reg .u32 x; mov.u32 x, 1; ret; }
.entry g() { .local .u32 x; st.local.u32 [x], 1; ret; }
.entry g() { .shared .u32 x; st.shared.u32 [x], 1; ret; }
.entry g() { x: bra x; ret; }
.entry g() { x: .callprototype _ (); ret; }
.global .u32 x<2>;
.global .u32 x0;
.global .u32 x01;
.alias x, y; .func y() { ret; }
.global .u64 y = x;
.global .u64 y = x0;
.global .u64 y = x01;
.global .u64 x = x;
.entry g() { .reg .u64 r; mov.u64 r, x; ret; }
.entry g() { .reg .u32 r; ld.global.u32 r, [x]; ret; }
.entry g() { call x; ret; }
";

/// Statements of a body that declare or name `x`.
const IN_BODY: &str = "
.reg .u32 x;
.reg .pred x;
.reg .v2 .u32 x;
.reg .u32 x<2>;
.reg .u32 x0;
.reg .u32 x01;
.local .u32 x;
.local .u32 x[4];
.shared .u32 x;
.param .u32 x;
.param .b8 x[4];
.global .u32 x;
.const .u32 x = 1;
.extern .shared .u32 x[];
x: mov.u32 r, 1;
x: .callprototype _ ();
x: .branchtargets e;
x: .calltargets k;
.func x() { ret; }
.func x0() { ret; }
.entry x() { ret; }
{ .reg .u32 x; mov.u32 x, 1; }
{ .local .u32 x; st.local.u32 [x], 1; }
{ x: mov.u32 r, 1; }
{ bra x; }
{ bra e; }
mov.u32 x, 1;
mov.u32 x0, 1;
mov.u32 x1, 1;
mov.u32 x01, 1;
mov.u32 r, x;
mov.u64 a, x;
ld.u32 r, [x];
ld.param.u32 r, [x];
st.local.u32 [x], 1;
bra x;
@x bra e;
call x;
brx.idx r, x;
";

/// Functions with a parameter or a result `x`.
const PARAMETERS: &str = "
.entry k(.param .u32 x)
.entry k(.param .b8 x[4])
.entry k(.param .u64 .ptr x)
.func f(.param .u32 x)
.func f(.reg .u32 x)
.func f(.reg .pred x)
.func f(.reg .v2 .u32 x)
.func (.param .u32 x) f()
.func (.reg .u32 x) f()
.func (.param .u32 x) f(.param .u32 x)
.func (.reg .u32 x) f(.reg .u32 x)
.func f(.param .u32 x, .param .u32 x)
.func f(.reg .u32 x, .param .u32 x)
.func f(.param .u32 x0, .param .u32 x1)
.func f(.param .u32 x<2>)
.entry k(.param .u32 x<2>)
.func x(.param .u32 x)
.entry x(.param .u32 x)
";

const NAMES: &str = "x X _x $x %x x1 x_1 x$1 x% %1 $1 _1 _ $ % __ %% $$ _$ _% 1x x.y .x x.x tid %tid %laneid %ctaid %clock WARP_SZ ld add mov u32 f32 global reg \
    entry func version align generic mask a b r x0 0x 0f3f800000 e1 1e1 é x@y nan inf true main _start printf malloc vprintf __assertfail \
    cudaLaunchDevice __cuda_syscall %f %r %p R0 RZ PT c0 SR_TID .text .nv.info $__internal_0 k in";

/// Declarations of every kind of named entity, with `NAME` for the name.
const NAMED: &str = "
variable := .global .u32 NAME;
value := .global .u32 NAME = 1; .global .u64 q = NAME;
const := .const .u32 NAME = 1;
shared := .shared .u32 NAME;
numbered := .global .u32 NAME<2>;
array := .global .u32 NAME[2] = {1, 2};
function := .func NAME() { ret; }
extern-function := .extern .func NAME();
called := .func NAME() { ret; } .entry kk() { call NAME; ret; }
kernel := .entry NAME() { ret; }
visible := .visible .entry NAME() { ret; }
parameter := .entry kk(.param .u32 NAME) { .reg .u32 rr; ld.param.u32 rr, [NAME]; ret; }
register := .entry kk() { .reg .u32 NAME; mov.u32 NAME, 1; ret; }
registers := .entry kk() { .reg .u32 NAME<2>; mov.u32 NAME0, 1; ret; }
predicate := .entry kk() { .reg .pred NAME; @NAME bra LL; LL: ret; }
local := .entry kk() { .local .u32 NAME; st.local.u32 [NAME], 1; ret; }
label := .entry kk() { NAME: bra NAME; ret; }
prototype := .entry kk() { NAME: .callprototype _ (); ret; }
used := .entry kk() { .reg .u32 rr; mov.u32 rr, NAME; ret; }
alias := .func ff() { ret; } .alias NAME, ff;
long := .global .u32 NAMExxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx;
";

/// Ways to declare a variable `X`, to store `N` in it, and to load it into `R`, separated by `|`.
const KEPT: &str = "
global := .global .u32 X = N; | | ld.global.u32 R, [X];
unset := .global .u32 X; | st.global.u32 [X], N; | ld.global.u32 R, [X];
const := .const .u32 X = N; | | ld.const.u32 R, [X];
shared := .shared .u32 X; | st.shared.u32 [X], N; | ld.shared.u32 R, [X];
local := .local .u32 X; | st.local.u32 [X], N; | ld.local.u32 R, [X];
";

/// Registers with names that differ only by leading zeros or by 2^32.
const NUMBERED: &str = "
.reg .u32 x1;
.reg .u32 x01;
.reg .u32 x001;
.reg .u64 x01;
.reg .u32 x00;
.reg .u32 x10;
.reg .u32 x4294967297;
.reg .u32 x<2>;
.reg .u32 x<12>;
.reg .u32 x0<4>;
.reg .u32 x1<2>;
.reg .u32 x00<4>;
";

/// Pairs of such names to use in one kernel.
const TWO: &str = "
x1 x01
x01 x1
x01 x001
x1 x4294967297
x0 x00
x10 x010
x01 x10
";

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![
        PlaceFamily::new(
            "internal-names",
            vec![lines(KEPT), lines(KEPT), words("x__<20> x__1 x__7 x__8 x__9")],
            with_internal_name,
        ),
        PlaceFamily::new(
            "numbered-left",
            vec![lines(NUMBERED), words("same block"), lines(NUMBERED), lines(TWO)],
            |c| {
                let (first, second) = c[3].split_once(' ').expect("two names");
                let (open, close) = if c[1] == "block" { ("{", "}") } else { ("", "") };
                module(&format!(
                    ".entry k(.param .u64 in) {{\n.reg .u64 o;\n{} {open} {}\nmov.u32 {first}, 5; mov.u32 {second}, 7;\nld.param.u64 o, \
                 [in];\nst.global.u32 [o], {first};\nst.global.u32 [o+4], {second};\n{close}\nret;\n}}",
                    c[0], c[2]
                ))
            },
        ),
        PlaceFamily::new("pairs", vec![lines(OF_X), lines(OF_X)], |c| {
            module(&format!("{}\n{}", c[0], renamed(c[1])))
        }),
        PlaceFamily::new("body-pairs", vec![lines(IN_BODY), lines(IN_BODY)], |c| {
            module(&format!(".entry k() {{\n.reg .u32 r; .reg .u64 a;\n{}\n{}\ne: ret;\n}}", c[0], c[1]))
        }),
        PlaceFamily::new("scopes", vec![lines(OF_X), lines(IN_BODY)], |c| {
            module(&format!(
                "{}\n.func fq(.param .u32 q) {{\n.reg .u32 r; .reg .u64 a;\n{}\ne: ret;\n}}",
                c[0], c[1]
            ))
        }),
        PlaceFamily::new("parameter-scopes", vec![lines(PARAMETERS), lines(IN_BODY)], |c| {
            module(&format!("{} {{\n.reg .u32 r; .reg .u64 a;\n{}\ne: ret;\n}}", c[0], c[1]))
        }),
        PlaceFamily::new("names", vec![lines(NAMED), words(NAMES)], |c| module(&c[0].replace("NAME", c[1]))),
    ]
}

/// Declares a module variable named like a compiler's internal name for a function-local variable (`$__x__8`), and a local
/// variable `x`, and shows the values of both. The number in the internal name counts the preceding declarations, so the module
/// must not be merged with others. The kernel `e`, which shows nothing, prevents that.
fn with_internal_name(chosen: &[&str]) -> String {
    let name = format!("$__{}", chosen[2]);
    let [outer, sets, reads] = storage_parts(chosen[0], [&name, &name.replace("<20>", "8")], "5", "r");
    let [local, local_sets, local_reads] = storage_parts(chosen[1], ["x", "x"], "7", "s");
    module(&format!(
        "{outer}\n.entry k(.param .u64 in) {{\n.reg .u64 o; .reg .u32 r, s;\n{local}\n{sets} {local_sets} {reads} {local_reads}\n\
         ld.param.u64 o, [in];\nst.global.v2.u32 [o], {{r, s}};\nret;\n}}\n.entry e() {{ ret; }}"
    ))
}

/// Splits a storage form into the declaration of a variable, the statements that set it, and the statements that read
/// it. `names` are its names in the declaration and in its uses.
fn storage_parts(form: &str, names: [&str; 2], value: &str, register: &str) -> [String; 3] {
    let mut parts = form
        .split('|')
        .zip([names[0], names[1], names[1]])
        .map(|(part, name)| part.replace('X', name).replace('N', value).replace('R', register));
    std::array::from_fn(|_| parts.next().expect("three parts"))
}

/// Renames the other names of the second declaration, so that it shares only `x` with the first.
fn renamed(text: &str) -> String {
    text.replace(" g(", " h(").replace(" y", " z")
}
