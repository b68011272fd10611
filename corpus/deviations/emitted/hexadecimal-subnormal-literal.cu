// deviation: wrong-value
// title: a hexadecimal literal with many digits that is rounded to a subnormal number gets another value
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*(float|double) hexadecimal (subnormal|at a tie|beside a tie|converted).*
// first-seen: 2026-11-27
// work-around: Write a number that the type represents exactly.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: The value is 0x6c5313.8000000002 times 2^-149: a little above a tie, so 0x6c5314. See hexadecimal-literal-near-zero-is-infinite.
// reads: k0+0 14536c00
extern "C" {
__device__ float g0 = 0x362989c00.00001p-160f;
__global__ void k0(unsigned char *o) { *(float *)(o + 0) = g0; }
}
