// deviation: wrong-layout wrong-value wrong-address
// title: a packed class lays out bases and members of its bases as if they were packed too
// releases: cicc 11.8 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*packed struct : .*
// first-seen: 2026-11-27
// work-around: Make the base a member.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: g++ and clang++ agree that the attribute does not change bases: the class has 8 bytes there, and 5 here.
// reads: k0+0 05000000
// reads: k0+16 05
struct C1 { int m2; };
struct __attribute__((packed)) C0 : C1 { char m5; };
extern "C" {
__device__ C0 g0 = {{5}, 5};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m2; *(char *)(o + 16) = g0.m5; }
}
