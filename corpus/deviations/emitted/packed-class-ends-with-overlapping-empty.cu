// deviation: wrong-layout
// title: a packed class that ends with an empty member with [[no_unique_address]] is printed with nearly twice the bytes of sizeof
// releases: cicc 13.0
// releases: nvcc 13.0
// releases: nvrtc 12.9
// symptom: larger than sizeof
// shape: .*packed ([a-z]+ )*struct \{ (.*; )?overlapping ([a-z]+ )*struct \{ *\} \}.*
// first-seen: 2026-11-29
// work-around: Let the empty member be the first.
// found: `ptxsmith emit run --subject nvcc@13.0`.
// note: sizeof is 4, and the variable has 7 bytes. Not so in nvcc 13.5 and NVRTC 13.5.
struct C1 { };
struct __attribute__((packed)) C0 { int m2; [[no_unique_address]] C1 m3; };
extern "C" {
__device__ C0 g0 = {5, {}};
__device__ unsigned long long w0[] = {sizeof(g0)};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m2; }
}
