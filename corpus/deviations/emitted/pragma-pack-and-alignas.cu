// deviation: wrong-layout wrong-value
// title: #pragma pack does not limit the alignment of a member with alignas, which it does for g++ and clang++
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*pragma pack (aligned |constructed |defaulted |designated |virtual )*struct \{ (.*; )?(overlapping )?aligned .*
// first-seen: 2026-11-27
// work-around: Use no alignas inside of #pragma pack.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: Host and device code of one program see another size of the class.
_Pragma("pack(push, 8)") struct C0 { alignas(16) int m1; }; _Pragma("pack(pop)")
extern "C" {
__device__ C0 g0 = {5};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m1; }
}
