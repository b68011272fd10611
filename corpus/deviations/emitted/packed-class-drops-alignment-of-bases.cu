// deviation: wrong-layout
// title: a packed class, or one inside of #pragma pack, drops the alignment of its bases
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*(packed|pragma pack) (aligned |constructed |defaulted |designated |virtual )*struct : .*
// first-seen: 2026-11-27
// work-around: Make the base a member.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: g++ and clang++ agree that neither changes bases: the class has 8 bytes there, and 5 here. Host and device code of one program differ.
// reads: k0+0 05000000
// reads: k0+16 05
struct C1 { int m2; };
struct __attribute__((packed)) C0 : C1 { char m5; };
extern "C" {
__device__ C0 g0 = {{5}, 5};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m2; *(char *)(o + 16) = g0.m5; }
}
