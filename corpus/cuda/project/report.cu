#include "constants.cuh"
#include <cstdio>

namespace heat {
__global__ void print(const float *field, int n) {
  for (int i = 0; i < n; ++i) printf("%d: %f\n", i, clamped(field[i], kDiffusivity));
}

void report(const float *field, int n) { print<<<1, 1>>>(field, n); }
}  // namespace heat
