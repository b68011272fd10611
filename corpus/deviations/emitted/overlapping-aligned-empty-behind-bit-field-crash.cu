// deviation: crash
// title: an aligned empty member with [[no_unique_address]] behind a bit field crashes the compiler
// releases: cicc 13.0
// releases: nvcc 13.0
// releases: nvrtc 12.9
// symptom: signal
// symptom: exit status
// shape: .* : N( omitted)?; (.*; )?overlapping aligned ([a-z]+ )*struct \{ *\}.*
// first-seen: 2026-11-29
// work-around: Leave the member out.
// found: `ptxsmith emit run --subject nvcc@13.0`.
// note: SIGSEGV, also with alignas(2).
struct alignas(16) C1 { };
struct C0 { short m2 : 4; [[no_unique_address]] C1 m3; };
extern "C" {
__device__ C0 g0 = {0, {}};
__global__ void k0(unsigned char *o) { *(const void **)(o + 0) = &g0; }
}
