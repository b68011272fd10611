#include <cuda/std/array>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/atomic>
#include <cuda/std/limits>
#include <cuda/std/complex>
#include <cuda/std/functional>
const int kSize = 4; constexpr float kScale = 0.5f;
__global__ void kernel(float *out, int n) {
  cuda::std::array<float, kSize> a{};
  cuda::std::span<float> s(out, n);
  cuda::std::atomic<int> counter(kSize);
  for (auto &x : a) x = kScale * cuda::std::numeric_limits<float>::epsilon();
  auto t = cuda::std::make_tuple(1, 2.f);
  cuda::std::complex<float> c(kScale, a[1]); // violation: address_of_host_var_in_device_code
  out[threadIdx.x] = s[0] + cuda::std::get<1>(t) + c.real() + counter.fetch_add(kSize);
}
