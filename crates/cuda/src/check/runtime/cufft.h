#pragma once
#include "cuComplex.h"
#include "library_types.h"
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
typedef enum cufftResult_t {
  CUFFT_SUCCESS, CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE, CUFFT_INTERNAL_ERROR, CUFFT_EXEC_FAILED,
  CUFFT_SETUP_FAILED, CUFFT_INVALID_SIZE, CUFFT_UNALIGNED_DATA, CUFFT_INVALID_DEVICE, CUFFT_NO_WORKSPACE, CUFFT_NOT_IMPLEMENTED, CUFFT_NOT_SUPPORTED,
  CUFFT_INCOMPLETE_PARAMETER_LIST, CUFFT_PARSE_ERROR, CUFFT_LICENSE_ERROR
} cufftResult;
typedef enum cufftType_t { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69 } cufftType;
enum cufftCompatibility { CUFFT_COMPATIBILITY_FFTW_PADDING = 1, CUFFT_COMPATIBILITY_NATIVE = 0 };
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
#define PTXSMITH_CUFFT(name) template <class... T> cufftResult name(T... values) { return CUFFT_SUCCESS; }
PTXSMITH_CUFFT(cufftPlan1d) PTXSMITH_CUFFT(cufftPlan2d) PTXSMITH_CUFFT(cufftPlan3d) PTXSMITH_CUFFT(cufftPlanMany) PTXSMITH_CUFFT(cufftMakePlan1d) PTXSMITH_CUFFT(cufftMakePlan2d)
PTXSMITH_CUFFT(cufftMakePlan3d) PTXSMITH_CUFFT(cufftMakePlanMany) PTXSMITH_CUFFT(cufftMakePlanMany64) PTXSMITH_CUFFT(cufftEstimate1d) PTXSMITH_CUFFT(cufftEstimate2d)
PTXSMITH_CUFFT(cufftEstimate3d) PTXSMITH_CUFFT(cufftEstimateMany) PTXSMITH_CUFFT(cufftCreate) PTXSMITH_CUFFT(cufftGetSize) PTXSMITH_CUFFT(cufftGetSize1d)
PTXSMITH_CUFFT(cufftGetSize2d) PTXSMITH_CUFFT(cufftGetSize3d) PTXSMITH_CUFFT(cufftGetSizeMany) PTXSMITH_CUFFT(cufftSetWorkArea) PTXSMITH_CUFFT(cufftSetAutoAllocation)
PTXSMITH_CUFFT(cufftExecC2C) PTXSMITH_CUFFT(cufftExecR2C) PTXSMITH_CUFFT(cufftExecC2R) PTXSMITH_CUFFT(cufftExecZ2Z) PTXSMITH_CUFFT(cufftExecD2Z)
PTXSMITH_CUFFT(cufftExecZ2D) PTXSMITH_CUFFT(cufftSetStream) PTXSMITH_CUFFT(cufftDestroy) PTXSMITH_CUFFT(cufftGetVersion) PTXSMITH_CUFFT(cufftGetProperty)
PTXSMITH_CUFFT(cufftSetCompatibilityMode)
