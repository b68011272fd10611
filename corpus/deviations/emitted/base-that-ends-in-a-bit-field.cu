// deviation: wrong-layout wrong-value
// title: a member behind a base that ends in a bit field is placed a unit too far, and the variable is larger than sizeof says
// releases: nvrtc 11.8 to 12.9
// shape: .*struct : .* : N( \+ N)?( omitted)? \}(,| \{).*
// first-seen: 2026-11-28
// work-around: Make the bit field of the base a whole member, or use NVRTC 13.0.
// found: `ptxsmith emit run --subject nvrtc@11.8`.
// note: The base has 2 bytes without its tail, so m3 is at 4 (C++ ABI, 2.4) for g++, clang++, nvcc and NVRTC 13.0. The variable has it at 8 and 12 bytes, where sizeof is 8: what is copied by sizeof loses its end.
// reads: k0+0 06000000
struct C1 { int m2 : 9; constexpr C1() : m2{5} {} };
struct C0 : C1 { int m3; };
extern "C" {
__device__ C0 g0 = {{}, 6};
__device__ unsigned long long w0[] = {sizeof(C0)};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m3; }
}
