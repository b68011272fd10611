// deviation: wrong-value
// title: a literal of type double that is converted to an integer of 128 bits is not rounded to double before
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*__int128 converted.*
// first-seen: 2026-11-27
// work-around: Write the integer in hexadecimal parts.
// found: `ptxsmith emit run --subject cicc@13.5`.
// note: 1e32 as a double is a multiple of 2^54. So it is where a constexpr double lies between, which assignment rounds ([expr.pre]). NVRTC before 12.9 prints a third value.
// reads: k0+0 000000000000c0855b416d2dee040000
extern "C" {
__device__ __int128 g0 = (__int128)1e32;
__global__ void k0(unsigned char *o) { *(__int128 *)(o + 0) = g0; }
}
