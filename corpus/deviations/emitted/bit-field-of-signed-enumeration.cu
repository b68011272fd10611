// deviation: wrong-value
// title: a bit field of an enumeration whose underlying type is signed reads as unsigned
// releases: cicc 13.0
// releases: nvcc 13.0
// releases: nvrtc 11.8 to 13.0
// shape: .*Tiny( converted)? : N.*
// first-seen: 2026-11-27
// work-around: Give the member the underlying type.
// found: `ptxsmith emit run`.
// note: An enumeration with a fixed underlying type has all its values ([dcl.enum]); g++, clang++ and nvcc 13.5 read -1.
// reads: k0+0 ff
enum Tiny : signed char {};
struct C0 { Tiny m1 : 1; };
extern "C" {
__device__ C0 g0 = {(Tiny)(-1)};
__global__ void k0(unsigned char *o) { *(Tiny *)(o + 0) = g0.m1; }
}
