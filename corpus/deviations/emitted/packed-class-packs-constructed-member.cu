// deviation: wrong-layout
// title: a packed class packs a member of a class with a constructor, which g++, clang++ and nvcc leave aligned
// releases: nvrtc 11.8 and later
// shape: .*packed ([a-z]+ )*struct \{ (.*; )?(aligned |overlapping )*constructed .*
// first-seen: 2026-11-28
// work-around: Do without the constructor.
// found: `ptxsmith emit run --subject nvrtc@13.5`.
// note: sizeof is 12; for nvcc and the host's compilers it is 16, because `packed` does not apply to members of classes that are not POD.
// reads: k0+0 0600000000000000
struct C1 { long m1; constexpr C1() : m1{6} {} };
struct __attribute__((packed)) C0 { int m2; C1 m3; };
extern "C" {
__device__ C0 g0 = {5, {}};
__device__ unsigned long long w0[] = {sizeof(C0)};
__global__ void k0(unsigned char *o) { *(long *)(o + 0) = g0.m3.m1; }
}
