#pragma once
#include "cuda_fp16.h"
typedef struct cublasContext *cublasHandle_t;
typedef struct cublasLtContext *cublasLtHandle_t;
enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ALLOC_FAILED, CUBLAS_STATUS_INVALID_VALUE, CUBLAS_STATUS_ARCH_MISMATCH,
  CUBLAS_STATUS_MAPPING_ERROR, CUBLAS_STATUS_EXECUTION_FAILED, CUBLAS_STATUS_INTERNAL_ERROR, CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_LICENSE_ERROR
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cublasComputeType_t { CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_32I };
enum cudaDataType_t { CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_R_8I, CUDA_R_8U, CUDA_R_32I, CUDA_C_32F, CUDA_C_64F };
typedef cudaDataType_t cudaDataType;
#define PTXSMITH_CUBLAS(name) template <class... T> cublasStatus_t name(T... values) { return CUBLAS_STATUS_SUCCESS; }
PTXSMITH_CUBLAS(cublasCreate) PTXSMITH_CUBLAS(cublasDestroy) PTXSMITH_CUBLAS(cublasSetStream) PTXSMITH_CUBLAS(cublasGetStream) PTXSMITH_CUBLAS(cublasSetMathMode)
PTXSMITH_CUBLAS(cublasSetPointerMode) PTXSMITH_CUBLAS(cublasSgemm) PTXSMITH_CUBLAS(cublasDgemm) PTXSMITH_CUBLAS(cublasHgemm) PTXSMITH_CUBLAS(cublasGemmEx)
PTXSMITH_CUBLAS(cublasGemmBatchedEx) PTXSMITH_CUBLAS(cublasGemmStridedBatchedEx) PTXSMITH_CUBLAS(cublasSgemmBatched) PTXSMITH_CUBLAS(cublasSgemmStridedBatched)
PTXSMITH_CUBLAS(cublasDgemmStridedBatched) PTXSMITH_CUBLAS(cublasSgemv) PTXSMITH_CUBLAS(cublasDgemv) PTXSMITH_CUBLAS(cublasSaxpy) PTXSMITH_CUBLAS(cublasDaxpy)
PTXSMITH_CUBLAS(cublasSdot) PTXSMITH_CUBLAS(cublasDdot) PTXSMITH_CUBLAS(cublasSscal) PTXSMITH_CUBLAS(cublasDscal) PTXSMITH_CUBLAS(cublasSnrm2) PTXSMITH_CUBLAS(cublasDnrm2)
PTXSMITH_CUBLAS(cublasSgeam) PTXSMITH_CUBLAS(cublasScopy) PTXSMITH_CUBLAS(cublasIsamax) PTXSMITH_CUBLAS(cublasStrsm) PTXSMITH_CUBLAS(cublasStrsmBatched)
PTXSMITH_CUBLAS(cublasSetMatrix) PTXSMITH_CUBLAS(cublasGetMatrix) PTXSMITH_CUBLAS(cublasSetVector) PTXSMITH_CUBLAS(cublasGetVector) PTXSMITH_CUBLAS(cublasSetWorkspace)
inline const char *cublasGetStatusString(cublasStatus_t) { return ""; }
inline const char *cublasGetStatusName(cublasStatus_t) { return ""; }
