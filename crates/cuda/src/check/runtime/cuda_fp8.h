#pragma once
#include "cuda_fp16.h"
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
#define PTXSMITH_FP8(name, storage) \
  struct name { \
    storage __x; name() = default; \
    template <class T> __host__ __device__ explicit name(T) : __x(0) {} \
    __host__ __device__ operator float() const { return 0; } \
  };
PTXSMITH_FP8(__nv_fp8_e4m3, unsigned char) PTXSMITH_FP8(__nv_fp8_e5m2, unsigned char) PTXSMITH_FP8(__nv_fp8_e8m0, unsigned char)
PTXSMITH_FP8(__nv_fp8x2_e4m3, unsigned short) PTXSMITH_FP8(__nv_fp8x4_e4m3, unsigned) PTXSMITH_FP8(__nv_fp8x2_e5m2, unsigned short) PTXSMITH_FP8(__nv_fp8x4_e5m2, unsigned)
PTXSMITH_TO(__nv_fp8_storage_t, __nv_cvt_float_to_fp8) PTXSMITH_TO(__nv_fp8x2_storage_t, __nv_cvt_float2_to_fp8x2) PTXSMITH_TO(__half_raw, __nv_cvt_fp8_to_halfraw)
PTXSMITH_TO(__nv_fp8_storage_t, __nv_cvt_halfraw_to_fp8) PTXSMITH_TO(__nv_bfloat16_raw, __nv_cvt_e8m0_to_bf16raw)
