// deviation: wrong-layout wrong-value wrong-address
// title: a member that lies in the tail padding of one with [[no_unique_address]] is printed behind it
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*overlapping .*(constructed|defaulted|virtual|struct :).*\}( omitted)?(; | \} \{ ).*
// first-seen: 2026-11-27
// work-around: Do without [[no_unique_address]].
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: sizeof and the kernel have the member at offset 5, the initializer at 8; the variable has 12 bytes, and sizeof is 8.
// reads: k0+32 07
struct C1 { int m1; char m2; constexpr C1() : m1{5}, m2{6} {} };
struct C0 { [[no_unique_address]] C1 m3; char m4; };
extern "C" {
__device__ C0 g0 = {{}, 7};
__global__ void k0(unsigned char *o) { *(char *)(o + 32) = g0.m4; }
}
