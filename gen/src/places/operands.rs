//! Operands (6): instructions with one operand left open, and the operands to insert there.

use super::{AxisChoice, PlaceFamily, declared, lines, names, words};

/// Module-scope declarations of the names in operands. A program contains only the declarations it uses.
const MODULE: &str = "
gb := .global .u8 gb;
gh := .global .u16 gh;
gu := .global .u32 gu = 5;
gd := .global .u64 gd;
gf := .global .f32 gf;
gl := .global .f64 gl;
gr := .global .f16 gr;
ga := .global .u32 ga[4] = {1, 2, 3, 4};
gm := .global .u32 gm[2][3];
gv := .global .v2 .u32 gv;
gw := .global .v4 .f32 gw;
gx := .global .v2 .u64 gx[2];
gz := .global .u32 gz[0];
ge := .extern .global .u32 ge;
gi := .extern .global .u32 gi[];
gn := .global .u32 gn<3>;
gp := .global .u64 gp = gu;
cu := .const .u32 cu = 7;
ca := .const .u32 ca[4] = {1, 2, 3, 4};
cv := .const .v4 .u32 cv;
su := .shared .u32 su;
sa := .shared .u32 sa[4];
se := .extern .shared .u32 se[];
tr := .global .texref tr;
sr := .global .samplerref sr;
ur := .global .surfref ur;
fn := .func fn() { ret; }
sb := .shared .align 8 .b64 sb;
sm := .shared .align 128 .b8 sm[128];
tm := .global .align 128 .b8 tm[128];
gq := .global .u32 gq[8] = {0x03020100, 0x87868584, 0x0b0a0908, 0x8f8e8d8c, 0x13121110, 0x97969594, 0x1b1a1918, 0x9f9e9d9c};
cq := .const .u32 cq[8] = {0x03020100, 0x87868584, 0x0b0a0908, 0x8f8e8d8c, 0x13121110, 0x97969594, 0x1b1a1918, 0x9f9e9d9c};
gy := .global .align 8 .u8 gy[32] = {0, 1, 2, 3, 4, 5, 6, 7, 128, 129, 130, 131, 132, 133, 134, 135, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
gt := .global .v2 .u32 gt[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
gg := .global .u16 gg[2][3][4] = {{{1, 2, 3, 4}, {5, 6, 7, 8}}, {{9, 10, 11, 12}}};
sq := .shared .align 8 .u32 sq[8];
sd := .shared .align 16 .b8 sd[16];
fr := .func (.param .u32 r) fr(.param .u32 p) { .reg .u32 t; ld.param.u32 t, [p]; st.param.u32 [r], t; ret; }
fg := .func (.reg .u32 r) fg(.reg .u32 p) { mov.u32 r, p; ret; }
fe := .extern .func fe();
kk := .entry kk() { ret; }
";

/// Declarations in the kernel body, likewise included on use.
const KERNEL: &str = "
b8 := .reg .b8 b8;
b16 := .reg .b16 b16;
b32 := .reg .b32 b32;
b64 := .reg .b64 b64;
u8 := .reg .u8 u8;
o := .reg .u64 o;
u16 := .reg .u16 u16;
u32 := .reg .u32 u32;
u64 := .reg .u64 u64;
s8 := .reg .s8 s8;
s16 := .reg .s16 s16;
s32 := .reg .s32 s32;
s64 := .reg .s64 s64;
f16 := .reg .f16 f16;
f162 := .reg .f16x2 f162;
f32 := .reg .f32 f32;
f64 := .reg .f64 f64;
pr := .reg .pred pr;
pq := .reg .pred pq;
d32 := .reg .u32 d32;
e32 := .reg .u32 e32;
d64 := .reg .u64 d64;
nr := .reg .u32 nr<4>;
h0 := .reg .b16 h0;
h1 := .reg .b16 h1;
h2 := .reg .b16 h2;
h3 := .reg .b16 h3;
v2 := .reg .v2 .u32 v2;
v4 := .reg .v4 .u32 v4;
w2 := .reg .v2 .u64 w2;
vf := .reg .v4 .f32 vf;
vh := .reg .v2 .b16 vh;
wf := .reg .v2 .f64 wf;
vp := .reg .v2 .pred vp;
b128 := .reg .b128 b128;
lu := .local .align 8 .b8 lu[8];
lq := .local .align 8 .u32 lq[8];
la := .local .u32 la[4];
pp := .param .u32 pp;
pa := .param .b8 pa[16];
ki := .shared .u32 ki;
";

/// Labels and prototypes in the kernel body, likewise included on use.
const STATEMENTS: &str = "
L := L: add.u32 e32, e32, 1;
P := P: .callprototype _ ();
PR := PR: .callprototype (.param .u32 _) _ (.param .u32 _);
T := T: .branchtargets L, M;
C := C: .calltargets fn;
M := M: add.u32 e32, e32, 2;
";

/// Instructions. A place is written `<...>` and contains its usual operand.
const FORMS: &str = "
ld.global.u32 <u32>, <[ga]>
ld.u32 <u32>, <[d64]>
ld.const.u32 u32, <[ca]>
ld.shared.u32 u32, <[sa]>
ld.local.u32 u32, <[la]>
ld.param.u32 u32, <[in]>
ld.global.u32 u32, <[ga]>.unified
ld.volatile.global.u64 u64, <[gd]>
ld.global.v2.u32 <{u32, d32}>, <[gv]>
ld.global.v4.f32 <vf>, <[gw]>
ld.global.f64 <f64>, [gl]
ld.global.b8 <u16>, [gb]
ldu.global.u32 <u32>, <[ga]>
st.global.u32 <[ga]>, <u32>
st.u32 <[d64]>, u32
st.shared.u32 <[sa]>, u32
st.local.u32 <[la]>, u32
st.param.u32 <[pp]>, u32
st.const.u32 <[ca]>, u32
st.global.v2.u32 [gv], <{u32, d32}>
st.global.v4.f32 [gw], <vf>
st.global.f32 [gf], <f32>
st.global.u64 [gd], <u64>
st.global.b8 [gb], <u16>
atom.global.add.u32 <u32>, <[ga]>, <d32>
atom.shared.cas.b32 b32, <[sa]>, <d32>, <e32>
atom.exch.b64 b64, <[d64]>, b64
red.global.add.u32 <[ga]>, <u32>
prefetch.global.L1 <[ga]>
prefetch.L2 <[d64]>
prefetchu.L1 <[d64]>
isspacep.global <pr>, <d64>
cvta.global.u64 <u64>, <d64>
cvta.to.shared.u64 u64, <d64>
cvta.u64 u64, <ga>
mov.u32 <u32>, <d32>
mov.u64 <u64>, <ga>
mov.b32 <b32>, <{vh.x, vh.y}>
mov.b64 <{u32, d32}>, <b64>
mov.v2.u32 <v2>, <{u32, d32}>
mov.v4.u32 <v4>, <v4>
mov.v2.f64 <wf>, <wf>
mov.f32 <f32>, <0f3f800000>
mov.pred <pr>, <pq>
mov.b16 b16, <f16>
cvt.u64.u32 <u64>, <u32>
cvt.f32.u32 <f32>, <u32>
cvt.rn.f16.f32 f16, <f32>
cvt.u32.u16 u32, <u16>
add.u32 <u32>, <d32>, <e32>
add.u64 <u64>, <d64>, <ga>
add.f32 <f32>, <f32>, <1.0>
add.f64 f64, <f64>, <0d3ff0000000000000>
add.f16 f16, f16, <f16>
sub.u32 u32, <d32>, <e32>
mul.lo.u32 <u32>, <d32>, <3>
mul.wide.u32 <u64>, <d32>, 3
mad.lo.u32 <u32>, <d32>, <e32>, <4>
mad.wide.u32 u64, u32, u32, <u64>
fma.rn.f32 <f32>, f32, <2.0>, f32
div.u32 u32, <d32>, <e32>
rem.u32 u32, d32, <e32>
min.s32 s32, <s32>, <-1>
and.b32 <b32>, <b32>, <255>
or.pred <pr>, <pr>, <pq>
and.pred pr, <pr>, <pq>; @pr trap
st.global.v2.f32 [gd], <{f32, f32.b0}>
st.global.v2.u32 [gd], <{u32, u32.h1}>
xor.b64 b64, b64, <b64>
not.b32 <b32>, <d32>
not.pred pr, <pq>
neg.s32 <s32>, <s32>
abs.s32 <s32>, <s32>
neg.f32 f32, <f32>
shl.b32 <b32>, <d32>, <3>
shr.s32 s32, <s32>, <u32>
bfe.u32 u32, <d32>, <3>, <4>
prmt.b32 b32, <d32>, e32, <0x3210>
popc.b32 <u32>, <b32>
setp.lt.u32 <pr>, <u32>, <d32>
setp.eq.f32 <pr|pq>, f32, <f32>
setp.lt.and.u32 pr, u32, d32, <pq>
set.lt.u32.f32 <u32>, f32, <f32>
selp.u32 <u32>, <d32>, <e32>, <pr>
slct.u32.s32 u32, <d32>, e32, <s32>
bra <L>
bra.uni <L>
brx.idx <u32>, <T>
call <fn>
call.uni <fn>
call <(pp)>, <fr>, <(pp)>
call <(u32)>, <fg>, <(d32)>
call <d64>, <P>
call (pp), d64, (pp), <PR>
call d64, <C>
call fg, <(d32)>
ret <>
exit <>
vote.all.pred <pr>, <pq>
vote.ballot.b32 <u32>, pq
vote.sync.any.pred pr, pq, <-1>
shfl.sync.idx.b32 <u32>, <d32>, <1>, <31>, <-1>
shfl.idx.b32 <u32|pr>, d32, <1>, 31
bar.sync <0>
bar.sync 0, <32>
bar.arrive <1>, <64>
bar.red.popc.u32 u32, 0, <pr>
barrier.sync <0>
membar.gl <>
tex.1d.v4.f32.s32 <vf>, <[tr, {s32}]>
tex.1d.v4.f32.f32 {f32, f32, f32, f32}, <[tr, sr, {f32}]>
tex.a1d.v4.f32.s32 <vf>, <[tr, {u32, s32}]>
tex.level.1d.v4.f32.f32 <vf>, [tr, {f32}], <f32>
tld4.r.2d.v4.f32.f32 <vf>, <[tr, {f32, f32}]>
tld4.r.2d.v4.f32.f32 vf, [tr, <{u32, 1}>]
suld.b.1d.b32.trap <b32>, <[ur, {s32}]>
sust.b.1d.b32.trap <[ur, {s32}]>, <b32>
ldmatrix.sync.aligned.m8n8.x1.shared.b16 <{b32}>, <[sd]>
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 <{f32, f32, f32, f32}>, <{b32, b32, b32, b32}>, <{b32, b32}>, <{f32, f32, f32, f32}>
cp.async.ca.shared.global <[sa]>, <[ga]>, <4>
testp.finite.f32 <pr>, <f32>
div.rn.f32 <f32>, f32, <f32>
match.any.sync.b32 <u32>, <b32>, <-1>
redux.sync.add.u32 <u32>, <u32>, <-1>
vadd.u32.u32.u32 <u32>, <u32>, <u32>
txq.width.b32 u32, <[tr]>
activemask.b32 <b32>
lop3.b32 b32, d32, e32, 5, <0xE8>
@<pr> mov.u32 u32, 1
@!<pr> bra L
<nop>
.pragma <\"nounroll\">
.loc <1> <1> <1>
";

/// The atoms that operands consist of.
const ATOMS: &str = "
b8 b16 b32 b64 u16 u32 u64 s32 s64 f16 f162 f32 f64 pr nr1 v2 v4 w2 vf vh vp v2.x v2.z
%tid %tid.x %tid.w %laneid %clock64 %lanemask_eq %envreg0 %nosuch WARP_SZ
0 1 -1 3 31 32 255 65536 0x7fffffff 2147483648 -2147483648 4294967296 -9223372036854775808
18446744073709551615 18446744073709551616 1U 1.0 1e400 0f3f800000 0f7fc00000 0d3ff0000000000000
1+1 (1) 1?2:3 1.0+2.0 !1 1<<64 (.s64)1 0xff(gu) 0xff(1) generic(gu)
gb gu gd gf gr ga gm gv gw gz ge gi gn gn1 ca cv su sa se ki lu la pp pa in tr sr ur
L P T C fn fr fg fe kk k nosuch _ ld
";

/// The shapes of operands. Each is combined with every atom, which replaces `X`.
const SHAPES: &str = "
X
[X]
[X+4]
X+4
-X
X[1]
X.x
{X,X}
";

/// A few atoms of each kind, which are also combined with `MORE_SHAPES`.
const FEW: &str = "u32 d64 f32 pr v2 %laneid %tid 1 1.0 gu ga su la in tr L fn kk nosuch";

const MORE_SHAPES: &str = "
[X+-4]
[X-4]
[X+2147483648]
[X+1.0]
[X+u32]
[X+ga]
[[X]]
[X,X]
X-4
X*2
4+X
!X
~X
X[0]
X[-1]
X[4]
X[u32]
X[u32+1]
X[X]
X[1][1]
X[]
[X[1]]
X[1]+4
X.y
X.w
X.g
X.nosuch
X.x.y
[X.x]
{X}
{X,1}
{X,u32}
{X,X,X,X}
{X,_}
{{X},X}
{}
[{X}]
(X)
(X,X)
()
[(X)]
X|X
X|pr
X|_
X,X
(X)X
";

/// Instructions that accept many types, with `T` for the type.
pub(super) const TYPED: &str = "
ld.global.T <>, [gd]
ld.global.v2.T <>, [gx]
st.global.T [gd], <>
st.shared.v4.T [sa], <>
mov.T <>, u32
mov.T u32, <>
mov.v2.T v2, <>
add.T u32, u32, <>
mul.lo.T u32, u32, <>
mad.lo.T u32, u32, u32, <>
neg.T u32, <>
min.T u32, u32, <>
and.T u32, u32, <>
not.T u32, <>
shl.T u32, u32, <>
shr.T u32, <>, 1
setp.eq.T pr, u32, <>
selp.T u32, u32, <>, pr
cvt.T.u32 u32, <>
cvt.u32.T u32, <>
cvt.rn.f32.T f32, <>
cvta.global.T u32, <>
atom.global.add.T u32, [ga], <>
atom.global.exch.T u32, [ga], <>
red.global.add.T [ga], <>
set.eq.u32.T u32, u32, <>
abs.T u32, <>
div.T u32, u32, <>
rem.T u32, u32, <>
popc.T u32, <>
shfl.sync.idx.T u32, <>, 1, 31, -1
vote.all.T pr, <>
st.param.T [pp], <>
ld.param.T <>, [in]
ldu.global.T <>, [gd]
fma.rn.T f32, f32, f32, <>
";

const TYPES: &str = ".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .bf16 .f32 .f64 .pred .texref";

/// One operand of each kind.
pub(super) const PLAIN: &str = "
b8 b16 b32 b64 u16 u32 u64 s32 s64 f16 f162 f32 f64 pr v2 v4 w2 vf vp v2.x v2.z {u32,u32} {f32,f32,f32,f32} {u64,u64} {pr,pr} {b8,b8}
%laneid %clock64 %tid %tid.x 0 1 -1 255 65536 4294967296 18446744073709551615 1.0 0f3f800000 0d3ff0000000000000 1+1
ga gv su la in fn kk L nosuch ga+4 [ga] ga[1] [u64] 0xff(gu) generic(gu) gr tr
";

pub(super) const HEADER: &str = ".version 7.7\n.target sm_80\n.address_size 64\n";

pub(super) fn families() -> Vec<PlaceFamily> {
    let mut operands: Vec<AxisChoice> = Vec::new();
    for (shapes, atoms) in [(SHAPES, ATOMS), (MORE_SHAPES, FEW)] {
        let atoms = words(atoms);
        for shape in lines(shapes) {
            operands.extend(atoms.iter().map(|atom| {
                AxisChoice::named(shape.name.replace('X', &atom.name), shape.text.replace('X', &atom.text))
            }));
        }
    }
    vec![
        PlaceFamily { name: "operands", axes: vec![places(FORMS), operands], write: in_kernel },
        PlaceFamily { name: "types", axes: vec![typed(TYPED, TYPES), words(PLAIN)], write: in_kernel },
    ]
}

/// Returns every form with every type in place of its `.T`.
pub(super) fn typed(forms: &str, types: &str) -> Vec<AxisChoice> {
    let mut choices = Vec::new();
    for form in lines(forms) {
        let opcode = form.text.split(' ').next().unwrap_or_default();
        for ty in words(types) {
            let name = opcode.replace(".T", &ty.text) + &place_of(&form.text);
            choices.push(AxisChoice::named(name, form.text.replace(".T", &ty.text)));
        }
    }
    choices
}

/// Returns the position of the place among the operands of a form: `:2` for the second operand.
fn place_of(form: &str) -> String {
    let (mut depth, mut operand) = (0_usize, 1);
    for c in form.split("<>").next().unwrap_or_default().chars() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => operand += 1,
            _ => {}
        }
    }
    format!(":{operand}")
}

/// Returns one choice per place of each form, with the usual operands in all other places.
/// For example, `ld.global.u32:2` is `ld.global.u32 u32, <>`.
pub(super) fn places(forms: &str) -> Vec<AxisChoice> {
    let mut places: Vec<AxisChoice> = Vec::new();
    for form in forms.lines().map(str::trim).filter(|form| !form.is_empty()) {
        let starts = form.match_indices('<').map(|(at, _)| at);
        for start in starts {
            let end = start + form[start..].find('>').expect("a place that is opened ends");
            let [before, after] = [&form[..start], &form[end + 1..]].map(|text| text.replace(['<', '>'], ""));
            let text = format!("{before}<>{after}");
            let opcode = form.split(' ').next().unwrap_or_default().replace(['<', '>'], "");
            let mut name = opcode + &place_of(&text);
            while places.iter().any(|place| place.name == name) {
                name.push('\'');
            }
            places.push(AxisChoice::named(name, text));
        }
    }
    places
}

/// Returns a module with a kernel that consists of an instruction with an operand, and the declarations it uses.
pub(super) fn in_kernel(chosen: &[&str]) -> String {
    kernel_of(HEADER, chosen)
}

/// Like [`in_kernel`], with another header.
pub(super) fn kernel_of(header: &str, chosen: &[&str]) -> String {
    let instruction = chosen[0].replacen("<>", chosen[1], 1);
    // A branch table names the labels `L` and `M`. Their statements use a register; declare these too.
    let statements = used(STATEMENTS, &instruction);
    let statements =
        if statements.contains(".branchtargets") { used(STATEMENTS, "L M T") } else { statements };
    below(header, &format!("{statements}{instruction};\n"))
}

/// Returns a module with a kernel that has this body, and the declarations it uses.
pub(super) fn kernel(body: &str) -> String {
    below(HEADER, body)
}

fn below(header: &str, body: &str) -> String {
    let (module, registers) = (used(MODULE, body), used(KERNEL, body));
    format!("{header}{module}.entry k(.param .u64 in) {{\n{registers}{body}ret;\n}}\n")
}

/// Returns the declarations, from lines `NAME := TEXT`, of the names that a source text contains.
fn used(lines: &str, text: &str) -> String {
    declared(lines, |name| names(text, |word| word == name || is_numbered(word, name)))
}

/// Whether a word is one of the names that a parameterized declaration such as `nr<4>` declares.
fn is_numbered(word: &str, name: &str) -> bool {
    ["nr", "gn"].contains(&name)
        && word
            .strip_prefix(name)
            .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_declares_exactly_the_names_that_it_uses() {
        let text = in_kernel(&["ld.global.u32 u32, <>", "[ga+4]"]);
        assert_eq!(
            text,
            format!(
                "{HEADER}.global .u32 ga[4] = {{1, 2, 3, 4}};\n.entry k(.param .u64 in) {{\n.reg .u32 u32;\nld.global.u32 u32, \
                 [ga+4];\nret;\n}}\n"
            )
        );
        let branch = in_kernel(&["brx.idx <>, T", "nr1"]);
        let parts =
            [".reg .u32 nr<4>;\n", ".reg .u32 e32;\n", "L: add.u32", "T: .branchtargets L, M;\nM: add.u32"];
        assert!(
            parts.iter().all(|part| branch.contains(part)) && !branch.contains(".reg .u32 u32"),
            "{branch}"
        );
    }

    #[test]
    fn each_place_of_a_form_is_a_choice() {
        let names: Vec<String> =
            places("add.u32 <u32>, <d32>, 3\nbra <L>").into_iter().map(|c| c.name + " " + &c.text).collect();
        assert_eq!(names, ["add.u32:1 add.u32 <>, d32, 3", "add.u32:2 add.u32 u32, <>, 3", "bra:1 bra <>"]);
    }
}
