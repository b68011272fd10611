// Shared memory, of a fixed and of a dynamic size, and barriers.
#include "prelude.h"
struct Cell { float value; int index; };
extern __shared__ float dynamic[];
__shared__ int module_wide[32];
extern "C" __global__ void reverse(float *out, const float *in) {
  __shared__ float tile[256];
  tile[LANE] = in[LANE]; BARRIER(); out[LANE] = tile[255 - LANE];
}
extern "C" __global__ void transpose(float *out, const float *in, int n) {
  __shared__ float tile[16][17];
  int x = LANE & 15, y = LANE >> 4;
  tile[y][x] = in[y * n + x]; BARRIER(); out[y * n + x] = tile[x][y];
}
extern "C" __global__ void reduce(float *out, const float *in) {
  __shared__ Cell cells[128];
  int t = LANE; cells[t].value = in[t]; cells[t].index = t; BARRIER();
  for (int s = 64; s > 0; s >>= 1) { if (t < s && cells[t + s].value > cells[t].value) cells[t] = cells[t + s]; BARRIER(); }
  if (t == 0) { out[0] = cells[0].value; out[1] = cells[0].index; }
}
extern "C" __global__ void dynamic_use(float *out, int i) { dynamic[i] = out[i]; dynamic[3] = 1; BARRIER(); out[i + 1] = dynamic[i ^ 1] + dynamic[7]; module_wide[i] = 3; out[2] = module_wide[5]; }
extern "C" __global__ void fixed_places(int *out) { __shared__ int a[4], b[4]; a[1] = 5; b[2] = 6; BARRIER(); out[0] = a[2] + b[3]; int *p = &b[1]; out[1] = (int)(u64)p; }
