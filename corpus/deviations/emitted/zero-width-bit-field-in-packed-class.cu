// deviation: wrong-layout
// title: a bit field of width 0 that is packed, or in a packed class or one inside of #pragma pack, does not align the next member
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*(packed|pragma pack) (aligned |constructed |defaulted |designated |virtual )*struct (: .*)?\{ ([^{}]*; )?unnamed [^{};]* : 0.*
// shape: .*packed unnamed [^{};]* : 0.*
// first-seen: 2026-11-28
// work-around: Use alignas for the next member.
// found: `ptxsmith emit check` of variants of a finding.
// note: It ends the unit ([class.bit]), so the next member is at a multiple of the alignment of its type (C++ ABI, 2.4): at 8 for g++ and clang++, and at 1 here, on the device of the same program.
// reads: k0+0 05000000
struct __attribute__((packed)) C0 { char m1; long : 0; int m2 : 9; };
extern "C" {
__device__ C0 g0 = {1, 5};
__device__ unsigned long long w0[] = {sizeof(C0)};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m2; }
}
