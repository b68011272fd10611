// Loops, switches, early returns, local arrays.
#include "prelude.h"
__constant__ float filter[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
__device__ int steps[4] = {1, 3, 5, 7};
extern "C" __global__ void matmul(float *c, const float *a, const float *b, int n) {
  int row = GROUP, column = LANE; float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
extern "C" __global__ void convolve(float *out, const float *in, int w) {
  float s = 0;
  for (int y = 0; y < 3; y++) for (int x = 0; x < 3; x++) s += filter[3 * y + x] * in[y * w + x + LANE];
  out[LANE] = s;
}
extern "C" __global__ void choose(int *out, int which) {
  switch (which) { case 0: out[0] = steps[0]; break; case 1: out[1] = 7; break; case 2: out[2] = out[7]; break; case 3: steps[3] = 1; break; case 4: out[4] = 9; case 5: out[5] = -1; break; case 6: out[6] = which; break; default: out[9] = 0; }
}
extern "C" __global__ void collatz(int *out, u32 n) { int c = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; if (++c > 1000) return; } out[LANE] = c; }
extern "C" __global__ void local_array(int *out, int n, int at) { int a[40]; for (int i = 0; i < 40; i++) a[i] = i * n; a[at] = 3; out[0] = a[at + 1] + a[n]; }
extern "C" __global__ void sort(int *data, int n) { for (int i = 1; i < n; i++) { int v = data[i], j = i; while (j > 0 && data[j - 1] > v) { data[j] = data[j - 1]; j--; } data[j] = v; } }
