// deviation: wrong-layout wrong-value wrong-address
// title: a member whose typedef lowers its alignment is stored where the plain type would be, and sizeof and offsetof deny it
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*under-aligned.*
// first-seen: 2026-11-28
// work-around: Use a packed class, or a member of characters.
// found: `ptxsmith emit run --subject cicc@13.5`.
// note: The front end computes a size of 12 and an offset of 4, as g++ and clang++ do; the variable has 16 bytes, and the kernel loads at 8.
// reads: k0+0 05000000
// reads: k0+16 0500000000000000
typedef long Long4 __attribute__((aligned(4)));
struct C0 { int m1; Long4 m2; }; extern "C" {
__device__ C0 g0 = {5, (Long4)(5)};
__device__ unsigned long long w0[] = {sizeof(g0), alignof(decltype(g0)), __builtin_offsetof(C0, m1), __builtin_offsetof(C0, m2)};
__global__ void k0(unsigned char *o) { *(int*)(o + 0) = g0.m1; *(Long4*)(o + 16) = g0.m2; }
}
