#pragma once
#include "cuda_runtime.h"
struct curandStateXORWOW { unsigned d, v[5]; };
struct curandStatePhilox4_32_10 { uint4 ctr; };
struct curandStateMRG32k3a { unsigned s[6]; };
typedef curandStateXORWOW curandState_t, curandState, curandStateXORWOW_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
PTXSMITH_DEVICE(void, curand_init) PTXSMITH_DEVICE(unsigned, curand) PTXSMITH_DEVICE(uint4, curand4) PTXSMITH_DEVICE(float, curand_uniform) PTXSMITH_DEVICE(float4, curand_uniform4)
PTXSMITH_DEVICE(double, curand_uniform_double) PTXSMITH_DEVICE(double2, curand_uniform2_double) PTXSMITH_DEVICE(float, curand_normal) PTXSMITH_DEVICE(float2, curand_normal2)
PTXSMITH_DEVICE(float4, curand_normal4) PTXSMITH_DEVICE(double, curand_normal_double) PTXSMITH_DEVICE(float, curand_log_normal) PTXSMITH_DEVICE(unsigned, curand_poisson) PTXSMITH_DEVICE(void, skipahead)
