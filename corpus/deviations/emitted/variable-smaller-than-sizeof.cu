// deviation: wrong-layout
// title: a class with a member with [[no_unique_address]] and a bit field or a member in its tail padding is printed with fewer bytes than sizeof
// releases: clang 19 and later
// symptom: smaller than sizeof
// shape: .*overlapping aligned struct \{ (struct \{ )?[^{}]*\*[^{}]*\}( \})?; .*
// shape: .*overlapping .*(constructed|defaulted|virtual|struct :).*\}( omitted)?(; | \} \{ ).*
// first-seen: 2026-11-27
// work-around: Do without [[no_unique_address]].
// found: `ptxsmith emit run`.
// note: sizeof is 8, and the variable has 6 bytes: what is copied reaches behind it.
struct C5 { long m6 : 20; constexpr C5() : m6{5} {} };
struct C0 { [[no_unique_address]] C5 m4; long m7 : 21; };
extern "C" {
__device__ C0 g0 = {{}, 5};
__device__ unsigned long long w0[] = {sizeof(g0)};
__global__ void k0(unsigned char *o) { *(long *)(o + 0) = g0.m7; }
}
