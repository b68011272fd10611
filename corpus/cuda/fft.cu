// A radix-2 FFT. Twiddle factors come from a constexpr function; the angle is a long expression of constants.
#include "include/launch.cuh"

const double kPi = 3.14159265358979323846;
const double kTwoPi = 2.0 * 3.14159265358979323846;
constexpr int log2_of(int n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }
const int kPoints = 1024;
const int kStages = log2_of(kPoints);

struct Complex {
  float re, im;
};
const Complex kOne = {1.0f, 0.0f};

__device__ inline Complex multiply(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
__device__ inline Complex twiddle(int k, int n) {
  float angle = static_cast<float>(-kTwoPi * k / n);
  return {cosf(angle), sinf(angle)};
}

__global__ void reverse_bits(const Complex *in, Complex *out) {
  int i = launch::thread_index();
  if (i >= kPoints) return;
  unsigned r = 0;
  for (int b = 0; b < kStages; ++b) r |= ((i >> b) & 1u) << (kStages - 1 - b);
  out[r] = in[i];
}

__global__ void butterfly(Complex *data, int half) {
  int i = launch::thread_index();
  if (i >= kPoints / 2) return;
  int k = i % half, base = (i / half) * 2 * half + k;
  Complex w = k == 0 ? kOne : twiddle(k, 2 * half); // violation: device_uses_const_host_var_of_invalid_type, address_of_host_var_in_device_code
  Complex t = multiply(w, data[base + half]);
  data[base + half] = {data[base].re - t.re, data[base].im - t.im};
  data[base] = {data[base].re + t.re, data[base].im + t.im};
}

__global__ void normalize(Complex *data, double scale = kPi / kPi) {
  int i = launch::thread_index();
  if (i < kPoints) data[i].re *= static_cast<float>(scale) / kPoints;
}

int main() {
  Complex *a = nullptr, *b = nullptr;
  CHECK(cudaMalloc(&a, kPoints * sizeof(Complex)));
  CHECK(cudaMalloc(&b, kPoints * sizeof(Complex)));
  reverse_bits<<<launch::blocks_for(kPoints), launch::kBlock>>>(a, b);
  for (int half = 1; half < kPoints; half *= 2) butterfly<<<launch::blocks_for(kPoints), launch::kBlock>>>(b, half);
  normalize<<<launch::blocks_for(kPoints), launch::kBlock>>>(b);
  std::printf("%g\n", kOne.re);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
