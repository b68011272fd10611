//! Declarations (5.4): specifiers, types with values, numbers, names, two declarations of one name, addresses, versions.

use super::{Choice, Family, declared, lines, names, words};

const HEADER: &str = ".version 7.7\n.target sm_80\n.address_size 64\n";

/// Where a declaration, `D`, may stand. The rest of each is valid.
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

/// Those in which specifiers are tried in every order.
const FEW_SCOPES: &str = "
module := D;
kernel := .entry k() { D; ret; }
parameter := .entry k(D) { ret; }
argument := .func f(D) { ret; }
result := .func (D) f() { ret; }
";

const SPECIFIERS: &str = ".global .const .shared .local .param .reg .sreg .tex .u32 .b8 .f32 .pred .texref .v2 .v3 .v4 .v8 \
    .align÷8 .align .extern .visible .weak .common .ptr .unified .attribute(.managed) .volatile .nosuch";

/// Those of which three are tried in every order.
const FEW: &str = ".global .reg .param .u32 .v2 .v4 .align÷8 .extern .common .ptr";

const TAILS: &str = "
plain := x
nameless :=
list := x[2] = {1, 2}
numbered := x<2>
";

const TYPES: &str = ".b8 .b16 .b32 .b64 .b128 .u8 .u32 .u64 .s16 .s64 .f16 .f16x2 .bf16 .f32 .f64 .pred .texref .samplerref .surfref \
    .v2÷.u32 .v4÷.f32 .v2÷.pred .v2÷.b8 .v4÷.u64 .v2÷.f16";

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

/// Those that are given every value.
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

const NUMBERS: &str = "0 1 2 3 4 5 7 8 16 24 32 64 100 127 128 129 255 256 257 1000 1023 1024 1025 4096 65535 65536 65537 1048576 16777216 \
    268435456 1073741824 2147483647 2147483648 4294967295 4294967296 1099511627776 9223372036854775807 9223372036854775808 18446744073709551615 \
    18446744073709551616 99999999999999999999 -1 -2147483648 -9223372036854775808 010 08 0x10 0b10 1U 4294967295U 1.0 0f3f800000 1+1 (1) \
    ~0 !0 1?2:3 x g WARP_SZ %tid _";

/// Programs with a number, `N`.
const COUNTED: &str = "
dimension := .global .u8 x[N];
dimension-of-8 := .global .u64 x[N];
second := .global .u8 x[2][N];
both := .global .u8 x[N][N];
left-out := .global .u8 x[][N];
with-value := .global .u8 x[N] = {1};
vectors := .global .v4 .u32 x[N];
const := .const .u8 x[N];
shared := .shared .u8 x[N];
local := .entry k() { .local .u8 x[N]; ret; }
parameter := .entry k(.param .b8 x[N]) { ret; }
argument := .func f(.param .b8 x[N]) { ret; }
result := .func (.param .b8 x[N]) f() { ret; }
param-in-body := .entry k() { .param .b8 x[N]; ret; }
register := .entry k() { .reg .u32 x[N]; ret; }
extern := .extern .global .u8 x[N];
common := .common .global .u8 x[N];
numbered := .global .u32 v<N>;
numbered-registers := .entry k() { .reg .u32 r<N>; ret; }
numbered-used := .entry k() { .reg .u32 r<N>; mov.u32 r0, 1; ret; }
numbered-predicates := .entry k() { .reg .pred p<N>; ret; }
numbered-array := .global .u32 v<2>[N];
numbered-value := .global .u32 v<N> = 1;
align := .global .align N .u8 x;
align-array := .global .align N .u8 x[4];
align-const := .const .align N .u8 x;
align-shared := .shared .align N .u8 x;
align-local := .entry k() { .local .align N .u8 x; ret; }
align-parameter := .entry k(.param .align N .b8 x[8]) { ret; }
align-ptr := .entry k(.param .u64 .ptr .global .align N x) { ret; }
align-register := .entry k() { .reg .align N .u32 x; ret; }
value := .global .u64 x = N;
mask := .global .u32 g; .global .u8 x = 0xN(g);
mask-number := .global .u32 g; .global .u8 x = N(g);
mask-of := .global .u8 x = 0xff(N);
generic := .global .u64 x = generic(N);
offset := .global .u32 g; .global .u64 x = g + N;
minus := .global .u32 g; .global .u64 x = g - N;
index := .global .u32 g[4]; .global .u64 x = g[N];
operand-offset := .global .u32 g[4]; .entry k() { .reg .u32 r; ld.global.u32 r, [g+N]; ret; }
register-offset := .entry k() { .reg .u32 r; .reg .u64 a; ld.global.u32 r, [a+N]; ret; }
operand-index := .global .u32 g[4]; .entry k() { .reg .u32 r; ld.global.u32 r, g[N]; ret; }
absolute := .entry k() { .reg .u32 r; ld.global.u32 r, [N]; ret; }
store-absolute := .entry k() { st.local.u32 [N], 1; ret; }
shared-absolute := .entry k() { .reg .u32 r; ld.shared.u32 r, [N]; ret; }
param-offset := .entry k(.param .b8 q[16]) { .reg .u32 r; ld.param.u32 r, [q+N]; ret; }
maxntid := .entry k() .maxntid N { ret; }
maxntid-2 := .entry k() .maxntid 1, N { ret; }
reqntid := .entry k() .reqntid N { ret; }
maxnreg := .entry k() .maxnreg N { ret; }
minnctapersm := .entry k() .maxntid 32 .minnctapersm N { ret; }
shift := .entry k() { .reg .b32 r; shl.b32 r, r, N; ret; }
barrier := .entry k() { bar.sync N; ret; }
barrier-threads := .entry k() { bar.sync 0, N; ret; }
file := .file N \"a\"
loc := .file 1 \"a\"\\n.entry k() { .loc 1 N 1\\n ret; }
section := .section .debug_str { .b8 N }
label := .entry k() { bra N; ret; }
branchtargets := .entry k() { .reg .u32 r; L: T: .branchtargets L; brx.idx N, T; ret; }
managed := .global .attribute(.managed) .u8 x[N];
unified := .global .attribute(.unified(N, 1)) .u8 x[4];
";

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

const NAMES: &str = "x X _x $x %x x1 x_1 x$1 x% %1 $1 _1 _ $ % __ %% $$ _$ _% 1x x.y .x x.x tid %tid %laneid %ctaid %clock WARP_SZ ld add mov u32 f32 global reg \
    entry func version align generic mask a b r x0 0x 0f3f800000 e1 1e1 é x@y nan inf true main _start printf malloc vprintf __assertfail \
    cudaLaunchDevice __cuda_syscall %f %r %p R0 RZ PT c0 SR_TID .text .nv.info $__internal_0 k in";

/// Things with a name, `NAME`.
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

const SYMBOLS: &str = "gb gu gd gf ga gm gv gz ge gi gn gn1 gn2 gn01 cu ca su sa se tr sr ur fn fe fr k kp nosuch x WARP_SZ %tid L";

/// How a symbol, `X`, stands in an initializer.
const ADDRESSES: &str = "
X
X+4
X-4
X+-4
4+X
4-X
X+X
X-X
X+4+4
(X)
(X)+4
(X+4)
((X))
-X
!X
~X
+X
X*2
X/2
X % 2
X<<1
X&1
X==X
X&&1
X?1:2
1?X:2
1?X:X
(.u64)X
(.s64)X
X+1.0
X+2147483648
X+9223372036854775808
X-9223372036854775808
X+18446744073709551616
X+1/0
X+WARP_SZ
X[0]
X[1]
X[1]+4
X[-1]
X[X]
X.x
generic(X)
generic(X)+4
generic(X+4)
generic(X)-4
4+generic(X)
-generic(X)
generic(generic(X))
generic((X))
generic(X[1])
generic()
0xff(X)
0xff(X+4)
0xff(X)+4
0xff00(X)
0xff00000000000000(X)
0xfff(X)
0(X)
255(X)
0xff(generic(X))
0xff(0xff(X))
0xff((X))
0xff()
0xff(X,X)
X,X
X(1)
{X}
{X,X}
{X+4,X-4}
{{X}}
{0xff(X),0xff00(X)}
";

const HOLDERS: &str = "
u8 := .global .u8 x = X;
u32 := .global .u32 x = X;
u64 := .global .u64 x = X;
s64 := .global .s64 x = X;
f64 := .global .f64 x = X;
b64 := .const .b64 x = X;
u16 := .global .u16 x = X;
array := .global .u64 x[2] = {X, X};
bytes := .global .u8 x[8] = {X};
vector := .global .v2 .u64 x = {X, X};
dimension := .global .u8 x[X];
local := .entry kx() { .global .u64 x = X; ret; }
f32 := .global .f32 x = X;
";

const FEATURES: &str = "
.global .u32 x;
.global .u32 x = 1;
.global .u32 x[] = {1};
.global .u32 x<2>;
.global .u64 x; .global .u64 y = x;
.global .u64 x; .global .u64 y = generic(x);
.global .u32 x; .global .u8 y = 0xff(x);
.global .u8 y = 0xff(1);
.func f() { ret; } .global .u64 y = f;
.func f() { ret; } .global .u64 y = generic(f);
.entry k() { ret; } .global .u64 y = k;
.weak .global .u32 x;
.common .global .u32 x;
.global .attribute(.managed) .u32 x;
.global .b128 x;
.global .f16 x;
.global .f16x2 x;
.global .bf16 x;
.global .f64 x = 1.0;
.global .texref x;
.global .surfref x;
.tex .u32 x;
.const .u32 x = 1;
.shared .u32 x;
.extern .shared .u32 x[];
.entry k() { ret; }
.entry k(.param .u32 p) { .reg .u32 r; ld.param.u32 r, [p]; ret; }
.entry k(.param .u64 .ptr .global .align 8 p) { ret; }
.entry k() { .reg .u32 r; mov.u32 r, %laneid; ret; }
.entry k() { .local .u32 x; st.local.u32 [x], 1; ret; }
.entry k() { .reg .u64 r; ld.global.u64 r, [r]; ret; }
.entry k() { .reg .u32 r; ld.u32 r, [r]; ret; }
.func f() { ret; } .entry k() { call f; ret; }
.func f() { ret; } .entry k() { .reg .u64 r; mov.u64 r, f; ret; }
.global .u32 a[2]; .entry k() { .reg .u64 r; mov.u64 r, a[1]; ret; }
.entry k() { .reg .v4 .f32 v; mov.f32 v.x, 1.0; ret; }
.entry k() { bar.sync 0; ret; }
.func f() .noreturn { ret; }
.alias x, y; .func y() { ret; }
.pragma \"nounroll\";
.file 1 \"a\"
.section .debug_str { .b8 1 }
";

/// Those that depend on the target and the size of addresses.
const FEW_FEATURES: &str = "
.global .u32 x = 1;
.global .u64 x; .global .u64 y = generic(x);
.global .u32 x; .global .u32 y = x;
.global .f64 x = 1.0;
.global .attribute(.managed) .u32 x;
.entry k() { .reg .u32 r; ld.u32 r, [r]; ret; }
.global .u32 a[2]; .entry k() { .reg .u64 r; mov.u64 r, a[1]; ret; }
.func f() { ret; } .entry k() { .reg .u64 r; mov.u64 r, f; ret; }
";

const VERSIONS: &str = "0.9 1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 2.4 3.0 3.1 3.2 3.9 4.0 4.1 4.2 4.3 4.9 5.0 5.1 6.0 6.1 6.2 6.3 6.4 6.5 6.9 \
    7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 7.9 8.0 8.3 8.5 9.0 9.9 10.0 65536.0 4294967296.0 7.4294967296 -1.0 7 7. .7 7.7.7 7.70 7.07 07.7 0x7.7 1e1 nosuch";

const TARGETS: &str = "
sm_80
sm_10
sm_20
sm_30
sm_50
sm_52
sm_75
sm_90
sm_90a
sm_100
sm_120
compute_80
sm_81
sm_0
sm_4294967296
sm_80,sm_90
sm_80,texmode_independent
sm_80,texmode_unified
sm_80,texmode_unified,texmode_independent
texmode_independent
sm_80,debug
sm_80,map_f64_to_f32
sm_10,map_f64_to_f32
sm_80,nosuch
80
none :=
";

const SIZES: &str = "
none :=
.address_size 64
.address_size 32
.address_size 16
.address_size 0
.address_size 64 .address_size 64
.address_size 64 .address_size 32
.address_size 4294967360
.address_size
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

/// Declarations with an attribute, `A`.
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

fn spaced(list: &str) -> Vec<Choice> {
    words(list)
        .into_iter()
        .map(|word| Choice::named(word.name.replace('÷', ""), word.text.replace('÷', " ")))
        .collect()
}

pub(super) fn families() -> Vec<Family> {
    let (all, few) = (spaced(SPECIFIERS), spaced(FEW));
    let join = |parts: &[&Choice]| {
        let of = |text: fn(&Choice) -> &str, by: &str| {
            parts.iter().map(|part| text(part)).collect::<Vec<_>>().join(by)
        };
        Choice::named(of(|part| &part.name, ""), of(|part| &part.text, " "))
    };
    let mut specifiers = vec![Choice::named("none", "")];
    specifiers.extend(all.iter().map(|one| join(&[one])));
    specifiers.extend(all.iter().flat_map(|one| all.iter().map(move |two| join(&[one, two]))));
    for one in &few {
        for two in &few {
            specifiers.extend(few.iter().map(|three| join(&[one, two, three])));
        }
    }
    // With what most declarations begin.
    let usual = Choice::new(".global .u32");
    specifiers.extend(all.iter().flat_map(|one| all.iter().map(|two| (one, two)).collect::<Vec<_>>()).map(
        |(one, two)| {
            Choice::named(
                format!("{}{}{}", one.name, usual.name, two.name),
                format!("{} {} {}", one.text, usual.text, two.text),
            )
        },
    ));
    let with = |name, axes, write| Family { name, axes, write };
    vec![
        with("specifiers", vec![lines(FEW_SCOPES), specifiers, lines(TAILS)], |c| {
            module(&c[0].replace('D', &format!("{} {}", c[1], c[2])))
        }),
        with(
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
        with("shapes", vec![spaced(SPACES), spaced(TYPES), lines(VARIABLES), lines(SCOPES)], |c| {
            module(&c[3].replace('D', &format!("{} {} {}", c[0], c[1], c[2])))
        }),
        with("numbers", vec![lines(COUNTED), words(NUMBERS)], |c| {
            module(&with_g(&c[0].replace('N', c[1]).replace("\\n", "\n")))
        }),
        with("pairs", vec![lines(OF_X), lines(OF_X)], |c| module(&format!("{}\n{}", c[0], renamed(c[1])))),
        with("body-pairs", vec![lines(IN_BODY), lines(IN_BODY)], |c| {
            module(&format!(".entry k() {{\n.reg .u32 r; .reg .u64 a;\n{}\n{}\ne: ret;\n}}", c[0], c[1]))
        }),
        with("scopes", vec![lines(OF_X), lines(IN_BODY)], |c| {
            module(&format!(
                "{}\n.func fq(.param .u32 q) {{\n.reg .u32 r; .reg .u64 a;\n{}\ne: ret;\n}}",
                c[0], c[1]
            ))
        }),
        with("parameter-scopes", vec![lines(PARAMETERS), lines(IN_BODY)], |c| {
            module(&format!("{} {{\n.reg .u32 r; .reg .u64 a;\n{}\ne: ret;\n}}", c[0], c[1]))
        }),
        with("names", vec![lines(NAMED), words(NAMES)], |c| module(&c[0].replace("NAME", c[1]))),
        with("addresses", vec![lines(HOLDERS), words(SYMBOLS), lines(ADDRESSES)], |c| {
            let value = c[2].replace('X', c[1]);
            let text = match c[0].starts_with(".entry") {
                true => c[0].replacen("= X", &format!("= {value}"), 1),
                false => c[0].replace('X', &value),
            };
            module(&(used(&value) + &text))
        }),
        with("versions", vec![words(VERSIONS), lines(FEATURES)], |c| {
            format!(".version {}\n.target sm_80\n.address_size 64\n{}\n", c[0], c[1])
        }),
        with("headers", vec![words("3.1 7.7"), lines(TARGETS), lines(SIZES), lines(FEW_FEATURES)], |c| {
            let target = if c[1].is_empty() { String::new() } else { format!(".target {}\n", c[1]) };
            format!(".version {}\n{target}{}\n{}\n", c[0], c[2], c[3])
        }),
        with("attributes", vec![lines(ATTRIBUTED), lines(ATTRIBUTES)], |c| module(&c[0].replace('A', c[1]))),
    ]
}

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

fn module(text: &str) -> String {
    format!("{HEADER}{text}\n")
}

/// A function of the second declaration is another than that of the first.
fn renamed(text: &str) -> String {
    text.replace(" g(", " h(").replace(" y", " z")
}

fn with_g(text: &str) -> String {
    let has_own = text.contains(" g;") || text.contains(" g[");
    let uses = !has_own && names(text, |word| word == "g");
    if uses { format!(".global .u32 g[4];\n{text}") } else { text.to_owned() }
}

/// Registers, parameters and local variables stand in kernels.
fn within_its_scope(space: &str, declaration: &str) -> String {
    match space {
        ".reg" | ".param" | ".local" => format!(".entry k() {{ {declaration} ret; }}"),
        _ => declaration.to_owned(),
    }
}

/// What symbols are, by name.
const DECLARED: &str = "
gb := .global .u8 gb;
gu := .global .u32 gu;
gd := .global .u64 gd;
gf := .global .f32 gf;
ga := .global .u32 ga[4];
gm := .global .u32 gm[2][3];
gv := .global .v4 .u32 gv;
gz := .global .u32 gz[0];
ge := .extern .global .u32 ge;
gi := .extern .global .u32 gi[];
gn := .global .u32 gn<3>;
cu := .const .u32 cu = 1;
ca := .const .u32 ca[4];
su := .shared .u32 su;
sa := .shared .u32 sa[4];
se := .extern .shared .u32 se[];
tr := .global .texref tr;
sr := .global .samplerref sr;
ur := .global .surfref ur;
fn := .func fn() { ret; }
fe := .extern .func fe();
fr := .func (.param .u32 r) fr(.param .u32 p) { ret; }
k := .entry k() { ret; }
kp := .entry kp(.param .u32 p) { ret; }
L := .entry kl() { L: ret; }
";

fn used(text: &str) -> String {
    declared(DECLARED, |name| names(text, |word| word == name || name == "gn" && word.starts_with(name)))
}
