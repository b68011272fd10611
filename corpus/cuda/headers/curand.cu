#include <curand_kernel.h>
const unsigned long long kSeed = 1234;
__global__ void kernel(float *out) {
  curandStatePhilox4_32_10_t state;
  curand_init(kSeed, threadIdx.x, 0, &state);
  curandState xorwow; curand_init(kSeed, threadIdx.x, 0, &xorwow);
  curandStateMRG32k3a mrg; curand_init(kSeed, threadIdx.x, 0, &mrg);
  out[threadIdx.x] = curand_uniform(&state) + curand_normal(&xorwow) + curand_log_normal(&mrg, 0.f, 1.f) + curand_poisson(&state, 3.0);
}
