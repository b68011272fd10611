// Separable convolution. The host keeps the mask; the device has its own copy in constant memory.
#include "include/launch.cuh"

const int kRadius = 3;
const float kMask[2 * kRadius + 1] = {0.03f, 0.1f, 0.2f, 0.34f, 0.2f, 0.1f, 0.03f};
__constant__ float d_mask[2 * kRadius + 1];

template <bool Rows> __global__ void convolve(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int k = -kRadius; k <= kRadius; ++k) {
    int cx = Rows ? max(0, min(width - 1, x + k)) : x;
    int cy = Rows ? y : max(0, min(height - 1, y + k));
    sum += d_mask[k + kRadius] * in[cy * width + cx];
  }
  out[y * width + x] = sum;
}

__device__ float apply(const float *mask, const float *in) {
  float sum = 0;
  for (int k = 0; k < 2 * kRadius + 1; ++k) sum += mask[k] * in[k];
  return sum;
}

__global__ void convolve_line(const float *in, float *out, int n) {
  int i = launch::thread_index();
  if (i + 2 * kRadius < n) out[i] = apply(kMask, in + i); // violation: address_of_host_var_in_device_code
}

int main() {
  const int width = 640, height = 480;
  float *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, width * height * sizeof(float)));
  CHECK(cudaMalloc(&out, width * height * sizeof(float)));
  CHECK(cudaMemcpyToSymbol(d_mask, kMask, sizeof(kMask)));
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  convolve<true><<<grid, block>>>(in, out, width, height);
  convolve<false><<<grid, block>>>(out, in, width, height);
  convolve_line<<<launch::blocks_for(width), launch::kBlock>>>(in, out, width);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
