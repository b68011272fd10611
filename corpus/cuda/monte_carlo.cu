// Monte Carlo integration with a small generator; the seed is volatile, set by a debugger.
#include "include/reduce.cuh"

const uint64_t kMultiplier = 6364136223846793005ull, kIncrement = 1442695040888963407ull;
const volatile uint64_t kSeed = 42;
const float kScale = 1.0f / 16777216.0f;
const int kSamples = 64;

class Generator {
public:
  __device__ explicit Generator(uint64_t stream) : state(stream * kMultiplier + kSeed) {} // violation: device_uses_volatile_const_host_var
  __device__ float next() {
    state = state * kMultiplier + kIncrement;
    return (state >> 40) * kScale;
  }

private:
  uint64_t state;
};

template <class F> __global__ void integrate(F f, float *out) {
  Generator random(launch::thread_index());
  float sum = 0;
  for (int k = 0; k < kSamples; ++k) sum += f(random.next(), random.next());
  sum = reduce::over_block(sum, reduce::Sum(), 0.0f);
  if (threadIdx.x == 0) atomicAdd(out, sum / (kSamples * launch::kBlock));
}

struct Circle {
  __device__ float operator()(float x, float y) const { return x * x + y * y < 1.0f ? 4.0f : 0.0f; }
};
struct Plane {
  __device__ float operator()(float x, float y) const { return x + y; }
};

__global__ void reseed(uint64_t *streams, int n) {
  int i = launch::thread_index();
  if (i < n) streams[i] = (i & 1) ? kSeed : kIncrement; // violation: device_uses_volatile_const_host_var
}

int main() {
  float *out = nullptr;
  CHECK(cudaMalloc(&out, sizeof(float)));
  integrate<<<16, launch::kBlock>>>(Circle(), out);
  integrate<<<16, launch::kBlock>>>(Plane(), out);
  reseed<<<1, 1>>>(nullptr, 0);
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
