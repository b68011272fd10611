// Atomic operations on global and shared memory.
#include "prelude.h"
struct Lock { int held; int waiting[3]; };
__device__ int total = 5;
__device__ Lock locks[4] = {{1, {2, 3, 4}}};
__device__ u64 big = 0x100000000ull;
extern "C" __global__ void count(const int *in) { ADD(&total, in[LANE]); ADD(&locks[2].waiting[1], 1); }
extern "C" __global__ void histogram(int *out, const u8 *in, int n) {
  __shared__ int bins[256];
  bins[LANE & 255] = 0; BARRIER();
  for (int i = LANE; i < n; i += GROUPS) ADD(&bins[in[i]], 1);
  BARRIER(); ADD(&out[LANE & 255], bins[LANE & 255]);
}
extern "C" __global__ void straight(int *out, int i) { out[0] = ADD(&total, 1); out[1] = SWAP(&locks[1].held, i); out[2] = COMPARE_SWAP(&locks[3].waiting[2], i, 7); MAXIMUM(&out[i], 3); }
extern "C" __global__ void lock(int *out) { while (COMPARE_SWAP(&locks[0].held, 0, 1)) {} out[0]++; SWAP(&locks[0].held, 0); big++; }
