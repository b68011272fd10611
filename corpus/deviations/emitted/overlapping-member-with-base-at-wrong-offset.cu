// deviation: wrong-layout wrong-value wrong-address
// title: a member with [[no_unique_address]] whose class begins with a base, or where it has a constructor with a member, of lesser alignment and ends in padding is placed at a multiple of the lesser one
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 12.9 and later
// shape: .*overlapping (aligned |constructed |defaulted |designated )*struct : (aligned |constructed |defaulted |designated )*struct \{ (char|short|int|bool)[^{}]*\} \{ [^{}]+ \}.*
// shape: .*overlapping (aligned )*(constructed |defaulted )+(virtual )?struct \{ (char|short|int|bool|float)[^{}]*; (.*; )?(long|double|__int128)[^{}]*; .*\}.*
// first-seen: 2026-11-29
// work-around: Leave out the attribute.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: m3 has the alignment of its `long`, so it is at 8 and sizeof is 32. The variable has 24 bytes, m3 at 4 and `m8` at 8, and the kernel in the same file reads m8 at 16: another value, without a message.
struct C5 { char m6; };
struct C4 : C5 { long m8; float m9; };
struct C0 { int m1; [[no_unique_address]] C4 m3; };
extern "C" {
__device__ C0 g0 = {1, {{5}, 6, 1.0f}};
__device__ unsigned long long w0[] = {sizeof(C0)};
__global__ void k0(unsigned char *o) { *(char *)(o + 0) = g0.m3.m6; *(long *)(o + 16) = g0.m3.m8; }
}
