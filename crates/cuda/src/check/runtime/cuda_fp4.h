#pragma once
#include "cuda_fp8.h"
enum __nv_fp4_interpretation_t { __NV_E2M1 };
typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
PTXSMITH_FP8(__nv_fp4_e2m1, unsigned char) PTXSMITH_FP8(__nv_fp4x2_e2m1, unsigned char) PTXSMITH_FP8(__nv_fp4x4_e2m1, unsigned short)
PTXSMITH_TO(__nv_fp4_storage_t, __nv_cvt_float_to_fp4) PTXSMITH_TO(__nv_fp4x2_storage_t, __nv_cvt_float2_to_fp4x2)
