// Functions of the host's library in device code, with the library's headers and their overloads.
#include <algorithm>
#include <cmath>
#include <cstdlib>

const int kOrder = 3;
const long kOffset = -40;
const float kGain = 0.5f;
const double kStep = 1e-3;
const double kRoot = std::sqrt(2.0); // No constant expression.

__device__ double magnitudes(int i, float f) {
  double sum = abs(kOrder) + abs(kGain) + std::abs(i) + std::abs(kOffset) + labs(kOffset) + fabs(kStep) + std::fabs(f);
  sum += std::max(f, 2.0f) + max(kOrder, i) + min(kStep, 2.0) + min(kOrder, 4u) + max(kStep, f);
  sum += std::max(i, kOrder); // violation: address_of_host_var_in_device_code
  return sum;
}

__device__ bool classified(float f) { return isnan(kGain) || isinf(f) || std::isfinite(kStep) || signbit(f); }

__device__ double parts(double x, int *exponent) {
  double whole;
  x = frexp(x, exponent) + modf(kStep, &whole) + ldexp(kGain, kOrder) + nextafter(x, kStep) + ilogb(kStep);
  x += std::pow(kStep, 2) + pow(kGain, 2.0f) + std::floor(kGain) + fmod(kStep, 2.0) + lround(kStep) + hypot(x, kStep);
  return x + whole * kRoot; // violation: const_host_var_not_initialized_before_use
}

__global__ void kernel(double *out, int *exponent) {
  out[0] = magnitudes(kOrder, kGain) + classified(kGain);
  out[1] = parts(kStep, exponent);
  *exponent = std::abs(kOrder) + abs(-3ll) + llabs(4ll);
}
