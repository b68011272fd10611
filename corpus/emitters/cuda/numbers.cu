// A random-number generator, a hash and a checksum with their tables: integer code as projects have it.
#include "prelude.h"
__constant__ u32 crc_table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
__constant__ u64 mix[3] = {0xbf58476d1ce4e5b9ull, 0x94d049bb133111ebull, 0x9e3779b97f4a7c15ull};
__device__ u64 state[4] = {1, 0x123456789abcdefull, ~0ull, 0};
__device__ const u8 permutation[32] = {31, 15, 7, 3, 1, 0, 16, 24, 28, 30, 2, 4, 6, 8, 10, 12, 14, 18, 20, 22, 26, 5, 9, 11, 13, 17, 19, 21, 23, 25, 27, 29};
__device__ u64 rotate(u64 x, int k) { return (x << k) | (x >> (64 - k)); }
extern "C" __global__ void next(u64 *out) { u64 r = rotate(state[1] * 5, 7) * 9, t = state[1] << 17; state[2] ^= state[0]; state[3] ^= state[1]; state[1] ^= state[2]; state[0] ^= state[3]; state[2] ^= t; state[3] = rotate(state[3], 45); out[0] = r; }
extern "C" __global__ void splitmix(u64 *out, u64 seed) { u64 z = seed + mix[2]; z = (z ^ (z >> 30)) * mix[0]; z = (z ^ (z >> 27)) * mix[1]; out[LANE] = z ^ (z >> 31); }
extern "C" __global__ void crc(u32 *out, const u8 *in, int n) { u32 c = ~0u; for (int i = 0; i < n; i++) { c ^= in[i]; c = (c >> 4) ^ crc_table[c & 15]; c = (c >> 4) ^ crc_table[c & 15]; } out[0] = ~c; }
extern "C" __global__ void permute(u8 *out, const u8 *in) { out[permutation[LANE & 31]] = in[permutation[7]]; }
extern "C" __global__ void one_step(u32 *out, u32 c) { out[0] = (c >> 4) ^ crc_table[c & 15]; out[1] = crc_table[3] ^ crc_table[15]; }
