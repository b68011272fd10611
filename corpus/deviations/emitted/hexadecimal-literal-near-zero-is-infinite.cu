// deviation: wrong-value
// title: a hexadecimal literal whose digits are rounded to a subnormal number becomes infinite
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// shape: .*(float|double) hexadecimal (subnormal|at a tie|beside a tie|converted).*
// first-seen: 2026-11-27
// work-around: Write a number that the type represents exactly.
// found: `ptxsmith emit run --subject cicc@13.5`.
// note: The value is 1.5 times the least number, so a tie, which goes to twice it. NVRTC refuses the literal as out of range ([lex.fcon] gives the range of the type).
// reads: k0+0 02000000
extern "C" {
__device__ float g0 = 0xcp-152f;
__global__ void k0(unsigned char *o) { *(float *)(o + 0) = g0; }
}
