// cuda::std, libdevice's tables and slow paths.
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/optional>
#include <cuda/std/tuple>
__device__ cuda::std::array<int, 4> values = {1, 2, 3, 4};
__device__ cuda::std::atomic<int> shared_count{7};
__device__ cuda::std::tuple<char, double, short> mixed{'a', 2.5, -3};
extern "C" __global__ void library(int *out, int i) { out[0] = values[i] + values.at(2) + shared_count.fetch_add(1, cuda::std::memory_order_relaxed); cuda::std::optional<int> o; if (i > 3) o = i; out[1] = o.value_or(9) + (int)cuda::std::get<1>(mixed); }
extern "C" __global__ void slow(float *out, double *d) { out[0] = sinf(out[1]); out[2] = powf(out[3], 2.5f); out[4] = erfcinvf(out[5]); d[0] = cos(d[1]); d[2] = tgamma(d[3]); d[4] = j0(d[5]); out[6] = fmodf(out[7], out[8]); d[6] = d[7] / d[8]; }
