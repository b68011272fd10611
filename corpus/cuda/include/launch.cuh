#pragma once
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>

// Launch geometry that all samples share: constants of the host that device code reads by value.
namespace launch {
const int kWarp = 32;
const int kBlock = 256;
constexpr int kWarpsPerBlock = kBlock / kWarp;
const unsigned kFullMask = 0xffffffffu;

inline int blocks_for(int n) { return (n + kBlock - 1) / kBlock; }

__device__ inline int thread_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int thread_count() { return static_cast<int>(blockDim.x * gridDim.x); }
__device__ inline int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline int warp() { return static_cast<int>(threadIdx.x) / kWarp; }
} // namespace launch

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t status = (call);                                                 \
    if (status != cudaSuccess) {                                                 \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      return 1;                                                                  \
    }                                                                            \
  } while (0)
