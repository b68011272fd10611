// Quantization of weights, with per-type limits in a traits template and a helper that returns references.
#include "include/launch.cuh"

template <class T> struct Limits;
template <> struct Limits<signed char> {
  static const int kLow = -128, kHigh = 127;
};
template <> struct Limits<short> {
  static const int kLow = -32768, kHigh = 32767;
};

const float kDefaultScale = 0.0125f;
const short kZeroPoint = 3;
const int kGroup = 64;

__host__ __device__ inline const float &pick(bool custom, const float &scale, const float &fallback) {
  return custom ? scale : fallback;
}
__device__ inline const short &zero_point() { return kZeroPoint; } // violation: address_of_host_var_in_device_code

template <class T> __device__ T saturate(float x) {
  int rounded = static_cast<int>(x + (x < 0 ? -0.5f : 0.5f));
  return static_cast<T>(max(Limits<T>::kLow, min(Limits<T>::kHigh, rounded)));
}

template <class T> __global__ void quantize(const float *in, T *out, const float *scales, int n) {
  for (int i = launch::thread_index(); i < n; i += launch::thread_count()) {
    float scale = scales ? scales[i / kGroup] : kDefaultScale;
    out[i] = saturate<T>(in[i] / scale + zero_point());
  }
}

template <class T> __global__ void dequantize(const T *in, float *out, float scale, int n) {
  int i = launch::thread_index();
  if (i < n)
    out[i] = (in[i] - kZeroPoint) * pick(scale > 0, scale, kDefaultScale); // violation: address_of_host_var_in_device_code
}

int main() {
  const int n = 1 << 16;
  float *values = nullptr, *scales = nullptr;
  signed char *bytes = nullptr;
  short *words = nullptr;
  CHECK(cudaMalloc(&values, n * sizeof(float)));
  CHECK(cudaMalloc(&scales, n / kGroup * sizeof(float)));
  CHECK(cudaMalloc(&bytes, n));
  CHECK(cudaMalloc(&words, n * sizeof(short)));
  quantize<signed char><<<launch::blocks_for(n), launch::kBlock>>>(values, bytes, scales, n);
  quantize<short><<<launch::blocks_for(n), launch::kBlock>>>(values, words, nullptr, n);
  dequantize<short><<<launch::blocks_for(n), launch::kBlock>>>(words, values, 0.0f, n);
  std::printf("%g\n", pick(false, 1.0f, kDefaultScale));
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
