// deviation: wrong-value wrong-address
// title: the initializer of a base is printed packed where the derived class is packed, and read where it is not
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*(packed|pragma pack) (aligned |constructed |defaulted |designated |virtual )*struct : .*
// first-seen: 2026-11-27
// work-around: Make the base a member.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: offsetof and the kernel have m5 at 8, the initializer has it at 4.
// reads: k0+16 0500000000000000
struct C2 { int m4; };
struct C1 : C2 { long m5; int m6; };
_Pragma("pack(push, 4)") struct C0 : C1 { }; _Pragma("pack(pop)")
extern "C" {
__device__ C0 g0 = {{{5}, 5, 5}};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m4; *(long *)(o + 16) = g0.m5; }
}
