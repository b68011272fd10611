// The runtime, textures, groups and half precision as programs use them; nothing breaks the rule.
#include <cassert>
#include <climits>
#include <cstdio>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <device_functions.h>
#include <cuda_profiler_api.h>
#include <device_atomic_functions.h>
#include <math_functions.h>
#include <sm_20_atomic_functions.h>
#if __CUDACC_VER_MAJOR__ < 9 || CUDART_VERSION < 9000
#error old
#endif
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s:%d %s %s\n", __FILE__, __LINE__, cudaGetErrorName(e), cudaGetErrorString(e)); exit(1); } } while (0)
texture<float, 2, cudaReadModeElementType> tex;
__device__ float table[4]; __constant__ float ctable[4];
template <class T> __global__ void kern(T *o, int n, cudaTextureObject_t t) {
  extern __shared__ char sm[];
  __shared__ T s[32];
  assert(n < INT_MAX);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = o[i];
  __syncthreads();
  atomicAdd(&o[0], s[0]); atomicAdd((float *)o, 1.0f); atomicAdd((unsigned long long *)o, 1ULL); atomicAdd((int *)o, 1u ? 1 : 2); atomicCAS((unsigned *)o, 0u, 1u); atomicMax((int *)o, 1);
  float v = tex2D(tex, 1.f, 2.f) + tex1Dfetch<float>(t, i) + tex2D<float>(t, 0.5f, 0.5f) + tex3D<float>(t, 0.f, 0.f, 0.f);
  o[i] = v + fminf(1.f, 2.f) + __fsqrt_rn(2.f) + powf(2.f, 3.f) + sqrtf(2.f) + rsqrtf(v) + __shfl_down_sync(0xffffffff, v, 1) + __ldg(&o[0]);
  float4 f4 = make_float4(1, 2, 3, 4); o[i] += f4.x; int2 i2 = make_int2(1, 2); o[i] += i2.y; double d = atomicAdd((double *)o, 1.0);
  o[i] += __reduce_add_sync(0xffffffff, 1u) + clock() + __popc(3) + ::max(1, 2) + ::min(1.f, 2.f) + d;
}
int main(int argc, char **argv) {
  int *h, *d; float ms; cudaEvent_t a, b; cudaStream_t st; cudaDeviceProp p; size_t fr, to, pitch;
  CHECK(cudaMalloc(&d, 4)); CHECK(cudaMalloc((void **)&d, 4)); cudaMallocHost(&h, 4); cudaHostAlloc(&h, 4, cudaHostAllocDefault); cudaMallocManaged(&d, 4);
  cudaMallocPitch(&d, &pitch, 4, 4); cudaMallocAsync(&d, 4, st); cudaFreeAsync(d, st); cudaFreeHost(h);
  CHECK(cudaGetDeviceProperties(&p, 0)); printf("%s %d %d %zu %d\n", p.name, p.major, p.multiProcessorCount, p.totalGlobalMem, p.warpSize);
  cudaMemGetInfo(&fr, &to); cudaDeviceGetAttribute(h, cudaDevAttrMultiProcessorCount, 0);
  cudaEventCreate(&a); cudaEventCreateWithFlags(&b, cudaEventDisableTiming); cudaEventRecord(a, 0); cudaEventElapsedTime(&ms, a, b);
  cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking); cudaStreamWaitEvent(st, a, 0); cudaStreamCreateWithPriority(&st, 0, 0);
  kern<float><<<dim3(1, 2), 32, 0, st>>>((float *)d, 3, 0);
  kern<float> << <1, 32 >> > ((float *)d, 3, 0);
  int nb; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, kern<float>, 32, 0); int mg, bs; cudaOccupancyMaxPotentialBlockSize(&mg, &bs, kern<float>, 0, 0);
  cudaMemcpyToSymbol(ctable, h, 4); cudaMemcpyFromSymbol(h, table, 4); void *sp; cudaGetSymbolAddress(&sp, table);
  cudaFuncSetAttribute(kern<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096); cudaFuncSetCacheConfig(kern<float>, cudaFuncCachePreferL1);
  cudaArray *arr; cudaChannelFormatDesc cd = cudaCreateChannelDesc<float>(); cudaMallocArray(&arr, &cd, 4, 4); cudaBindTextureToArray(tex, arr, cd);
  cudaTextureObject_t to2; cudaResourceDesc rd; cudaTextureDesc td; memset(&rd, 0, sizeof rd); rd.resType = cudaResourceTypeArray; rd.res.array.array = arr; td.addressMode[0] = cudaAddressModeClamp; cudaCreateTextureObject(&to2, &rd, &td, NULL);
  cudaHostGetDevicePointer(&d, h, 0); cudaSetDeviceFlags(cudaDeviceMapHost); cudaDeviceEnablePeerAccess(0, 0); cudaMemPrefetchAsync(d, 4, 0, st); cudaMemAdvise(d, 4, cudaMemAdviseSetReadMostly, 0);
  cudaGraph_t g; cudaGraphExec_t ge; cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal); cudaStreamEndCapture(st, &g); cudaGraphInstantiate(&ge, g, NULL, NULL, 0); cudaGraphLaunch(ge, st);
  void *args[] = {&d}; cudaLaunchKernel((void *)kern<float>, dim3(1), dim3(1), args, 0, st); cudaLaunchCooperativeKernel((void *)kern<float>, 1, 1, args, 0, 0);
  cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1); cudaRuntimeGetVersion(h); cudaDriverGetVersion(h); cudaThreadSynchronize(); cudaMemcpy3DParms pp = {0}; pp.kind = cudaMemcpyHostToDevice; pp.extent = make_cudaExtent(1, 1, 1); pp.srcPtr = make_cudaPitchedPtr(h, 4, 4, 4); cudaMemcpy3D(&pp); cudaDeviceReset(); return 0;
}

// Libraries of the toolkit.
#include <cufft.h>
#include <cusolverDn.h>
#include <cusolverSp.h>
#include <cusparse.h>
__global__ void scale(cuDoubleComplex *z, cuComplex *c) {
  cooperative_groups::thread_group all = cooperative_groups::this_thread_block();
  cooperative_groups::thread_block_tile<32> warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  z[all.thread_rank()] = cuCmul(z[0], make_cuDoubleComplex(cuCreal(z[1]), 0));
  c[warp.thread_rank()] = cuCaddf(c[0], make_cuComplex(INFINITY, M_PI));
}
int libraries(cufftComplex *data, double *d) {
  cufftHandle plan; cusparseHandle_t sparse; cusolverDnHandle_t dense; cusparseSpMatDescr_t matrix; cublasHandle_t blas; double one = 1;
  if (cufftPlan1d(&plan, 8, CUFFT_C2C, 1) != CUFFT_SUCCESS || cufftExecC2C(plan, data, data, CUFFT_FORWARD) != CUFFT_SUCCESS) return 1;
  cusparseCreate(&sparse); cusparseCreateCsr(&matrix, 1, 1, 1, d, d, d, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  cusolverStatus_t status = cusolverDnCreate(&dense); cublasCreate(&blas); cublasDtrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 1, 1, &one, d, 1, d, 1);
  return status != CUSOLVER_STATUS_SUCCESS || cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess;
}
