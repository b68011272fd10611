#include <cub/device/device_reduce.cuh>
const int kBias = 3;
struct Add { __device__ int operator()(int a, int b) const { return a + b + kBias; } };
cudaError_t total(void *storage, size_t &bytes, const int *in, int *out, int n) {
  return cub::DeviceReduce::Reduce(storage, bytes, in, out, n, Add{}, 0);
}
