// Tiled matrix multiplication, the tile being a constant of a traits class.
#include "include/launch.cuh"

template <class T> struct Tile {
  static const int kWidth = 16;
  static const T kAlpha;
};
template <class T> const T Tile<T>::kAlpha = T(2);

struct Config {
  static const int kDepth;
  static constexpr int kPad = 1;
};

template <class T> __global__ void matmul(int n, const T *a, const T *b, T *c) {
  __shared__ T as[Tile<T>::kWidth][Tile<T>::kWidth + Config::kPad];
  __shared__ T bs[Tile<T>::kWidth][Tile<T>::kWidth + Config::kPad];
  int row = blockIdx.y * Tile<T>::kWidth + threadIdx.y;
  int col = blockIdx.x * Tile<T>::kWidth + threadIdx.x;
  T sum = T(0);
  for (int tile = 0; tile * Tile<T>::kWidth < n; ++tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + tile * Tile<T>::kWidth + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(tile * Tile<T>::kWidth + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < Tile<T>::kWidth; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = Tile<T>::kAlpha * sum;
}

__global__ void trace(int n, const float *a, float *out) {
  float sum = 0;
  for (int i = 0; i < min(n, Config::kDepth); ++i) // violation: const_host_var_not_initialized_before_use
    sum += a[i * n + i];
  const int &pad = Config::kPad; // violation: address_of_host_var_in_device_code
  *out = sum + pad;
}

const int Config::kDepth = 1024;

__global__ void trace_deep(int n, const float *a, float *out) {
  float sum = 0;
  for (int i = 0; i < n && i < Config::kDepth; ++i) sum += a[i * n + i];
  *out = sum;
}

int main() {
  const int n = 256;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  CHECK(cudaMalloc(&a, n * n * sizeof(float)));
  CHECK(cudaMalloc(&b, n * n * sizeof(float)));
  CHECK(cudaMalloc(&c, n * n * sizeof(float)));
  dim3 block(Tile<float>::kWidth, Tile<float>::kWidth);
  dim3 grid(n / block.x, n / block.y);
  matmul<float><<<grid, block>>>(n, a, b, c);
  trace<<<1, 1>>>(n, c, a);
  trace_deep<<<1, 1>>>(n, c, b);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
