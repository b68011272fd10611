//! Operands of the remaining instructions (9.7): one operand of each kind in each place.

use super::{
    AxisChoice, PlaceFamily,
    operands::{PLAIN, TYPED, kernel_of, places, typed},
    words,
};

/// Forms of sm_80 that `operands` does not contain.
const FORMS: &str = "
add.cc.u32 <u32>, <u32>, <u32>
addc.u32 u32, <u32>, <u32>
sub.cc.u32 u32, <u32>, <u32>
madc.lo.cc.u32 u32, <u32>, <u32>, <u32>
mul24.lo.u32 <u32>, <u32>, <u32>
mad24.lo.u32 u32, <u32>, <u32>, <u32>
sad.u32 <u32>, <u32>, <u32>, <u32>
bfind.u32 <u32>, <u32>
brev.b32 <b32>, <b32>
clz.b32 <u32>, <b32>
bfi.b32 <b32>, <b32>, <b32>, <3>, <4>
fns.b32 <b32>, <u32>, <u32>, <s32>
bmsk.clamp.b32 <b32>, <u32>, <u32>
szext.clamp.s32 <s32>, <s32>, <u32>
shf.l.clamp.b32 <b32>, <b32>, <b32>, <u32>
lop3.b32 <b32>, <b32>, <b32>, <b32>, <0xE8>
cnot.b32 <b32>, <b32>
dp4a.u32.u32 <u32>, <u32>, <u32>, <u32>
dp2a.lo.u32.u32 u32, <u32>, <u32>, <u32>
copysign.f32 <f32>, <f32>, <f32>
rcp.rn.f32 <f32>, <f32>
sqrt.rn.f64 <f64>, <f64>
ex2.approx.f32 <f32>, <f32>
tanh.approx.f32 <f32>, <f32>
fma.rn.f16x2 <f162>, <f162>, <f162>, <f162>
set.eq.f16x2.f16x2 <f162>, <f162>, <f162>
setp.eq.f16x2 <pr|pq>, <f162>, <f162>
vadd.s32.u32.s32 <s32>, <u32>, <s32>
vabsdiff.u32.u32.u32.add <u32>, <u32.b1>, <u32.h1>, <u32>
vmad.s32.s32.s32 <s32>, <s32>, <s32>, <s32>
vset.s32.s32.eq <u32>, <s32>, <s32>
vshl.u32.u32.u32.clamp <u32>, <u32>, <u32>
vadd2.u32.u32.u32 <u32>, <u32>, <u32>, <u32>
vset4.u32.u32.eq <u32>, <u32>, <u32>, <u32>
match.all.sync.b32 <u32|pr>, <b32>, <-1>
bar.warp.sync <-1>
nanosleep.u32 <20>
pmevent <7>
trap <>
brkpt <>
alloca.u64 <u64>, <32>, <16>
stacksave.u64 <u64>
stackrestore.u64 <u64>
istypep.texref <pr>, <d64>
suq.width.b32 <b32>, <[ur]>
sured.b.add.1d.u32.trap <[ur, {s32}]>, <u32>
tld4.g.2d.v4.u32.f32 <v4>, <[tr, {f32, f32}]>
tex.grad.2d.v4.f32.f32 <vf>, <[tr, {f32, f32}]>, <{f32, f32}>, <{f32, f32}>
wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 <{b32, b32, b32, b32, b32, b32, b32, b32}>, <[sd]>, <16>
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 <{f64, f64}>, <{f64}>, <{f64}>, <{f64, f64}>
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 <{b32, b32, b32, b32}>, <[sd]>
cp.async.cg.shared.global <[sd]>, <[gw]>, <16>, <u32>
cp.async.wait_group <0>
cp.async.mbarrier.arrive.shared.b64 <[sb]>
mbarrier.init.shared.b64 <[sb]>, <u32>
mbarrier.inval.shared.b64 <[sb]>
mbarrier.arrive.shared.b64 <b64>, <[sb]>
mbarrier.arrive.noComplete.shared.b64 b64, <[sb]>, <u32>
mbarrier.test_wait.shared.b64 <pr>, <[sb]>, <b64>
mbarrier.pending_count.b64 <u32>, <b64>
createpolicy.fractional.L2::evict_last.b64 <b64>, <1.0>
createpolicy.range.L2::evict_last.b64 <b64>, <[ga]>, <16>, <32>
createpolicy.cvt.L2.b64 <b64>, <b64>
applypriority.global.L2::evict_normal <[ga]>, <128>
discard.global.L2 <[ga]>, <128>
ld.global.L2::cache_hint.u32 <u32>, <[ga]>, <b64>
st.global.L2::cache_hint.v4.f32 <[gw]>, <vf>, <b64>
ld.global.nc.L1::no_allocate.L2::128B.v4.u32 <v4>, <[gw]>
ld.acquire.gpu.u32 <u32>, <[d64]>
st.release.sys.v2.u32 <[d64]>, <v2>
ld.relaxed.cta.shared.u32 <u32>, <[sa]>
red.global.add.noftz.f16x2 <[ga]>, <f162>
atom.global.inc.u32 <u32>, <[ga]>, <u32>
cvt.rn.f16x2.f32 <f162>, <f32>, <f32>
cvt.rn.relu.bf16.f32 <b16>, <f32>
cvt.pack.sat.u8.s32.b32 <u32>, <s32>, <s32>, <u32>
cvt.rna.tf32.f32 <b32>, <f32>
subc.cc.u32 u32, <u32>, <u32>
mad.lo.cc.u32 u32, <u32>, <u32>, <u32>
rsqrt.approx.f32 <f32>, <f32>
rcp.approx.ftz.f64 <f64>, <f64>
sin.approx.f32 <f32>, <f32>
lg2.approx.f32 <f32>, <f32>
mad.rn.f64 <f64>, <f64>, <f64>, <f64>
max.f32 <f32>, <f32>, <f32>
min.bf16 <b16>, <b16>, <b16>
neg.f16x2 <f162>, <f162>
ex2.approx.f16 <f16>, <f16>
set.ltu.and.u32.f32 <u32>, <f32>, <f32>, <pr>
slct.f32.s32 <f32>, <f32>, <f32>, <s32>
vsub.u32.u32.u32.sat <u32>, <u32.b3>, <u32.h0>
vmin.s32.s32.s32.max <s32>, <s32>, <s32>, <s32>
vshr.u32.u32.u32.wrap.add <u32>, <u32>, <u32>, <u32>
vavrg4.u32.u32.u32 <u32>, <u32>, <u32>, <u32>
vabsdiff4.u32.u32.u32.add <u32>, <u32>, <u32>, <u32>
vmax2.s32.s32.s32 <u32.h1>, <u32.h10>, <u32.h32>, <u32>
prmt.b32.f4e <b32>, <b32>, <b32>, <u32>
shfl.sync.up.b32 <b32|pr>, <b32>, <u32>, <u32>, <u32>
vote.sync.ballot.b32 <b32>, <pr>, <u32>
vote.sync.uni.pred <pr>, <!pr>, <-1>
bar.red.and.pred <pr>, <0>, <32>, <!pr>
barrier.arrive <u32>, <u32>
fence.acq_rel.gpu <>
fence.proxy.alias <>
atom.global.cas.b16 <b16>, <[gh]>, <b16>, <b16>
atom.shared.add.noftz.f16x2 <f162>, <[sd]>, <f162>
atom.acq_rel.gpu.global.min.s64 <s64>, <[gd]>, <s64>
tex.base.1d.v4.f32.f32 <vf>, <[tr, {f32}]>
tex.2dms.v4.s32.s32 <v4>, <[tr, {s32, s32, s32, s32}]>
tex.cube.v4.f32.f32 <vf>, <[tr, {f32, f32, f32, f32}]>
tex.1d.v4.f32.f32 <{f32, _, f32, _}>, <[d64, {f32}]>, <{s32}>
tex.1d.v4.f32.f32 <vf|pr>, [tr, {f32}]
tex.level.2d.v4.f32.f32 <vf>, <[tr, {f32, f32}]>, <1.0>, <{s32, s32}>, <f32>
suld.b.2d.v4.b32.clamp <v4>, <[ur, {s32, s32}]>
sust.p.1d.v4.b32.trap <[ur, {s32}]>, <v4>
sust.b.a1d.b64.zero <[ur, {u32, s32}]>, <b64>
txq.level.width.b32 <b32>, <[tr]>, <u32>
wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 <[sd]>, <{f32, f32, f32, f32, f32, f32, f32, f32}>, <16>
wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 <{f64, f64}>, <{f64}>, <{f64}>, <{f64, f64}>
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 <{f162, f162}>, <{b32, b32, b32, b32}>, <{b32, b32}>, <{f162, f162}>
mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 <{s32, s32, s32, s32}>, <{b32, b32, b32, b32}>, <{b32, b32}>, <{s32, s32, s32, s32}>
mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc <{s32, s32, s32, s32}>, <{b32, b32, b32, b32}>, <{b32, b32}>, <{s32, s32, s32, s32}>
mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 <{f32, f32, f32, f32}>, <{b32, b32, b32, b32}>, <{b32, b32, b32, b32}>, <{f32, f32, f32, f32}>, <b32>, <0>
cp.async.ca.shared.global.L2::cache_hint <[sa]>, <[ga]>, <4>, <2>, <b64>
cp.async.ca.shared.global [sa], [ga], 4, <pr>
cp.async.commit_group <>
mbarrier.arrive_drop.shared.b64 <b64>, <[sb]>
createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 <b64>, <0.5>
prefetch.global.L2::evict_last <[ga]>
ld.global.ca.L2::64B.f64 <f64>, <[gl]>
ld.const.v4.u32 <v4>, <[cv]>
ld.local.v2.f32 <{f32, f32}>, <[lu]>
ld.param.v2.u32 <{u32, u32}>, <[in]>
ld.weak.shared.s8 <s32>, <[sd]>
st.local.v2.u64 <[lq]>, <w2>
st.wt.global.v4.u16 <[gy]>, <{u16, u16, u16, u16}>
st.shared.v2.b8 <[sd]>, <{b8, b8}>
st.volatile.u64 <[d64]>, <u64>
cvta.to.local.u64 <u64>, <d64>
cvta.const.u64 <u64>, <ca>
isspacep.shared <pr>, <u64>
cvt.rzi.s32.f32 <s32>, <f32>
cvt.sat.u8.s32 <u8>, <s32>
cvt.rn.bf16x2.f32 <b32>, <f32>, <f32>
cvt.f64.f32 <f64>, <f32>
cvt.rni.ftz.f32.f32 <f32>, <f32>
";

/// Forms of sm_90a.
const FORMS_90: &str = "
st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 <[sa]>, <b32>, <[sb]>
st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [u32], <{b32, b32, b32, b32}>, [u32]
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 <[sa]>, <u32>, <[sb]>
mbarrier.arrive.expect_tx.shared.b64 <b64>, <[sb]>, <u32>
mbarrier.arrive.release.cluster.shared::cluster.b64 <_>, <[u32]>, <u32>
mbarrier.expect_tx.relaxed.cta.shared.b64 <[sb]>, <u32>
mbarrier.complete_tx.relaxed.cta.shared.b64 <[sb]>, <u32>
mbarrier.test_wait.parity.shared.b64 <pr>, <[sb]>, <u32>
mbarrier.try_wait.shared.b64 <pr>, <[sb]>, <b64>, <u32>
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes <[sa]>, <[ga]>, <16>, <[sb]>
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [sa], [ga], 16, [sb], <u16>, <b64>
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes <[u32]>, <[sa]>, <16>, <[u32]>
cp.async.bulk.global.shared::cta.bulk_group <[ga]>, <[sa]>, <16>
cp.async.bulk.prefetch.L2.global <[ga]>, <16>
cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes <[sa]>, <[tm, {s32}]>, <[sb]>
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [sa], [tm, <{s32, s32}>], [sb], <u16>, <b64>
cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [sa], [<tm>, {s32, s32, s32}], [sb], <{u16}>
cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group <[tm, {s32}]>, <[sa]>
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 <[ga]>, <[sa]>, <16>
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 <[u32]>, <[sa]>, <16>, <[u32]>
cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group <[tm, {s32}]>, <[sa]>
cp.async.bulk.prefetch.tensor.1d.L2.global.tile <[tm, {s32}]>
cp.async.bulk.wait_group <0>
tensormap.replace.tile.global_address.shared::cta.b1024.b64 <[sm]>, <b64>
tensormap.replace.tile.rank.global.b1024.b32 <[tm]>, <1>
tensormap.replace.tile.box_dim.global.b1024.b32 <[tm]>, <0>, <u32>
tensormap.replace.tile.elemtype.global.b1024.b32 <[tm]>, <3>
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned <[tm]>, <[sm]>, <128>
fence.proxy.tensormap::generic.acquire.gpu <[tm]>, <128>
prefetch.tensormap <[tm]>
multimem.ld_reduce.global.add.u32 <u32>, <[ga]>
multimem.ld_reduce.global.add.v4.f32 <{f32, f32, f32, f32}>, <[gw]>
multimem.st.global.u32 <[ga]>, <u32>
multimem.red.global.add.u32 <[ga]>, <u32>
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 <{f32, f32, f32, f32}>, <b64>, <b64>, <1>, <1>, <1>, <0>, <0>
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f32, f32, f32, f32}, <{b32, b32, b32, b32}>, b64, <pr>, 1, 1, 0
wgmma.wait_group.sync.aligned <0>
elect.sync <u32|pr>, <-1>
lop3.or.b32 <b32|pr>, b32, b32, b32, 1, <pq>
movmatrix.sync.aligned.m8n8.trans.b16 <b32>, <b32>
setmaxnreg.inc.sync.aligned.u32 <240>
stmatrix.sync.aligned.m8n8.x1.shared.b16 <[sd]>, <{b32}>
mapa.shared::cluster.u32 <u32>, <u32>, <u32>
mapa.u64 <u64>, <d64>, <u32>
mapa.shared::cluster.u64 u64, <sa>, u32
getctarank.shared::cluster.u32 <u32>, <u32>
barrier.cluster.arrive <>
griddepcontrol.wait <>
atom.global.add.v4.f32 <{f32, f32, f32, f32}>, <[gw]>, <{f32, f32, f32, f32}>
red.global.add.v4.f32 <[gw]>, <{f32, f32, f32, f32}>
atom.global.exch.b128 <b128>, <[gw]>, <b128>
ld.global.b128 <b128>, <[gw]>
st.global.b128 <[gw]>, <b128>
mov.b128 <b128>, <{d64, d64}>
mov.b128 <{d64, d64}>, <b128>
cvt.rn.satfinite.e4m3x2.f32 <b16>, <f32>, <f32>
cvt.rn.f16x2.e4m3x2 <f162>, <b16>
fence.mbarrier_init.release.cluster <>
cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [sa], [tm, <{s32, s32, s32, s32}>], [sb], <{u16, u16}>
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint <[d64, {s32, s32}]>, <[u32]>, <b64>
cp.async.bulk.prefetch.tensor.3d.L2.global.im2col <[tm, {s32, s32, s32}]>, <{u16}>
cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.bf16 <[ga]>, <[sa]>, <16>, <b64>
cp.async.bulk.commit_group <>
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 <pr>, <[u32]>, <u32>, <u32>
mbarrier.arrive.release.cta.shared::cta.b64 <b64>, <[u32]>, <u32>
wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 <{s32, s32, s32, s32}>, <b64>, <b64>, <pr>
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 <{f32, f32, f32, f32}>, <b64>, <b64>, <b32>, <0>, <pr>, <1>, <1>, <0>, <0>
wgmma.fence.sync.aligned <>
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 <[sm]>, <1>, <32>
tensormap.replace.tile.global_stride.global.b1024.b64 <[tm]>, <1>, <u64>
tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 <[sm]>, <3>
stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 <[u32]>, <{b32, b32, b32, b32}>
multimem.ld_reduce.relaxed.gpu.global.min.v2.f16x2 <{f162, f162}>, <[gx]>
multimem.red.global.add.v4.f32 <[gw]>, <{f32, f32, f32, f32}>
multimem.st.global.v2.f32 <[gx]>, <{f32, f32}>
barrier.cluster.wait.acquire <>
ld.shared::cluster.u32 <u32>, <[u32]>
st.shared::cluster.u32 <[u32]>, <u32>
atom.shared::cluster.add.u32 <u32>, <[u32]>, <u32>
isspacep.shared::cluster <pr>, <d64>
cvta.to.shared::cluster.u64 <u64>, <d64>
atom.global.cas.b128 <b128>, <[gw]>, <b128>, <b128>
atom.global.add.noftz.v2.f16x2 <{f162, f162}>, <[gx]>, <{f162, f162}>
min.u16x2 <b32>, <b32>, <b32>
add.s16x2 <b32>, <b32>, <b32>
add.bf16x2 <b32>, <b32>, <b32>
cvt.rn.relu.tf32.f32 <b32>, <f32>
cvt.rn.satfinite.relu.e5m2x2.f16x2 <b16>, <f162>
cvta.param.u64 <u64>, <in>
";

/// Forms of sm_100a.
const FORMS_100: &str = "
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 <[sa]>, <32>
tcgen05.dealloc.cta_group::1.sync.aligned.b32 <u32>, <32>
tcgen05.ld.sync.aligned.16x64b.x1.b32 <{b32}>, <[u32]>
tcgen05.ld.sync.aligned.32x32b.x2.b32 <{b32, u32}>, <[u32]>
tcgen05.ld.sync.aligned.16x32bx2.x1.b32 <{b32}>, <[u32]>, <2>
tcgen05.st.sync.aligned.16x64b.x1.b32 <[u32]>, <{b32}>
tcgen05.cp.cta_group::1.128x256b <[u32]>, <b64>
tcgen05.shift.cta_group::1.down <[u32]>
tcgen05.mma.cta_group::1.kind::f16 <[b32]>, <b64>, <b64>, <b32>, <pr>
tcgen05.mma.cta_group::1.kind::f16 [b32], <[b32]>, b64, b32, <{b32, b32, b32, b32}>, <pr>, <1>
tcgen05.mma.ws.cta_group::1.kind::f16 <[b32]>, <b64>, <b64>, <b32>, <pr>, <b64>
tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 <[d64]>
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 <[u32]>, <u16>
clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 <[sd]>, <[sb]>
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 <pr>, <b128>
clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 <v4>, <b128>
redux.sync.min.abs.NaN.f32 <f32>, <f32>, <-1>
add.rn.f32x2 <b64>, <b64>, <b64>
fma.rn.f32x2 <b64>, <b64>, <b64>, <b64>
cvt.rn.satfinite.e2m1x2.f32 <b8>, <f32>, <f32>
cvt.rs.f16x2.f32 <b32>, <f32>, <f32>, <b32>
cvt.rp.satfinite.ue8m0x2.f32 <b16>, <f32>, <f32>
st.bulk.weak.shared::cta <[u64]>, <16>, <0>
ld.global.v8.b32 <{b32, b32, b32, b32, b32, b32, b32, b32}>, <[gy]>
st.global.v8.f32 <[gy]>, <{f32, f32, f32, f32, f32, f32, f32, f32}>
ld.global.v4.b64 <{d64, d64, d64, d64}>, <[gy]>
ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 <{b32, b32}>, <[sd]>
stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 <[sd]>, <{b32}>
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 <{f32, f32, f32, f32}>, <{b32, b32, b32, b32}>, <{b32, b32}>, <{f32, f32, f32, f32}>
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned <>
tcgen05.wait::ld.sync.aligned <>
tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 <[u32]>, <u32>
tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 <{b32, u32}>, <[b32]>
tcgen05.st.sync.aligned.16x32bx2.x1.unpack::16b.b32 <[b32]>, <2>, <{b32}>
tcgen05.cp.cta_group::1.64x128b.warpx2::02_13.b8x16.b6x16_p32 <[b32]>, <b64>
tcgen05.cp.cta_group::1.32x128b.warpx4 <[b32]>, <b64>
tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X <[b32]>, <b64>, <b64>, <b32>, <[b32]>, <[b32]>, <pr>
tcgen05.mma.sp.cta_group::1.kind::f16 <[b32]>, <b64>, <b64>, <[b32]>, <b32>, <pr>
tcgen05.mma.ws.sp.cta_group::1.kind::i8.collector::b0::fill <[b32]>, <[b32]>, <b64>, <[b32]>, <b32>, <pr>
tcgen05.mma.cta_group::2.kind::tf32.collector::a::lastuse [b32], [b32], b64, b32, <{b32, b32, b32, b32, b32, b32, b32, b32}>, <pr>
tcgen05.fence::after_thread_sync <>
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 <[u32]>, <[u32]>
clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 <b32>, <b128>
max.f32 <f32>, <f32>, <f32>, <f32>
mul.rz.f32x2 <b64>, <b64>, <b64>
add.rn.f32.f16 <f32>, <f16>, <f32>
fma.rn.f32.bf16 <f32>, <b16>, <b16>, <f32>
cvt.rn.f16x2.e2m1x2 <b32>, <b8>
cvt.rn.bf16x2.ue8m0x2 <b32>, <b16>
cvt.rs.satfinite.e4m3x4.f32 <b32>, <{f32, f32, f32, f32}>, <b32>
ld.global.nc.L2::evict_last.v8.f32 <{f32, f32, f32, f32, f32, f32, f32, f32}>, <[gy]>
ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 <{b32, b32}>, <[sd]>
cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes <[sa]>, <[tm, {s32, s32, s32, s32, s32}]>, <[sb]>
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::1 <[u32]>, <[d64, {s32, s32}]>, <[u32]>
cp.async.bulk.global.shared::cta.bulk_group.cp_mask <[ga]>, <[sa]>, <16>, <u16>
multimem.ld_reduce.global.add.acc::f16.v4.e4m3x4 <{b32, b32, b32, b32}>, <[gw]>
elect.sync <_|pr>, <u32>
";

/// Types of later PTX versions, or that few instructions accept.
const TYPES: &str =
    ".b128 .tf32 .bf16x2 .f16x2 .u16x2 .s16x2 .f32x2 .e4m3x2 .e5m2 .e2m1x2 .ue8m0x2 .u8x4 .b4 .s4 .b1 .b1024";

const SM_90: &str = ".version 8.6\n.target sm_90a\n";

pub(super) fn families() -> Vec<PlaceFamily> {
    const SM_80: &str = ".version 7.7\n.target sm_80\n";
    const SM_100: &str = ".version 8.8\n.target sm_100a\n";
    vec![
        PlaceFamily::new("others", vec![places(FORMS), plain()], |chosen| written(chosen, SM_80)),
        PlaceFamily::new("others-90", vec![places(FORMS_90), plain()], |chosen| written(chosen, SM_90)),
        PlaceFamily::new("others-100", vec![places(FORMS_100), plain()], |chosen| written(chosen, SM_100)),
        PlaceFamily::new("types-90", vec![typed(TYPED, TYPES), plain()], |chosen| written(chosen, SM_90)),
    ]
}

/// Returns one operand of each kind, and operands that are unusual or invalid everywhere.
fn plain() -> Vec<AxisChoice> {
    const ODD: &str = "
    _ {} {_} {u32} {u32,_} {u32,u32,u32,u32} {f32} {b32,b32} {1,1} {1} {L} {ga} [u32] [d64] [su] [in] [tr] [1] [_] [u32+4294967296] [ga-2147483649] [nosuch]
    [ga,{u32}] [tr,{f32}] [ga,1] [{u32}] [fn] [L] [%tid.x] [pr] [v2] u32|pr pr|pq !pr !u32 -u32 -1.0 nr1 gn1 u32.b0 u32.h1 v2.y.x ga[u32] ga[nosuch]
    2147483648 -2147483648 18446744073709551616 9223372036854775808 1e400 0f7fc00000 1<<63 !1 kk sr ur P C T .u32 (u32) ()
    ";
    let mut all = words(PLAIN);
    all.extend(words(ODD));
    all
}

fn written(chosen: &[&str], header: &str) -> String {
    kernel_of(&format!("{header}.address_size 64\n"), chosen)
}
