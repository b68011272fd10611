// All-pairs n-body with vectors of a class template and physical constants of the host.
#include "include/launch.cuh"
#include "include/vec.cuh"

const double kGravity = 6.674e-11;
const float kSoftening = 1e-3f;
const volatile int kDebugLevel = 0;
const Vec3f kOrigin(0.0f, 0.0f, 0.0f);

struct Body {
  Vec3f position, velocity;
  float mass;
};

__device__ Vec3f pull(const Body &a, const Body &b) {
  Vec3f d = b.position - a.position;
  float r2 = d.dot(d) + kSoftening * kSoftening;
  float inverse = rsqrtf(r2);
  return d * static_cast<float>(kGravity * b.mass * inverse * inverse * inverse);
}

__global__ void step(Body *bodies, int n, float dt) {
  __shared__ Body tile[launch::kWarp];
  int i = launch::thread_index();
  Vec3f force(0.0f, 0.0f, 0.0f);
  for (int first = 0; first < n; first += launch::kWarp) {
    if (threadIdx.x < launch::kWarp && first + threadIdx.x < n) tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < launch::kWarp && i < n; ++j) force = force + pull(bodies[i], tile[j]);
    __syncthreads();
  }
  if (i >= n) return;
  if (kDebugLevel > 1) printf("body %d\n", i); // violation: device_uses_volatile_const_host_var
  bodies[i].velocity = bodies[i].velocity + force * dt;
  bodies[i].position = bodies[i].position + bodies[i].velocity * dt;
}

__global__ void recenter(Body *bodies, int n) {
  int i = launch::thread_index();
  if (i < n) bodies[i].position = bodies[i].position - kOrigin; // violation: address_of_host_var_in_device_code
}

__global__ void energy(const Body *bodies, int n, float *out) {
  float sum = Vec3f::kZero;
  for (int i = launch::thread_index(); i < n; i += launch::thread_count())
    sum += 0.5f * bodies[i].mass * bodies[i].velocity.dot(bodies[i].velocity) / Vec3f::kSize;
  atomicAdd(out, sum);
}

int main() {
  const int n = 4096;
  Body *bodies = nullptr;
  float *out = nullptr;
  CHECK(cudaMalloc(&bodies, n * sizeof(Body)));
  CHECK(cudaMalloc(&out, sizeof(float)));
  for (int k = 0; k < 10; ++k) step<<<launch::blocks_for(n), launch::kBlock>>>(bodies, n, 0.01f);
  recenter<<<launch::blocks_for(n), launch::kBlock>>>(bodies, n);
  energy<<<launch::blocks_for(n), launch::kBlock>>>(bodies, n, out);
  if (kDebugLevel) std::printf("gravity %g\n", kGravity);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
