// Histograms with privatized bins. The bin edges are a table of the host.
#include "include/launch.cuh"

namespace {
const int kBins = 64;
const unsigned char kShift = 2;
const int kEdges[5] = {0, 16, 64, 192, 256};
} // namespace

__global__ void histogram_shared(const unsigned char *data, int n, unsigned *bins) {
  __shared__ unsigned local[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = launch::thread_index(); i < n; i += launch::thread_count()) atomicAdd(&local[data[i] >> kShift], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

__device__ int edge_of(int value) {
  int bin = 0;
  while (bin < 4 && value >= kEdges[bin + 1]) ++bin; // violation: device_uses_const_host_var_of_invalid_type
  return bin;
}

__device__ const int *first_above(int value, const int *begin, const int *end) {
  while (begin != end && *begin <= value) ++begin;
  return begin;
}

__global__ void histogram_edges(const unsigned char *data, int n, unsigned *bins) {
  for (int i = launch::thread_index(); i < n; i += launch::thread_count()) {
    atomicAdd(&bins[edge_of(data[i])], 1u);
    const int *found = first_above(data[i], kEdges, // violation: address_of_host_var_in_device_code
                                   kEdges + sizeof(kEdges) / sizeof(int)); // violation: address_of_host_var_in_device_code
    if (*found == 0) bins[0] = 0;
  }
}

int main() {
  const int n = 1 << 16;
  unsigned char *data = nullptr;
  unsigned *bins = nullptr;
  CHECK(cudaMalloc(&data, n));
  CHECK(cudaMalloc(&bins, kBins * sizeof(unsigned)));
  CHECK(cudaMemset(bins, 0, sizeof(unsigned) * kBins));
  histogram_shared<<<launch::blocks_for(n), launch::kBlock>>>(data, n, bins);
  histogram_edges<<<launch::blocks_for(n), launch::kBlock>>>(data, n, bins);
  for (int edge : kEdges) std::printf("%d ", edge);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
