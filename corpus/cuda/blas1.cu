// Level-1 BLAS: axpy, scal, dot. The tolerance is read before the unit has given it a value.
#include "include/reduce.cuh"

extern const float kTolerance;
const float kUnit = 1.0f;
static const int kUnroll = 4;

template <class T> __global__ void axpy(int n, T a, const T *x, T *y) {
  for (int i = launch::thread_index(); i < n; i += launch::thread_count()) y[i] = a * x[i] + y[i];
}

template <class T> __global__ void scal(int n, T a, T *x) {
  int base = launch::thread_index() * kUnroll;
#pragma unroll
  for (int k = 0; k < kUnroll; ++k)
    if (base + k < n) x[base + k] *= a * static_cast<T>(kUnit);
}

template <class T> __global__ void dot(int n, const T *x, const T *y, T *out) {
  T sum = T(0);
  for (int i = launch::thread_index(); i < n; i += launch::thread_count()) sum += x[i] * y[i];
  sum = reduce::over_block(sum, reduce::Sum(), T(0));
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

__global__ void clamp_small(int n, float *x) {
  int i = launch::thread_index();
  if (i < n && fabsf(x[i]) < kTolerance) x[i] = 0.0f; // violation: const_host_var_not_initialized_before_use
}

const float kTolerance = 1e-6f;

int main() {
  const int n = 1 << 20;
  float *x = nullptr, *y = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  CHECK(cudaMalloc(&out, sizeof(float)));
  axpy<float><<<launch::blocks_for(n), launch::kBlock>>>(n, kUnit, x, y);
  scal<float><<<launch::blocks_for(n), launch::kBlock>>>(n, 2.0f, x);
  dot<float><<<launch::blocks_for(n), launch::kBlock>>>(n, x, y, out);
  clamp_small<<<launch::blocks_for(n), launch::kBlock>>>(n, x);
  CHECK(cudaDeviceSynchronize());
  std::printf("tolerance %g at %p\n", kTolerance, static_cast<const void *>(&kTolerance));
  return 0;
}
