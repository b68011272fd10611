// deviation: crash
// title: a class whose only member is empty and has [[no_unique_address]] crashes the compiler where it has an initializer
// releases: nvrtc 12.9
// symptom: signal
// shape: .*overlapping .*struct \{  \}.*
// first-seen: 2026-11-28
// work-around: Leave the initializer out.
// found: `ptxsmith emit check` of variants of a finding.
// note: SIGSEGV.
struct C1 { };
struct C0 { [[no_unique_address]] C1 m2; };
extern "C" {
__device__ C0 g0 = {{}};
__global__ void k0(unsigned char *o) { *(const void **)(o + 0) = &g0; }
}
