#ifndef PTXSMITH_CUDA_RUNTIME_H
#define PTXSMITH_CUDA_RUNTIME_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __managed__ __attribute__((device))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __CUDACC__ 1
struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;
struct int2 { int x, y; }; struct int3 { int x, y, z; }; struct int4 { int x, y, z, w; };
struct uint2 { unsigned x, y; }; struct uint4 { unsigned x, y, z, w; };
struct float2 { float x, y; }; struct float3 { float x, y, z; }; struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
#define PTXSMITH_HD static inline __host__ __device__
PTXSMITH_HD int2 make_int2(int x, int y) { return {x, y}; }
PTXSMITH_HD int3 make_int3(int x, int y, int z) { return {x, y, z}; }
PTXSMITH_HD int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
PTXSMITH_HD float2 make_float2(float x, float y) { return {x, y}; }
PTXSMITH_HD float3 make_float3(float x, float y, float z) { return {x, y, z}; }
PTXSMITH_HD float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
PTXSMITH_HD double2 make_double2(double x, double y) { return {x, y}; }
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4
};
extern "C" {
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t cudaSetupArgument(const void *argument, size_t size, size_t offset);
cudaError_t cudaLaunch(const void *function);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemset(void *at, int value, size_t size);
cudaError_t cudaMalloc(void **at, size_t size);
cudaError_t cudaMallocManaged(void **at, size_t size, unsigned flags = 1);
cudaError_t cudaFree(void *at);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
const char *cudaGetErrorString(cudaError_t error);
__device__ int printf(const char *format, ...);
}
template <class T> cudaError_t cudaMalloc(T **at, size_t size) { return cudaMalloc((void **)at, size); }
template <class T> cudaError_t cudaMallocManaged(T **at, size_t size) { return cudaMallocManaged((void **)at, size, 1); }
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice);
__device__ void __syncthreads();
__device__ void __syncwarp(unsigned mask = 0xffffffff);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
__device__ int __all_sync(unsigned mask, int predicate);
__device__ int __any_sync(unsigned mask, int predicate);
__device__ unsigned __activemask();
__device__ int __popc(unsigned x);
__device__ int __clz(int x);
__device__ int __ffs(int x);
__device__ long long clock64();
template <class T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T> __device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
template <class T> __device__ T __ldg(const T *at);
template <class T> __device__ T atomicAdd(T *at, T value);
template <class T> __device__ T atomicSub(T *at, T value);
template <class T> __device__ T atomicMax(T *at, T value);
template <class T> __device__ T atomicMin(T *at, T value);
template <class T> __device__ T atomicExch(T *at, T value);
template <class T> __device__ T atomicCAS(T *at, T compare, T value);
template <class T> __device__ T atomicOr(T *at, T value);
template <class T> __device__ T atomicAnd(T *at, T value);
#define PTXSMITH_MATH1(name) \
  extern "C" double name(double) noexcept; \
  extern "C" float name##f(float) noexcept; \
  extern "C" __device__ double name(double) noexcept; \
  extern "C" __device__ float name##f(float) noexcept;
#define PTXSMITH_MATH2(name) \
  extern "C" double name(double, double) noexcept; \
  extern "C" float name##f(float, float) noexcept; \
  extern "C" __device__ double name(double, double) noexcept; \
  extern "C" __device__ float name##f(float, float) noexcept;
PTXSMITH_MATH1(sqrt) PTXSMITH_MATH1(exp) PTXSMITH_MATH1(log) PTXSMITH_MATH1(sin) PTXSMITH_MATH1(cos)
PTXSMITH_MATH1(tan) PTXSMITH_MATH1(tanh) PTXSMITH_MATH1(fabs) PTXSMITH_MATH1(floor) PTXSMITH_MATH1(ceil)
PTXSMITH_MATH1(erf) PTXSMITH_MATH1(log2) PTXSMITH_MATH1(exp2)
PTXSMITH_MATH2(pow) PTXSMITH_MATH2(fmin) PTXSMITH_MATH2(fmax) PTXSMITH_MATH2(fmod) PTXSMITH_MATH2(atan2)
extern "C" __device__ float rsqrtf(float);
extern "C" __device__ double rsqrt(double);
extern "C" __device__ float __expf(float);
extern "C" __device__ float __logf(float);
extern "C" __device__ float __fdividef(float, float);
extern "C" __device__ float __powf(float, float);
extern "C" float fmaf(float, float, float) noexcept;
extern "C" __device__ float fmaf(float, float, float) noexcept;
PTXSMITH_HD int min(int a, int b) { return a < b ? a : b; }
PTXSMITH_HD int max(int a, int b) { return a < b ? b : a; }
PTXSMITH_HD unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
PTXSMITH_HD unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
PTXSMITH_HD float min(float a, float b) { return a < b ? a : b; }
PTXSMITH_HD float max(float a, float b) { return a < b ? b : a; }
#endif
