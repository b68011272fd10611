#pragma once
#include "cuComplex.h"
#include "cuda_fp16.h"
#include "library_types.h"
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
#define PTXSMITH_CUBLAS(name) template <class... T> cublasStatus_t name(T... values) { return CUBLAS_STATUS_SUCCESS; }
PTXSMITH_CUBLAS(cublasCreate) PTXSMITH_CUBLAS(cublasDestroy) PTXSMITH_CUBLAS(cublasSetStream) PTXSMITH_CUBLAS(cublasGetStream) PTXSMITH_CUBLAS(cublasSetMathMode)
PTXSMITH_CUBLAS(cublasSetPointerMode) PTXSMITH_CUBLAS(cublasSgemm) PTXSMITH_CUBLAS(cublasDgemm) PTXSMITH_CUBLAS(cublasHgemm) PTXSMITH_CUBLAS(cublasGemmEx)
PTXSMITH_CUBLAS(cublasGemmBatchedEx) PTXSMITH_CUBLAS(cublasGemmStridedBatchedEx) PTXSMITH_CUBLAS(cublasSgemmBatched) PTXSMITH_CUBLAS(cublasSgemmStridedBatched)
PTXSMITH_CUBLAS(cublasDgemmStridedBatched) PTXSMITH_CUBLAS(cublasSgemv) PTXSMITH_CUBLAS(cublasDgemv) PTXSMITH_CUBLAS(cublasSaxpy) PTXSMITH_CUBLAS(cublasDaxpy)
PTXSMITH_CUBLAS(cublasSdot) PTXSMITH_CUBLAS(cublasDdot) PTXSMITH_CUBLAS(cublasSscal) PTXSMITH_CUBLAS(cublasDscal) PTXSMITH_CUBLAS(cublasSnrm2) PTXSMITH_CUBLAS(cublasDnrm2)
PTXSMITH_CUBLAS(cublasSgeam) PTXSMITH_CUBLAS(cublasScopy) PTXSMITH_CUBLAS(cublasIsamax) PTXSMITH_CUBLAS(cublasStrsm) PTXSMITH_CUBLAS(cublasStrsmBatched)
PTXSMITH_CUBLAS(cublasSetMatrix) PTXSMITH_CUBLAS(cublasGetMatrix) PTXSMITH_CUBLAS(cublasSetVector) PTXSMITH_CUBLAS(cublasGetVector) PTXSMITH_CUBLAS(cublasSetWorkspace)
PTXSMITH_CUBLAS(cublasSswap) PTXSMITH_CUBLAS(cublasStrmm) PTXSMITH_CUBLAS(cublasStrsv) PTXSMITH_CUBLAS(cublasSgetrfBatched)
PTXSMITH_CUBLAS(cublasSgetriBatched) PTXSMITH_CUBLAS(cublasSgetrsBatched) PTXSMITH_CUBLAS(cublasSmatinvBatched) PTXSMITH_CUBLAS(cublasSdgmm)
PTXSMITH_CUBLAS(cublasSsymm) PTXSMITH_CUBLAS(cublasSsyrk) PTXSMITH_CUBLAS(cublasSrot) PTXSMITH_CUBLAS(cublasSgemvBatched)
PTXSMITH_CUBLAS(cublasDgemmBatched) PTXSMITH_CUBLAS(cublasDcopy) PTXSMITH_CUBLAS(cublasDswap) PTXSMITH_CUBLAS(cublasDgeam) PTXSMITH_CUBLAS(cublasDtrsm)
PTXSMITH_CUBLAS(cublasDtrsmBatched) PTXSMITH_CUBLAS(cublasDtrmm) PTXSMITH_CUBLAS(cublasDtrsv) PTXSMITH_CUBLAS(cublasDgetrfBatched)
PTXSMITH_CUBLAS(cublasDgetriBatched) PTXSMITH_CUBLAS(cublasDgetrsBatched) PTXSMITH_CUBLAS(cublasDmatinvBatched) PTXSMITH_CUBLAS(cublasDdgmm)
PTXSMITH_CUBLAS(cublasDsymm) PTXSMITH_CUBLAS(cublasDsyrk) PTXSMITH_CUBLAS(cublasDrot) PTXSMITH_CUBLAS(cublasDgemvBatched) PTXSMITH_CUBLAS(cublasCgemm)
PTXSMITH_CUBLAS(cublasCgemmBatched) PTXSMITH_CUBLAS(cublasCgemmStridedBatched) PTXSMITH_CUBLAS(cublasCgemv) PTXSMITH_CUBLAS(cublasCaxpy)
PTXSMITH_CUBLAS(cublasCscal) PTXSMITH_CUBLAS(cublasCcopy) PTXSMITH_CUBLAS(cublasCswap) PTXSMITH_CUBLAS(cublasCgeam) PTXSMITH_CUBLAS(cublasCtrsm)
PTXSMITH_CUBLAS(cublasCtrsmBatched) PTXSMITH_CUBLAS(cublasCtrmm) PTXSMITH_CUBLAS(cublasCtrsv) PTXSMITH_CUBLAS(cublasCgetrfBatched)
PTXSMITH_CUBLAS(cublasCgetriBatched) PTXSMITH_CUBLAS(cublasCgetrsBatched) PTXSMITH_CUBLAS(cublasCmatinvBatched) PTXSMITH_CUBLAS(cublasCdgmm)
PTXSMITH_CUBLAS(cublasCsymm) PTXSMITH_CUBLAS(cublasCsyrk) PTXSMITH_CUBLAS(cublasCrot) PTXSMITH_CUBLAS(cublasCgemvBatched) PTXSMITH_CUBLAS(cublasZgemm)
PTXSMITH_CUBLAS(cublasZgemmBatched) PTXSMITH_CUBLAS(cublasZgemmStridedBatched) PTXSMITH_CUBLAS(cublasZgemv) PTXSMITH_CUBLAS(cublasZaxpy)
PTXSMITH_CUBLAS(cublasZscal) PTXSMITH_CUBLAS(cublasZcopy) PTXSMITH_CUBLAS(cublasZswap) PTXSMITH_CUBLAS(cublasZgeam) PTXSMITH_CUBLAS(cublasZtrsm)
PTXSMITH_CUBLAS(cublasZtrsmBatched) PTXSMITH_CUBLAS(cublasZtrmm) PTXSMITH_CUBLAS(cublasZtrsv) PTXSMITH_CUBLAS(cublasZgetrfBatched)
PTXSMITH_CUBLAS(cublasZgetriBatched) PTXSMITH_CUBLAS(cublasZgetrsBatched) PTXSMITH_CUBLAS(cublasZmatinvBatched) PTXSMITH_CUBLAS(cublasZdgmm)
PTXSMITH_CUBLAS(cublasZsymm) PTXSMITH_CUBLAS(cublasZsyrk) PTXSMITH_CUBLAS(cublasZrot) PTXSMITH_CUBLAS(cublasZgemvBatched) PTXSMITH_CUBLAS(cublasSasum)
PTXSMITH_CUBLAS(cublasSger) PTXSMITH_CUBLAS(cublasSsymv) PTXSMITH_CUBLAS(cublasSsyr2k) PTXSMITH_CUBLAS(cublasDasum) PTXSMITH_CUBLAS(cublasDger)
PTXSMITH_CUBLAS(cublasDsymv) PTXSMITH_CUBLAS(cublasDsyr2k) PTXSMITH_CUBLAS(cublasCdotc) PTXSMITH_CUBLAS(cublasCdotu) PTXSMITH_CUBLAS(cublasCgerc)
PTXSMITH_CUBLAS(cublasCgeru) PTXSMITH_CUBLAS(cublasChemv) PTXSMITH_CUBLAS(cublasCherk) PTXSMITH_CUBLAS(cublasCher2k) PTXSMITH_CUBLAS(cublasChemm)
PTXSMITH_CUBLAS(cublasZdotc) PTXSMITH_CUBLAS(cublasZdotu) PTXSMITH_CUBLAS(cublasZgerc) PTXSMITH_CUBLAS(cublasZgeru) PTXSMITH_CUBLAS(cublasZhemv)
PTXSMITH_CUBLAS(cublasZherk) PTXSMITH_CUBLAS(cublasZher2k) PTXSMITH_CUBLAS(cublasZhemm) PTXSMITH_CUBLAS(cublasScnrm2) PTXSMITH_CUBLAS(cublasDznrm2)
PTXSMITH_CUBLAS(cublasScasum) PTXSMITH_CUBLAS(cublasDzasum) PTXSMITH_CUBLAS(cublasIdamax) PTXSMITH_CUBLAS(cublasIcamax) PTXSMITH_CUBLAS(cublasIzamax)
PTXSMITH_CUBLAS(cublasIsamin) PTXSMITH_CUBLAS(cublasIdamin) PTXSMITH_CUBLAS(cublasCdscal) PTXSMITH_CUBLAS(cublasZdscal) PTXSMITH_CUBLAS(cublasCsscal)
PTXSMITH_CUBLAS(cublasGetMathMode) PTXSMITH_CUBLAS(cublasGetPointerMode) PTXSMITH_CUBLAS(cublasGetVersion) PTXSMITH_CUBLAS(cublasSetAtomicsMode)
PTXSMITH_CUBLAS(cublasSetMatrixAsync) PTXSMITH_CUBLAS(cublasGetMatrixAsync) PTXSMITH_CUBLAS(cublasSetVectorAsync) PTXSMITH_CUBLAS(cublasGetVectorAsync)
PTXSMITH_CUBLAS(cublasSgemmEx) PTXSMITH_CUBLAS(cublasHgemmStridedBatched) PTXSMITH_CUBLAS(cublasHgemmBatched) PTXSMITH_CUBLAS(cublasAxpyEx)
PTXSMITH_CUBLAS(cublasDotEx) PTXSMITH_CUBLAS(cublasNrm2Ex) PTXSMITH_CUBLAS(cublasScalEx)
inline const char *cublasGetStatusString(cublasStatus_t) { return ""; }
inline const char *cublasGetStatusName(cublasStatus_t) { return ""; }
