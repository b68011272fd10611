#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <vector_functions.h>
#include <math_constants.h>
const float kScale = 0.5f; const double kBase = 2.0; constexpr int kExponent = 3;
__global__ void kernel(float *out, __half2 *h, __nv_bfloat16 *b, __nv_fp8_e4m3 *f) {
  __half2 v = __hfma2(h[0], __float2half2_rn(kScale), h[1]);
  b[0] = __float2bfloat16(kScale) + __hmul(b[1], __nv_bfloat16(kScale));
  f[0] = __nv_fp8_e4m3(kScale);
  out[0] = __low2float(v) + __bfloat162float(b[0]) + (float)f[0] + ldexpf(kScale, kExponent) + CUDART_PI_F;
  out[1] = (float)pow(kBase, kExponent) + fminf(kScale, out[0]) + min(kExponent, 4) + norm3df(kScale, 1.f, 2.f);
  float4 w = make_float4(kScale, 0, 0, 0); out[2] = w.x + __fdividef(w.y, kScale) + rsqrtf(kScale);
}
