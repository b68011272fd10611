// deviation: wrong-layout wrong-value wrong-address
// title: a member whose type a typedef aligns to less than natural is printed at its natural alignment
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*under-aligned.*
// first-seen: 2026-11-28
// work-around: Put the member into a packed structure.
// found: `ptxsmith emit run --subject nvrtc@13.5`.
// note: sizeof is 6 and offsetof 2, as for g++ and clang++; the variable has 8 bytes, the value at 4, where the kernel reads it. A host copy by sizeof loses its end.
// reads: k0+0 05000000
typedef int Int2 __attribute__((aligned(2)));
struct C0 { char m1; Int2 m2; };
extern "C" {
__device__ C0 g0 = {1, 5};
__device__ unsigned long long w0[] = {sizeof(C0)};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m2; }
}
