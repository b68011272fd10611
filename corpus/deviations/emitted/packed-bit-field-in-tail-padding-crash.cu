// deviation: crash
// title: a bit field of a packed class that lies in the tail padding of the base ends the compiler
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// symptom: bit-field constant must have a known value at compile time
// symptom: signal
// shape: .*(packed|pragma pack) (aligned |constructed |defaulted |virtual )*struct : .*\} \{ (.*; )?[^{};]* : N.*
// first-seen: 2026-11-28
// work-around: Do without packed, or make the base a member.
// found: `ptxsmith emit run --subject nvrtc@11.8`.
// note: An internal error or SIGSEGV. C12 has 9 bytes without its tail, so m19 is at 9. The base may also have an empty base in place of a constructor, and the class may be packed by #pragma pack.
struct C12 { char m14; int m15; int m18 : 5; constexpr C12() : m14{(char)(5)}, m15{5}, m18{5} {} };
struct __attribute__((packed)) C1 : C12 { long m19 : 46; };
extern "C" {
__device__ C1 g0 = {{}, 5l};
__global__ void k0(unsigned char *o) { *(int *)(o + 32) = g0.m18; *(long *)(o + 48) = g0.m19; }
}
