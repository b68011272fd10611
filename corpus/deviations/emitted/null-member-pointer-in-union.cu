// deviation: wrong-value wrong-layout
// title: a pointer to a data member in a union without an initializer is printed as 0, which is the first member, not as null
// releases: cicc 13.0 and later
// releases: gcc 12 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*union \{ member pointer.*
// first-seen: 2026-11-27
// work-around: Write the initializer: {(int Record::*)nullptr}.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: The C++ ABI has -1 for null (2.3), and clang prints it.
// reads: k0+0 ffffffffffffffff
struct Record { int first, second, third; };
typedef int Record::*DataMember;
union C0 { DataMember m1; };
extern "C" {
__device__ C0 g0 = {};
__global__ void k0(unsigned char *o) { *(DataMember *)(o + 0) = g0.m1; }
}
