#include <cuda_runtime.h>
#include <cuda_fp16.h>
const double kPi = 3.14159;
__global__ void kernel(float *out, __half *h) {
  out[threadIdx.x] = sinf(out[threadIdx.x] * (float)kPi) + __half2float(h[threadIdx.x]);
}
