// deviation: crash
// title: a bit field behind a packed base with a constructor ends the compiler with an internal error
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// symptom: unexpected error while initializing bitfield
// apart: .*struct : .*(packed|pragma pack) .* : N.*
// first-seen: 2026-11-27
// work-around: Initialize the member in another way, or make the base a member.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: The compiler says: unexpected error while initializing bitfield.
struct alignas(64) __attribute__((packed)) C11 { int m12; long m13; constexpr C11() : m12{5}, m13{5} {} };
struct C0 : C11 { int m18 : 9; };
extern "C" {
__device__ C0 g0 = {{}, 5};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m18; }
}
