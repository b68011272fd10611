// Half precision, bfloat16, eight-bit floats, complex and vector types of CUDA's headers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuComplex.h>
__constant__ float4 quads[3] = {{1, 2, 3, 4}, {-0.5f, 0.25f, 1e10f, 1e-10f}};
__constant__ uchar3 colours[4] = {{1, 2, 3}, {4, 5, 6}, {255, 254, 253}};
__device__ double2 doubles[2] = {{0.1, 0.2}, {-0.3, 1e300}};
__device__ cuFloatComplex roots[2] = {{0, 1}, {-1, 0}};
__device__ __half_raw raw[3] = {{0x3c00}, {0x7bff}, {0x8001}};
__device__ __nv_bfloat16_raw braw[2] = {{0x3f80}, {0xff80}};
__device__ longlong4_32a longs[1] = {{1, -2, 3, -4}};
extern "C" __global__ void half_math(__half *out, const __half2 *in, int i) { __half2 h = __hfma2(in[i], in[i + 1], in[0]); out[0] = __low2half(h); out[1] = __high2half(h); out[i] = hexp(out[2]); }
extern "C" __global__ void bf(__nv_bfloat16 *out, const float *in) { out[threadIdx.x] = __float2bfloat16(in[threadIdx.x]); out[40] = __hmul(out[41], out[42]); }
extern "C" __global__ void eight(__nv_fp8_e4m3 *out, const float *in) { out[threadIdx.x] = __nv_fp8_e4m3(in[threadIdx.x]); }
extern "C" __global__ void tables(float4 *out, uchar3 *more, double2 *d, int i) { out[0] = quads[i]; out[1] = quads[1]; more[0] = colours[2]; more[i] = colours[i]; d[i] = doubles[1]; out[2].x = __half2float(__half(raw[i])); d[0].x = roots[i].y + (double)longs[0].z; }
