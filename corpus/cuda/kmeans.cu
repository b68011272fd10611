// K-means with a distance policy and a fixed number of clusters.
#include "include/launch.cuh"
#include "include/vec.cuh"
#include <type_traits>

const int kClusters = 8;
const float kFar = 3.0e38f;
const char *const kNames[2] = {"euclid", "manhattan"};
const int *const kNoAssignment = nullptr;

struct Euclid {
  static const bool kIsMetric = true;
  __device__ static float distance(Vec3f a, Vec3f b) { Vec3f d = a - b; return d.dot(d); }
};
struct Manhattan {
  static const bool kIsMetric = true;
  __device__ static float distance(Vec3f a, Vec3f b) { return fabsf(a.x - b.x) + fabsf(a.y - b.y) + fabsf(a.z - b.z); }
};

template <class Policy> __global__ void assign(const Vec3f *points, const Vec3f *centers, int *out, int n) {
  static_assert(Policy::kIsMetric, "a metric is needed");
  static_assert(std::is_empty<Policy>::value, "no state");
  __shared__ Vec3f local[kClusters * 1];
  if (threadIdx.x < kClusters) local[threadIdx.x] = centers[threadIdx.x];
  __syncthreads();
  int i = launch::thread_index();
  if (i >= n) return;
  float best = kFar;
  for (int c = 0; c < kClusters; ++c) {
    float d = Policy::distance(points[i], local[c]);
    if (d < best) {
      best = d;
      out[i] = c;
    }
  }
}

__global__ void reassign(const int *previous, int *changed, const int *out, int n) {
  int i = launch::thread_index();
  if (previous == kNoAssignment) return; // violation: device_uses_const_host_var_of_invalid_type
  if (i < n && previous[i] != out[i]) atomicAdd(changed, 1);
  if (i == 0) printf("%s\n", kNames[0]); // violation: device_uses_const_host_var_of_invalid_type
}

int main() {
  const int n = 1 << 14;
  Vec3f *points = nullptr, *centers = nullptr;
  int *out = nullptr, *changed = nullptr;
  CHECK(cudaMalloc(&points, n * sizeof(Vec3f)));
  CHECK(cudaMalloc(&centers, kClusters * sizeof(Vec3f)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&changed, sizeof(int)));
  assign<Euclid><<<launch::blocks_for(n), launch::kBlock>>>(points, centers, out, n);
  assign<Manhattan><<<launch::blocks_for(n), launch::kBlock>>>(points, centers, out, n);
  reassign<<<launch::blocks_for(n), launch::kBlock>>>(out, changed, out, n);
  std::printf("%s\n", kNames[1]);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
