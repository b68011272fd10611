// Row-wise softmax and layer normalization, with policies as template arguments.
#include "include/reduce.cuh"

const float kLowest = -3.4e38f;
extern const float kLogScale;
inline const float kEpsilon = 1e-5f;
namespace tuning {
inline namespace v2 {
const int kRowsPerBlock = 1;
}
const long kMaxColumns = 1L << 14;
} // namespace tuning

template <const float &Epsilon> struct Stabilizer {
  __device__ static float apply(float x) { return x + Epsilon; }
};

template <class T> __global__ void softmax(const T *in, T *out, int columns) {
  const T *row = in + blockIdx.x * tuning::kRowsPerBlock * columns;
  T most = static_cast<T>(kLowest);
  for (int c = threadIdx.x; c < columns && c < tuning::kMaxColumns; c += blockDim.x)
    most = reduce::Max()(most, row[c]);
  most = reduce::over_block(most, reduce::Max(), static_cast<T>(kLowest));
  __shared__ T shared_most;
  if (threadIdx.x == 0) shared_most = most;
  __syncthreads();
  T sum = T(0);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += exp(row[c] - shared_most);
  sum = reduce::over_block(sum, reduce::Sum(), T(0));
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] = exp(row[c] - shared_most) / (sum + kEpsilon);
}

__global__ void layer_norm(const float *in, float *out, int columns) {
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += in[c];
    squares += in[c] * in[c];
  }
  sum = reduce::over_block(sum, reduce::Sum(), 0.0f) / columns;
  squares = reduce::over_block(squares, reduce::Sum(), 0.0f) / columns;
  float scale = rsqrtf(Stabilizer<kEpsilon>::apply(squares - sum * sum)); // violation: address_of_host_var_in_device_code
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = (in[c] - sum) * scale;
}

__global__ void log_softmax(const float *in, float *out, int n) {
  int i = launch::thread_index();
  if (i < n) out[i] = logf(in[i]) * kLogScale; // violation: const_host_var_not_initialized_before_use
}

int main() {
  float *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, 1 << 20));
  CHECK(cudaMalloc(&out, 1 << 20));
  softmax<float><<<64, launch::kBlock>>>(in, out, 1024);
  layer_norm<<<64, launch::kBlock>>>(in, out, 1024);
  log_softmax<<<64, launch::kBlock>>>(in, out, 1024);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
