#pragma once
#include "cuda_runtime.h"
enum cudaDataType_t {
  CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_R_8I, CUDA_R_8U, CUDA_R_32I, CUDA_R_32U, CUDA_R_64I, CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_C_16F,
  CUDA_C_32F, CUDA_C_64F
};
typedef cudaDataType_t cudaDataType;
enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
typedef libraryPropertyType_t libraryPropertyType;
