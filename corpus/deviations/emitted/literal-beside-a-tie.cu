// deviation: wrong-value wrong-layout
// title: a decimal literal a little below the middle of two numbers is rounded up
// releases: nvrtc 11.8 to 12.0
// shape: (.*[ {])?(float|double) beside a tie(\[.*)?([ ;].*)?
// shape: .* converted beside a tie.*
// first-seen: 2026-11-27
// work-around: Write the number in hexadecimal.
// found: `ptxsmith emit run`.
// note: Digits far behind the point decide, also of a literal that is converted to another type. C++ leaves the choice of the neighbour open ([lex.fcon]); g++, clang++ and later releases take the nearest.
// reads: k0+0 7d36476d
extern "C" {
__device__ float g0 = 3853336975356278674508742655.99999999999999999999999999f;
__global__ void k0(unsigned char *o) { *(float *)(o + 0) = g0; }
}
