// deviation: wrong-value wrong-address wrong-layout
// title: the padding in front of a member of type __int128 is not printed where the class holds an address
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// releases: clang 19 and later
// shape: .*\*.*__int128.*
// shape: .*__int128; (.*; )?\*.*
// shape: .*virtual .*__int128.*
// shape: .*__int128.*virtual .*
// shape: .*\*.*aligned under-aligned.*
// first-seen: 2026-11-27
// work-around: Name the padding: a member `long` in front of the __int128.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: Only a class with an address is printed in units of 8 bytes. The kernel beside it reads the member 8 bytes further on, and 0.
// reads: k0+0 target
// reads: k0+16 05000000000000000000000000000000
__device__ int target = 1;
struct C0 { const int *m1; __int128 m2; };
extern "C" {
__device__ C0 g0 = {&target, 5};
__global__ void k0(unsigned char *o) { *(const int **)(o + 0) = g0.m1; *(__int128 *)(o + 16) = g0.m2; }
}
