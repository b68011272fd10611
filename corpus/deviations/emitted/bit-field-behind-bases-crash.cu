// deviation: crash
// title: a bit field behind two bases, the second with a constructor, crashes the compiler
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// symptom: signal
// shape: struct : .*struct : struct .*, (constructed|defaulted) struct .*: N.*
// first-seen: 2026-11-27
// work-around: Make the second base a member.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: SIGSEGV.
__device__ int target = 1;
struct C2 { int m3; };
struct C4 { int m5; const int *m6; char m8[3]; constexpr C4() : m5{5}, m6{&target}, m8{"ye"} {} };
struct C1 : C2, C4 { long m13 : 50; };
struct C0 : C1 { int m17; };
extern "C" {
__device__ C0 g0 = {{{5}, {}, 5}, 5};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m17; }
}
