// deviation: wrong-layout
// title: an empty member with [[no_unique_address]] whose address a base of the same type takes is misplaced, and so are the members behind it
// releases: cicc 13.0
// releases: nvcc 13.0
// releases: nvrtc 12.0 to 13.0
// symptom: is not that of g++ and clang
// shape: .*struct \{  \}.*overlapping struct .*\{  \}.*
// first-seen: 2026-11-28
// work-around: Do without the attribute, or without the common empty base.
// found: `ptxsmith emit check` of variants of a finding.
// note: The empty member goes to 1, and the data size stays 0 (C++ ABI, 2.4), so m3 is at 0 for g++, clang++ and release 13.5. Here it is at 4, in the device code of the same program.
// reads: k0+0 05000000
struct C1 { };
struct C2 : C1 { };
struct C0 : C1 { [[no_unique_address]] C2 m2; int m3; };
extern "C" {
__device__ C0 g0 = {{}, {{}}, 5};
__device__ unsigned long long w0[] = {sizeof(C0)};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m3; }
}
