#pragma once
#include "launch.cuh"

// Reductions over a warp and a block, for any type and operation.
namespace reduce {
struct Sum {
  template <class T> __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
struct Max {
  template <class T> __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

template <class T, class Op> __device__ T over_warp(T value, Op op) {
  for (int offset = launch::kWarp / 2; offset > 0; offset /= 2)
    value = op(value, __shfl_down_sync(launch::kFullMask, value, offset));
  return value;
}

template <class T, class Op> __device__ T over_block(T value, Op op, T identity) {
  __shared__ T partial[launch::kWarpsPerBlock];
  value = over_warp(value, op);
  if (launch::lane() == 0) partial[launch::warp()] = value;
  __syncthreads();
  value = threadIdx.x < launch::kWarpsPerBlock ? partial[launch::lane()] : identity;
  return launch::warp() == 0 ? over_warp(value, op) : value;
}
} // namespace reduce
