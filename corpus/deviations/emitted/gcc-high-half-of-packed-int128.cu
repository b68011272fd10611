// deviation: wrong-value
// title: the high half of a number of 128 bits that is not aligned to 16 is printed as 0
// releases: gcc 12 and later
// symptom: another value
// shape: .*(packed|pragma pack|under-aligned).*__int128.*
// shape: .*__int128.*(packed|pragma pack).*
// shape: .*under-aligned.*
// first-seen: 2026-11-28
// work-around: Do not pack structures with such numbers.
// found: `ptxsmith emit run --subject gcc@12`.
// note: GCC for x86-64 prints all bytes.
// reads: k0+0 01
// reads: k0+16 80ffffffffffffffffffffffffffffff
struct __attribute__((packed)) C0 { char m1; __int128 m2; };
extern "C" {
__device__ C0 g0 = {1, -128};
__global__ void k0(unsigned char *o) { *(char *)(o + 0) = g0.m1; *(__int128 *)(o + 16) = g0.m2; }
}
