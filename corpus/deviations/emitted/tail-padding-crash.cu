// deviation: crash
// title: a class that may use the tail padding of a member with [[no_unique_address]] ends the compiler with an internal error
// releases: nvrtc 12.0
// symptom: internal error during structure layout
// symptom: error while padding end of structure
// apart: .*overlapping .*(constructed|defaulted|virtual|struct :).*
// first-seen: 2026-11-28
// work-around: Do without [[no_unique_address]].
// found: `ptxsmith emit run --subject nvrtc@12.0`.
// note: m26 may lie at 12, behind the last member of C21 (Itanium C++ ABI, 2.4). Releases before and after it print a wrong value.
// reads: k0+32 05000000
struct C21 { long m24; int m25; constexpr C21() : m24{5l}, m25{5} {} };
struct C0 { [[no_unique_address]] C21 m20; int m26; };
extern "C" {
__device__ C0 g0 = {{}, 5};
__global__ void k0(unsigned char *o) { *(int *)(o + 32) = g0.m26; }
}
