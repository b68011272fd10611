// Bitonic and radix passes. The comparison takes its pivot by reference: a copy on the device would do.
#include "include/launch.cuh"

constexpr int kRadixBits = 4;
const int kRadix = 1 << kRadixBits;
static const int kSentinel = 0x7fffffff;

template <class T> __host__ __device__ void order(T &a, T &b, bool up) {
  if ((b < a) == up) {
    T t = a;
    a = b;
    b = t;
  }
}

template <class T> struct Less {
  const T &pivot;
  __device__ bool operator()(const T &x) const { return x < pivot; }
};

template <class T> __global__ void bitonic(T *data, int n, int stage, int step) {
  int i = launch::thread_index();
  int j = i ^ step;
  if (j > i && j < n) order(data[i], data[j], (i & stage) == 0);
}

__global__ void count_digits(const int *data, int n, int shift, int *counts) {
  __shared__ int local[kRadix];
  if (threadIdx.x < kRadix) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = launch::thread_index(); i < n; i += launch::thread_count())
    if (data[i] != kSentinel) atomicAdd(&local[(data[i] >> shift) & (kRadix - 1)], 1);
  __syncthreads();
  if (threadIdx.x < kRadix) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

__global__ void compact(const int *data, int n, int *out) {
  Less<int> is_value{kSentinel}; // violation: address_of_host_var_in_device_code
  for (int i = launch::thread_index(); i < n; i += launch::thread_count())
    if (is_value(data[i])) out[i] = data[i];
}

int main() {
  const int n = 1 << 12;
  int *data = nullptr, *counts = nullptr;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMalloc(&counts, kRadix * sizeof(int)));
  for (int stage = 2; stage <= n; stage *= 2)
    for (int step = stage / 2; step > 0; step /= 2)
      bitonic<int><<<launch::blocks_for(n), launch::kBlock>>>(data, n, stage, step);
  for (int shift = 0; shift < 32; shift += kRadixBits)
    count_digits<<<launch::blocks_for(n), launch::kBlock>>>(data, n, shift, counts);
  compact<<<launch::blocks_for(n), launch::kBlock>>>(data, n, data);
  int low = kSentinel, high = 1;
  order(low, high, true);
  return low;
}
