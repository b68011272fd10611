// deviation: crash
// title: a bit field behind a base with a packed member in the tail padding of its own base ends the compiler
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// symptom: signal
// symptom: exit status
// shape: .*struct : (aligned |constructed |defaulted |virtual )*struct : .*(constructed|defaulted|virtual|struct :) .*\} \{ (.*; )?packed .*\} \{ (.*; )?[^{};]* : N.*
// first-seen: 2026-11-29
// work-around: Give the class of the packed member a plain base.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: C2 has 20 bytes without its tail, so m14 is at 20.
extern "C" {
struct C2 { int m6; long m7; int m8; constexpr C2() : m6{5}, m7{5l}, m8{5} {} };
struct C1 : C2 { __attribute__((packed)) int m14; };
struct C0 : C1 { short m19; long m20 : 38; };
__device__ C0 g0 = {{{}, 1}, 2, 5l};
}
