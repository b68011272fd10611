// deviation: wrong-value wrong-layout
// title: a decimal literal in the middle of two numbers of type float is rounded to the odd one
// releases: cicc 13.0
// releases: nvcc 13.0
// releases: nvrtc 12.9 to 13.0
// shape: (.*[ {])?(float|double) (converted )?at a tie(\[.*)?([ ;].*)?
// first-seen: 2026-11-27
// work-around: Write the number in hexadecimal.
// found: `ptxsmith emit run --subject cicc@13.0`.
// note: C++ leaves the choice of the neighbour open ([lex.fcon]); g++, clang++, NVRTC 12.0 and release 13.5 round ties to even, as IEC 60559 does.
// reads: k0+0 0000804b
extern "C" {
__device__ float g0 = 16777217.0f;
__global__ void k0(unsigned char *o) { *(float *)(o + 0) = g0; }
}
