// Option prices after Black and Scholes. The rate comes from the environment: no constant.
#include "include/launch.cuh"
#include <cstdlib>

static double rate_of_environment() {
  const char *text = std::getenv("RISK_FREE_RATE");
  return text ? std::atof(text) : 0.02;
}

const double kRate = rate_of_environment();
const double kVolatility = 0.30;
constexpr double kInverseSqrt2 = 0.70710678118654752440;
enum class Kind { call, put };
const Kind kDefaultKind = Kind::call;

__device__ double normal_cdf(double x) { return 0.5 * (1.0 + erf(x * kInverseSqrt2)); }

template <Kind K> __device__ double price(double spot, double strike, double years, double rate) {
  double root = kVolatility * sqrt(years);
  double d1 = (log(spot / strike) + (rate + 0.5 * kVolatility * kVolatility) * years) / root;
  double d2 = d1 - root;
  double discounted = strike * exp(-rate * years);
  if constexpr (K == Kind::call)
    return spot * normal_cdf(d1) - discounted * normal_cdf(d2);
  else
    return discounted * normal_cdf(-d2) - spot * normal_cdf(-d1);
}

__global__ void price_all(const double *spot, const double *strike, const double *years, double *out, int n) {
  for (int i = launch::thread_index(); i < n; i += launch::thread_count())
    out[i] = price<Kind::call>(spot[i], strike[i], years[i], kRate); // violation: const_host_var_not_initialized_before_use
}

__global__ void price_default(const double *spot, double *out, int n, double rate) {
  int i = launch::thread_index();
  if (i >= n) return;
  Kind kind = kDefaultKind; // violation: device_uses_const_host_var_of_invalid_type
  out[i] = kind == Kind::call ? price<Kind::call>(spot[i], 100.0, 1.0, rate)
                              : price<Kind::put>(spot[i], 100.0, 1.0, rate);
}

int main() {
  const int n = 1 << 18;
  double *buffer[4] = {};
  for (double *&b : buffer) CHECK(cudaMalloc(&b, n * sizeof(double)));
  price_all<<<launch::blocks_for(n), launch::kBlock>>>(buffer[0], buffer[1], buffer[2], buffer[3], n);
  price_default<<<launch::blocks_for(n), launch::kBlock>>>(buffer[0], buffer[3], n, kRate);
  std::printf("rate %g\n", kRate);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
