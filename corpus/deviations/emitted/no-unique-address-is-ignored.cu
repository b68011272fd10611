// deviation: wrong-layout
// title: [[no_unique_address]] has no effect
// releases: nvrtc 11.8
// symptom: is not that of g++ and clang
// shape: .*overlapping .*
// first-seen: 2026-11-28
// work-around: Make the member a base.
// found: `ptxsmith emit check` of variants of a finding.
// note: C++17 allows to ignore attributes, g++ and clang++ do not: sizeof is 8 here, and 4 on the host.
// reads: k0+0 05000000
struct C1 { };
struct C0 { [[no_unique_address]] C1 m2; int m3; };
extern "C" {
__device__ C0 g0 = {{}, 5};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m3; }
}
