// deviation: wrong-value
// title: a sum, product or quotient of type double in a constant expression is rounded twice
// releases: nvrtc 11.8 to 12.0
// shape: .*(double|float) computed.*
// shape: .*double converted.*
// first-seen: 2026-11-28
// work-around: Write the result.
// found: `ptxsmith emit run --subject nvrtc@11.8`.
// note: The sum is a little above the middle of 1 and the next double. 64 bits, as of x87, hold only the middle, which goes to 1. Later releases, nvcc, g++ and clang++ round once; IEC 60559 does.
// reads: k0+0 010000000000f03f
extern "C" {
__device__ double g0 = 0x1p0 + 0x1.0000000000001p-53;
__global__ void k0(unsigned char *o) { *(double *)(o + 0) = g0; }
}
