// Constant tables of every scalar type, read at constant and at computed places.
#include "prelude.h"
__constant__ u8 sbox[64] = {0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76, 255, 254, 253};
__constant__ i8 signs[5] = {-128, -1, 0, 1, 127};
__constant__ short shorts[7] = {-32768, -1, 0, 1, 32767, 12345};
__constant__ u16 words[3][5] = {{1, 2, 3, 4, 5}, {65535, 65534}, {0x8000}};
__constant__ int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, -2147483647 - 1, 2147483647};
__constant__ u64 rounds[8] = {0x428a2f98d728ae22ull, 0x7137449123ef65cdull, 0xffffffffffffffffull, 0x8000000000000000ull};
__constant__ float weights[6] = {1.0f, -0.0f, 0.1f, 3.4028235e38f, 1.17549435e-38f, 1e-45f};
__constant__ double poles[5] = {0.1, -1e308, 4.9e-324, 2.2250738585072014e-308, -0.0};
__constant__ float special[3] = {INFINITE, -INFINITE, NOT_A_NUMBER};
__constant__ bool flags[9] = {true, false, true, true};
__device__ int counter = 42;
__device__ i64 longs[2] = {-9223372036854775807ll - 1, 9223372036854775807ll};
__device__ u32 sparse[100] = {1};
__device__ u32 zeros[33];
__device__ float cube[2][3][4] = {{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, {{-1, -2}}};
__device__ const double coefficients[4] = {0x1.921fb54442d18p+1, 0x1.5bf0a8b145769p+1, 0x1p-1022, 0x1.fffffffffffffp+1023};
extern "C" __global__ void fixed(u64 *out, double *real) {
  out[0] = sbox[3] + signs[1] + shorts[4];
  out[1] = words[1][1] + primes[10];
  out[2] = rounds[1] ^ rounds[3];
  out[3] = counter + longs[1] + sparse[0] + zeros[32];
  real[0] = weights[2] + poles[1] + special[0] + cube[1][0][1] + coefficients[2];
  out[4] = flags[2];
}
extern "C" __global__ void indexed(u64 *out, double *real, int i) {
  out[i] = sbox[i] + signs[i] + shorts[i] + words[i & 1][i >> 1] + primes[i];
  out[i + 1] = rounds[i] + longs[i] + sparse[i + 7] + zeros[2 * i] + flags[i];
  real[i] = weights[i] + poles[i] + special[i] + cube[i][1][i] + coefficients[i];
  counter = i;
}
