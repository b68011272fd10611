#include <thrust/device_vector.h>
#include <thrust/transform_reduce.h>
#include <thrust/sort.h>
#include <thrust/functional.h>
const float kScale = 2.0f;
struct Square { __host__ __device__ float operator()(float x) const { return kScale * x * x; } };
float norm(thrust::device_vector<float> &v) {
  thrust::sort(v.begin(), v.end());
  return thrust::transform_reduce(v.begin(), v.end(), Square{}, 0.0f, thrust::plus<float>{});
}
