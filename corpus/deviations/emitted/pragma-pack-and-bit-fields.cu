// deviation: wrong-layout
// title: a bit field inside of #pragma pack begins in a new unit where g++, clang++ and nvcc let it cross the boundary
// releases: nvrtc 11.8 and later
// symptom: is not that of g++ and clang
// shape: .*pragma pack (aligned |constructed |defaulted |designated |virtual )*struct (: .*)?\{ (.*; )?[^{};]* : N.*
// first-seen: 2026-11-28
// work-around: Use a packed structure, or masks.
// found: `ptxsmith emit run --subject nvrtc@13.5`.
// note: The second field begins at bit 57 for g++, clang++ and nvcc, and at bit 64 for NVRTC. sizeof is 10 for all of them. NVRTC keeps the rule of the C++ ABI that a field does not cross a unit of its type, also where the pragma limits no alignment: pack(8) { int; long : 54; short } has 24 bytes, and 16 elsewhere.
// reads: k0+0 0500
_Pragma("pack(push, 2)") struct C0 { long m1 : 57; short m2 : 13; }; _Pragma("pack(pop)")
extern "C" {
__device__ C0 g0 = {5l, 5};
__device__ unsigned long long w0[] = {sizeof(C0)};
__global__ void k0(unsigned char *o) { *(short *)(o + 0) = g0.m2; }
}
