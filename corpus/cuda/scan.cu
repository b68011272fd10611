// Inclusive scans by warp and block, with helper templates that take their bounds by value and by reference.
#include "include/launch.cuh"

const int kItems = 4;
const int kMaxBlocks = 1024;

template <class T> __device__ T clamp_to(const T &value, const T &most) { return value < most ? value : most; }
template <class T> __device__ T clamp_by_value(T value, T most) { return value < most ? value : most; }

template <class T> __device__ T warp_scan(T value) {
  for (int offset = 1; offset < launch::kWarp; offset *= 2) {
    T other = __shfl_up_sync(launch::kFullMask, value, offset);
    if (launch::lane() >= offset) value += other;
  }
  return value;
}

template <class T> __global__ void scan_blocks(const T *in, T *out, T *sums, int n) {
  __shared__ T warp_sums[launch::kWarpsPerBlock];
  int base = launch::thread_index() * kItems;
  T items[kItems];
  T sum = T(0);
  for (int k = 0; k < kItems; ++k) {
    items[k] = base + k < n ? in[base + k] : T(0);
    sum += items[k];
  }
  T scanned = warp_scan(sum);
  if (launch::lane() == launch::kWarp - 1) warp_sums[launch::warp()] = scanned;
  __syncthreads();
  if (launch::warp() == 0 && launch::lane() < launch::kWarpsPerBlock)
    warp_sums[launch::lane()] = warp_scan(warp_sums[launch::lane()]);
  __syncthreads();
  T offset = scanned - sum + (launch::warp() > 0 ? warp_sums[launch::warp() - 1] : T(0));
  for (int k = 0; k < kItems; ++k) {
    offset += items[k];
    if (base + k < n) out[base + k] = offset;
  }
  if (threadIdx.x == blockDim.x - 1) sums[clamp_by_value(int(blockIdx.x), kMaxBlocks)] = offset;
}

template <class T> __global__ void add_sums(T *out, const T *sums, int n) {
  int block = clamp_to(int(blockIdx.x), kMaxBlocks); // violation: address_of_host_var_in_device_code
  if (block == 0) return;
  for (int k = 0; k < kItems; ++k) {
    int i = launch::thread_index() * kItems + k;
    if (i < n) out[i] += sums[block - 1];
  }
}

int main() {
  const int n = 1 << 18;
  int *in = nullptr, *out = nullptr, *sums = nullptr;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&sums, kMaxBlocks * sizeof(int)));
  int grid = n / (launch::kBlock * kItems);
  scan_blocks<int><<<grid, launch::kBlock>>>(in, out, sums, n);
  add_sums<int><<<grid, launch::kBlock>>>(out, sums, n);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
