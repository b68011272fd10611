//! Kernels of instructions through which threads exchange values.

/// Bodies of kernels: `%r5` and `%d1` are values of the lane, `%r4` is its number, and `%r10` is what it
/// leaves. `%r11` is a place of its own in `.shared` with `%d1`, `%d8` the same place as a generic address,
/// and `%d9` one in `.global`.
const COMMON: &[&str] = &[
    "shfl.sync.up.b32 %r10, %r5, 3, 0, -1;",
    "shfl.sync.down.b32 %r10|%p1, %r5, 5, 0x181f, -1;\n@%p1 add.u32 %r10, %r10, 1;",
    "shfl.sync.bfly.b32 %r10, %r5, 9, 31, -1;",
    "shfl.sync.idx.b32 %r10|%p1, %r5, %r5, 0x1c1f, 0xffffffff;\n@!%p1 mov.u32 %r10, 7;",
    "setp.lt.s32 %p1, %r5, 9;\nvote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r10, %r5, 0, %p2;",
    "setp.lt.s32 %p1, %r5, 9;\nvote.sync.any.pred %p2, !%p1, -1;\nselp.u32 %r10, %r5, 0, %p2;",
    "setp.lt.s32 %p1, %r5, 9;\nvote.sync.uni.pred %p2, %p1, -1;\nselp.u32 %r10, %r5, 0, %p2;",
    "setp.lt.s32 %p1, %r5, 9;\nvote.sync.ballot.b32 %r10, %p1, -1;",
    "and.b32 %r5, %r5, 3;\nmatch.any.sync.b32 %r10, %r5, -1;",
    "and.b64 %d1, %d1, 3;\nmatch.any.sync.b64 %r10, %d1, -1;",
    "and.b32 %r5, %r5, 0x70000000;\nmatch.all.sync.b32 %r10|%p1, %r5, -1;\n@!%p1 mov.u32 %r10, %r4;",
    "and.b64 %d1, %d1, 0;\nmatch.all.sync.b64 %r10|%p1, %d1, -1;\n@%p1 add.u32 %r10, %r10, %r4;",
    // The lanes meet behind a branch that only some of them take, and in a loop.
    "setp.gt.u32 %p1, %r4, 12;\n@%p1 bra L;\nxor.b32 %r5, %r5, 0x155;\nL:\nshfl.sync.idx.b32 %r10, %r5, 3, 31, -1;",
    "mov.u32 %r8, 0;\nM:\nshfl.sync.bfly.b32 %r10, %r5, %r8, 31, -1;\nadd.u32 %r5, %r5, %r10;\nadd.u32 %r8, %r8, 1;\n\
     setp.lt.u32 %p1, %r8, 5;\n@%p1 bra M;",
    "atom.shared.add.u32 %r10, [%r11], %r5;",
    "atom.shared.min.s32 %r10, [%r11], %r5;",
    "atom.shared.max.u32 %r10, [%r11], %r5;",
    "atom.shared.and.b32 %r10, [%r11], %r5;",
    "atom.shared.or.b32 %r10, [%r11], 77;",
    "atom.shared.exch.b32 %r10, [%r11], %r4;",
    "ld.shared.u32 %r9, [%r11];\natom.shared.cas.b32 %r10, [%r11], %r9, %r4;",
    "atom.shared.cas.b32 %r10, [%r11], %r5, %r4;",
    "atom.shared.inc.u32 %r10, [%r11], %r4;",
    "atom.shared.dec.u32 %r10, [%r11], %r4;",
    "red.shared.xor.b32 [%r11], %r5;",
    "atom.shared.add.u64 %d3, [%r11], 3;\ncvt.u32.u64 %r10, %d3;",
    "atom.shared.min.s64 %d3, [%r11], 5;\ncvt.u32.u64 %r10, %d3;",
    "atom.shared.max.u64 %d3, [%r11], 5;\ncvt.u32.u64 %r10, %d3;",
    "atom.shared.exch.b64 %d3, [%r11], 5;\ncvt.u32.u64 %r10, %d3;",
    "atom.shared.cas.b64 %d3, [%r11], %d1, 5;\ncvt.u32.u64 %r10, %d3;",
    "red.shared.or.b64 [%r11], 129;",
    "atom.add.u32 %r10, [%d8], %r5;",
    "atom.cas.b32 %r10, [%d8], %r5, 4;",
    "atom.xor.b64 %d3, [%d8], 1;\ncvt.u32.u64 %r10, %d3;",
    "red.add.u64 [%d8], 1;",
    "atom.add.u32 %r10, [%d9], %r5;",
    "atom.min.s64 %d3, [%d9], %d1;\ncvt.u32.u64 %r10, %d3;",
    "red.max.u32 [%d9], %r5;",
    "red.xor.b64 [%d9], %d1;",
    "atom.acq_rel.sys.global.add.u32 %r10, [%d9], 1;",
    "atom.relaxed.cta.global.exch.b64 %d3, [%d9], %d1;\ncvt.u32.u64 %r10, %d3;",
];
/// From `sm_80` on.
const LATER: &[&str] = &[
    "redux.sync.add.s32 %r10, %r5, -1;",
    "redux.sync.add.u32 %r10, %r5, -1;",
    "redux.sync.min.s32 %r10, %r5, -1;",
    "redux.sync.min.u32 %r10, %r5, -1;",
    "redux.sync.max.s32 %r10, %r5, -1;",
    "redux.sync.max.u32 %r10, %r5, -1;",
    "redux.sync.and.b32 %r10, %r5, -1;",
    "redux.sync.or.b32 %r10, %r5, -1;",
    "redux.sync.xor.b32 %r10, %r5, -1;",
];

/// A module of such kernels, each for a body.
pub fn module(target: &str, version: &str) -> String {
    let later = if target == "sm_75" { &[] } else { LATER };
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n");
    for (nth, body) in COMMON.iter().chain(later).enumerate() {
        text += &format!(
            ".visible .entry x{nth:02}(.param .u64 in, .param .u64 out) .reqntid 32\n{{
.reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.shared .align 8 .b64 s[32];
ld.param.u64 %d10, [in];\nld.param.u64 %d11, [out];
cvta.to.global.u64 %d10, %d10;\ncvta.to.global.u64 %d11, %d11;
mov.u32 %r4, %tid.x;\nmul.wide.u32 %d12, %r4, 16;\nadd.s64 %d10, %d10, %d12;\nadd.s64 %d9, %d11, %d12;
ld.global.u32 %r5, [%d10];\nld.global.u64 %d1, [%d10+8];
mov.u32 %r11, s;\nshl.b32 %r12, %r4, 3;\nadd.u32 %r11, %r11, %r12;\nst.shared.u64 [%r11], %d1;
cvt.u64.u32 %d8, %r11;\ncvta.shared.u64 %d8, %d8;\nst.global.u64 [%d9], %d1;\nmov.u32 %r10, 1;
{body}
ld.shared.u64 %d13, [%r11];\nst.global.u64 [%d9+1024], %d13;\nst.global.u32 [%d9+2048], %r10;\nret;\n}}\n"
        );
    }
    text
}
