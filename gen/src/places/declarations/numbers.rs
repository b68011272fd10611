//! Numbers in every position where one may occur.

use super::{module, with_g};
use crate::places::{PlaceFamily, lines, words};

const NUMBERS: &str = "0 1 2 3 4 5 7 8 16 24 32 64 100 127 128 129 255 256 257 1000 1023 1024 1025 4096 65535 65536 65537 1048576 16777216 \
    268435456 1073741824 2147483647 2147483648 4294967295 4294967296 4294967297 1099511627776 9223372036854775807 9223372036854775808 18446744073709551615 \
    18446744073709551616 99999999999999999999 -1 -2147483648 -9223372036854775808 010 08 0x10 0b10 1U 4294967295U 1.0 0f3f800000 1+1 (1) \
    ~0 !0 1?2:3 x g WARP_SZ %tid _";

/// Programs with a number `N`.
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
rows := .global .u32 x[N][4294967296];
body := .entry k() { .global .u32 x[N]; ret; }
property := .global .texref x = {width = N};
numbered := .global .u32 v<N>;
numbered-name := .global .u32 v<3>; .global .u64 x = vN;
numbered-register := .entry k() { .reg .u32 r<3>; mov.u32 rN, 1; ret; }
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
preserve := .func f() .abi_preserve N { ret; }
preserve-control := .func f() .abi_preserve_control N { ret; }
nctapercluster := .entry k() .reqnctapercluster N { ret; }
clusterrank := .entry k() .maxclusterrank N { ret; }
const-in-body := .entry k() { .const .u8 x[N]; ret; }
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

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![PlaceFamily::new("numbers", vec![lines(COUNTED), words(NUMBERS)], |c| {
        module(&with_g(&c[0].replace('N', c[1]).replace("\\n", "\n")))
    })]
}
