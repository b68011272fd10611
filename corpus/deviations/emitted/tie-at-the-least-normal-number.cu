// deviation: wrong-value
// title: a decimal literal in the middle of the first normal numbers is rounded to the odd one
// releases: cicc 13.5 and later
// releases: nvcc 13.5 and later
// releases: nvrtc 13.5 and later
// shape: .*(float|double) at a tie.*
// first-seen: 2026-11-27
// work-around: Write the number in hexadecimal.
// found: `ptxsmith emit run --subject cicc@13.5`.
// note: The value is 16777219 times 2^-150. C++ leaves the choice of the neighbour open ([lex.fcon]); the same compiler rounds larger ties to even.
// reads: k0+0 02008000
extern "C" {
__device__ float g0 = 0.000000000000000000000000000000000000011754945610170571566912971757816831713060852488113788029861174698386598429233895757306527229957282543182373046875f;
__global__ void k0(unsigned char *o) { *(float *)(o + 0) = g0; }
}
