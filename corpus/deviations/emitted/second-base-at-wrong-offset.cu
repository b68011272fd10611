// deviation: wrong-value wrong-address wrong-layout
// title: a second base that begins with a part of lesser alignment is placed at a multiple of the lesser one
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: (constructed |virtual )*struct : struct \{ .*\}, struct : .*
// shape: (constructed |virtual )*struct : struct .*\}, struct \{ (int|char|short|long) : N.*
// shape: (static )?(constructed |virtual )*struct : .*\}, struct \{ (.*; )?aligned .*
// shape: (constructed |virtual )*struct : .*\}, struct \{ .*overlapping struct .*
// first-seen: 2026-11-27
// work-around: Give the second base a first member of its largest alignment.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: No attribute is needed: m17 is at 8 in the initializer and at 4 for the kernel, which is not aligned.
struct C1 { int m9; };
struct C11 { int m13; };
struct C14 { long m17; };
struct C18 { int m19; };
struct C10 : C11, C14, C18 { };
struct C0 : C1, C10 { };
extern "C" {
__device__ C0 g0 = {{5}, {{5}, {5}, {5}}};
__global__ void k0(unsigned char *o) { *(long *)(o + 0) = g0.m17; *(int *)(o + 16) = g0.m19; }
}
