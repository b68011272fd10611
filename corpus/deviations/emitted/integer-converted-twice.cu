// deviation: wrong-value
// title: an integer of 128 bits that is converted to double is rounded more than once
// releases: nvrtc 11.8 to 12.0
// shape: .*(float|double) converted near a tie.*
// first-seen: 2026-11-27
// work-around: Write the number in hexadecimal.
// found: `ptxsmith emit run --subject nvrtc@11.8`.
// note: The integer lies one above the middle of two doubles.
// reads: k0+0 c17cd3d389e79546
extern "C" {
__device__ double g0 = (double)(__int128)((unsigned __int128)6021048497375ull << 64 | 3467771713075281921ull);
__global__ void k0(unsigned char *o) { *(double *)(o + 0) = g0; }
}
