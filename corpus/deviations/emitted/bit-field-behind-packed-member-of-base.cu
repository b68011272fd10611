// deviation: wrong-layout wrong-value
// title: a bit field behind a packed member is printed three bytes too far where its class has a base and is one
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*struct : (constructed |defaulted |virtual )*struct : .*\{ (.*; )?packed [^{}]* : N( omitted)?(; .*)? \} \{.*
// first-seen: 2026-11-28
// work-around: Do without packed, or make the base a member.
// found: `ptxsmith emit run --subject cicc@13.5`.
// note: C2 has 8 bytes without its tail, m13 is at 8 and m17 at 12; the initializer has m17 at 15.
// reads: k0+48 05000000
struct C2 { alignas(32) char m6; int m7; constexpr C2() : m6{(char)(5)}, m7{5} {} };
struct C1 : C2 { __attribute__((packed)) int m13; int m17 : 6; };
struct C0 : C1 { };
extern "C" {
__device__ C0 g0 = {{{}, 5, 5}};
__global__ void k0(unsigned char *o) { *(int *)(o + 48) = g0.m17; }
}
