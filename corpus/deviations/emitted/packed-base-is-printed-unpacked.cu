// deviation: wrong-value wrong-address wrong-layout
// title: the initializer of a packed base is printed with padding that the base does not have
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: (.* )?struct : ([^{}]*\{[^{}]*\}, )*(packed|pragma pack) .*
// shape: (.* )?struct : (constructed |defaulted |virtual )*struct .*; packed .*\} \{.*
// first-seen: 2026-11-27
// work-around: Make the base a member.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: offsetof has m22 at 5, the initializer at 8. A base with a packed member is printed so too.
// reads: k0+32 05000000
struct C19 { int m20; constexpr C19() : m20{5} {} };
struct __attribute__((packed)) C14 { C19 m18; char m21; int m22; };
struct C0 : C14 { };
extern "C" {
__device__ C0 g0 = {{{}, 5, 5}};
__global__ void k0(unsigned char *o) { *(int *)(o + 32) = g0.m22; }
}
