// deviation: wrong-layout wrong-value wrong-address
// title: a bit field behind one of another type inside of #pragma pack begins a unit of its own, which it does not for nvcc, g++ and clang++
// releases: nvrtc 11.8 and later
// shape: .*pragma pack [a-z ]*struct [^}]*: N; [a-z0-9_ ]+ : N.*
// first-seen: 2026-11-28
// work-around: Give the bit fields one type.
// found: `ptxsmith emit run --subject nvrtc@13.5`.
// note: Host code that is compiled by g++ or nvcc, and code compiled by NVRTC, see other places of the members.
// reads: k0+0 01
// reads: k0+16 01000000
_Pragma("pack(push, 1)") struct C0 { int m3 : 14; unsigned short m4 : 12; char m9; }; _Pragma("pack(pop)") extern "C" {
__device__ C0 g0 = {1, 1, 1};
__device__ unsigned long long w0[] = {sizeof(g0), alignof(decltype(g0))};
__global__ void k0(unsigned char *o) { *(char*)(o + 0) = g0.m9; *(int*)(o+16) = g0.m4; }
}
