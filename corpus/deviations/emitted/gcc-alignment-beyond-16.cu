// deviation: wrong-layout
// title: an alignment beyond 16 is printed as 16
// releases: gcc 12 and later
// symptom: less aligned than alignof says
// first-seen: 2026-11-28
// work-around: Do not rely on more than 16.
// found: `ptxsmith emit run --subject gcc@12`.
// note: w0 in the same PTX says 64. GCC does not warn.
struct alignas(64) C0 { int m1; };
extern "C" {
__device__ C0 g0 = {5};
__device__ unsigned long long w0[] = {sizeof(g0), alignof(decltype(g0))};
}
