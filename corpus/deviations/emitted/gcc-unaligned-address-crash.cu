// deviation: crash
// title: an address that is not aligned to 8 ends GCC by an internal error
// releases: gcc 12 and later
// symptom: nvptx_assemble_integer
// shape: .*(packed|pragma pack|under-aligned).*
// first-seen: 2026-11-28
// work-around: Do not pack structures that hold addresses.
// found: `ptxsmith emit run --subject gcc@12`.
// note: Some of them get the answer that unaligned pointers are not implemented.
struct __attribute__((packed)) C0 { char m1; const int *m2; };
extern "C" {
__device__ int target = 1;
__device__ C0 g0 = {1, &target};
}
