//! Addresses in initializers.

use super::module;
use crate::places::{PlaceFamily, declared, lines, names, words};

const SYMBOLS: &str = "gb gu gd gf ga gm gv gz ge gi gn gn1 gn2 gn01 cu ca su sa se tr sr ur fn fe fr k kp nosuch x WARP_SZ %tid L 0f3f800000 1.0";

/// The forms of an address of a symbol `X` in an initializer.
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
X+4==4
generic(X)+4==4
X&&1
X?1:2
1?X:2
1?X:X
(.u64)X
(.s64)X
X+1.0
(X)+1.0
-(X)
(X)==(X)
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

/// Declarations of the symbols, by name.
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

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![PlaceFamily::new("addresses", vec![lines(HOLDERS), words(SYMBOLS), lines(ADDRESSES)], |c| {
        let value = c[2].replace('X', c[1]);
        let text = match c[0].starts_with(".entry") {
            true => c[0].replacen("= X", &format!("= {value}"), 1),
            false => c[0].replace('X', &value),
        };
        module(&(used(&value) + &text))
    })]
}

fn used(text: &str) -> String {
    declared(DECLARED, |name| names(text, |word| word == name || name == "gn" && word.starts_with(name)))
}
