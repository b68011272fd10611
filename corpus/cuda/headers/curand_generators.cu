#include <curand_kernel.h>
#include <curand_mtgp32_host.h>
const unsigned kDimensions = 2; const double kMean = 4.0; static const unsigned kWords = 32;
__device__ unsigned directions[kWords];
__global__ void kernel(double *out, unsigned n) {
  curandStateSobol32_t sobol; curand_init(directions, kDimensions, &sobol);
  curandStateScrambledSobol32_t scrambled; curand_init(directions, n, kDimensions, &scrambled);
  curandStateXORWOW_t xorwow; curand_init(1234ULL, n, 0, &xorwow);
  skipahead(10ULL, &xorwow); skipahead_sequence(2ULL, &xorwow);
  curandStatePhilox4_32_10_t philox; curand_init(1ULL, n, 0, &philox);
  curandDiscreteDistribution_st distribution = {};
  uint4 four = curand4(&philox);
  double4 normal = curand_log_normal4_double(&philox, kMean, 1.0);
  out[0] = curand_normal_double(&sobol) + curand_uniform(&scrambled) + curand_poisson(&xorwow, kMean) + four.w + normal.z;
  out[1] = curand_discrete(&xorwow, &distribution) + curand_normal2(&xorwow).y + curand_uniform2_double(&philox).x;
}
