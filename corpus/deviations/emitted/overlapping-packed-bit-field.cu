// deviation: wrong-layout
// title: a packed class that ends in a bit field takes the whole unit of the field where it is a member with [[no_unique_address]]
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 12.0 and later
// shape: .*overlapping ([a-z]+ )*(packed|pragma pack) ([a-z]+ )*struct (: .*)?\{ (.*; )?[^{};]* : N \}.*
// shape: .*pragma pack ([a-z]+ )*struct \{ (.*; )?overlapping ([a-z]+ )*struct (: .*)?\{ (.*; )?[^{};]* : N \}.*
// first-seen: 2026-11-29
// work-around: Do without [[no_unique_address]].
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: C1 has 7 bytes. g++ and clang++ have m4 at 7, nvcc and NVRTC have it at 12. Where the outer class is packed, nvcc has only sizeof too large.
// reads: k0+0 05
struct __attribute__((packed)) C1 { int m2; long m3 : 21; };
struct C0 { [[no_unique_address]] C1 m5; char m4; };
extern "C" {
__device__ C0 g0 = {{1, 5}, 5};
__device__ unsigned long long w0[] = {sizeof(g0)};
__global__ void k0(unsigned char *o) { *(char *)(o + 0) = g0.m4; }
}
