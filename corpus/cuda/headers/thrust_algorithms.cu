#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/reduce.h>
#include <thrust/for_each.h>
#include <thrust/count.h>
#include <thrust/transform.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/complex.h>
#include <thrust/pair.h>
#include <thrust/swap.h>
const int kFactor = 3; constexpr float kOffset = 0.5f;
struct Scale { __host__ __device__ int operator()(int i) const { return i * kFactor; } };
struct Odd { __host__ __device__ bool operator()(int i) const { return i % 2; } };
struct Write { float *p; __host__ __device__ void operator()(int i) const { p[i] = kOffset + thrust::max(i, kFactor); } }; // violation: address_of_host_var_in_device_code
int all(int *data, float *out, int n) {
  auto first = thrust::make_transform_iterator(thrust::make_counting_iterator(0), Scale{});
  auto policy = thrust::device;
  thrust::for_each(policy, thrust::make_counting_iterator(0), thrust::make_counting_iterator(n), Write{out});
  return thrust::reduce(policy, first, first + n) + (int)thrust::count_if(policy, data, data + n, Odd{});
}
__global__ void kernel(int *data, thrust::complex<float> *out) {
  auto permuted = thrust::make_permutation_iterator(data, thrust::make_counting_iterator(0));
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(data, permuted));
  thrust::pair<int, float> pair(kFactor + 0, kOffset + 0);
  thrust::swap(data[0], data[1]);
  thrust::transform(thrust::seq, data, data + 4, data, Scale{});
  thrust::inclusive_scan(thrust::seq, data, data + 4, data);
  thrust::sort(thrust::seq, data, data + 4);
  *out = thrust::exp(thrust::complex<float>(pair.second, pair.first)) * thrust::polar(kOffset + 0, 1.f);
  data[2] = thrust::get<0>(*zipped) + thrust::min(data[3], +kFactor);
}
