#ifndef PTXSMITH_CUDA_RUNTIME_H
#define PTXSMITH_CUDA_RUNTIME_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <float.h>
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __managed__ __attribute__((device))
#define __forceinline__ inline __attribute__((always_inline))
#if __clang_major__ < 15
#define __noinline__ __attribute__((noinline))
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 9
#define __CUDACC_VER_BUILD__ 86
#define CUDART_VERSION 12090
#define CUDA_VERSION 12090
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VAL (__builtin_huge_val())
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_SQRT2 1.41421356237309504880
#define __inline_hint__
#define __nv_pure__
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;
#define PTXSMITH_HD static inline __host__ __device__
#define PTXSMITH_VECTOR(name, type) \
  struct name##1 { type x; }; struct name##2 { type x, y; }; struct name##4 { type x, y, z, w; }; \
  PTXSMITH_HD name##1 make_##name##1(type x) { return {x}; } \
  PTXSMITH_HD name##2 make_##name##2(type x, type y) { return {x, y}; } \
  PTXSMITH_HD name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  PTXSMITH_HD name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define PTXSMITH_VECTOR3(name, type) struct name##3 { type x, y, z; }; PTXSMITH_VECTOR(name, type)
PTXSMITH_VECTOR3(char, signed char) PTXSMITH_VECTOR3(uchar, unsigned char)
PTXSMITH_VECTOR3(short, short) PTXSMITH_VECTOR3(ushort, unsigned short)
PTXSMITH_VECTOR3(int, int) PTXSMITH_VECTOR(uint, unsigned)
PTXSMITH_VECTOR3(long, long) PTXSMITH_VECTOR3(ulong, unsigned long)
PTXSMITH_VECTOR3(longlong, long long) PTXSMITH_VECTOR3(ulonglong, unsigned long long)
PTXSMITH_VECTOR3(float, float) PTXSMITH_VECTOR3(double, double)
typedef struct CUstream_st *cudaStream_t;
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
typedef struct CUevent_st *cudaEvent_t;
enum cudaError {
  cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInitializationError, cudaErrorCudartUnloading, cudaErrorInvalidConfiguration,
  cudaErrorInvalidDevice, cudaErrorNoDevice, cudaErrorNotReady, cudaErrorPeerAccessAlreadyEnabled, cudaErrorPeerAccessNotEnabled, cudaErrorInvalidDeviceFunction,
  cudaErrorInsufficientDriver, cudaErrorLaunchFailure, cudaErrorLaunchTimeout, cudaErrorLaunchOutOfResources, cudaErrorUnknown, cudaErrorNotSupported,
  cudaErrorHostMemoryAlreadyRegistered, cudaErrorHostMemoryNotRegistered, cudaErrorNotPermitted, cudaErrorIllegalAddress, cudaErrorInvalidResourceHandle,
  cudaErrorAssert, cudaErrorInvalidMemcpyDirection, cudaErrorInvalidPitchValue, cudaErrorInvalidSymbol, cudaErrorInvalidTexture, cudaErrorSetOnActiveProcess,
  cudaErrorNoKernelImageForDevice, cudaErrorStreamCaptureInvalidated, cudaErrorStreamCaptureUnsupported, cudaErrorGraphExecUpdateFailure
};
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
__device__ int printf(const char *format, ...);
__device__ void *memcpy(void *to, const void *from, size_t size);
__device__ void *memset(void *at, int value, size_t size);
__device__ void *malloc(size_t size);
__device__ void free(void *at);
__device__ void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);
}
// Behind the macros and the functions that clang's own <new> needs.
#include "ptxsmith_library.h"
#include "ptxsmith_api.h"
#include "ptxsmith_device.h"
__device__ void __syncthreads();
__device__ void __syncwarp(unsigned mask = 0xffffffff);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
__device__ int __all_sync(unsigned mask, int predicate);
__device__ int __any_sync(unsigned mask, int predicate);
__device__ unsigned __activemask();
__device__ void __threadfence_system();
__device__ int __syncthreads_count(int predicate);
__device__ int __syncthreads_and(int predicate);
__device__ int __syncthreads_or(int predicate);
__device__ unsigned __match_any_sync(unsigned mask, unsigned value);
__device__ void __trap();
inline __host__ void __trap() {}
__device__ void __nanosleep(unsigned nanoseconds);
__device__ size_t __cvta_generic_to_shared(const void *at);
__device__ size_t __cvta_generic_to_global(const void *at);
__device__ long long clock();
__device__ int __popc(unsigned x);
__device__ int __clz(int x);
__device__ int __ffs(int x);
__device__ int __popcll(unsigned long long x);
__device__ int __clzll(long long x);
__device__ int __ffsll(long long x);
__device__ unsigned __brev(unsigned x);
__device__ unsigned long long __brevll(unsigned long long x);
__device__ unsigned __byte_perm(unsigned x, unsigned y, unsigned selector);
__device__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift);
__device__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift);
__device__ int __mul24(int x, int y);
__device__ unsigned __umul24(unsigned x, unsigned y);
__device__ int __mulhi(int x, int y);
__device__ unsigned __umulhi(unsigned x, unsigned y);
__device__ long long __mul64hi(long long x, long long y);
__device__ unsigned long long __umul64hi(unsigned long long x, unsigned long long y);
__device__ unsigned __sad(int x, int y, unsigned z);
__device__ unsigned __usad(unsigned x, unsigned y, unsigned z);
__device__ int __dp4a(int a, int b, int c);
__device__ int __float_as_int(float x);
__device__ unsigned __float_as_uint(float x);
__device__ float __int_as_float(int x);
__device__ float __uint_as_float(unsigned x);
__device__ long long __double_as_longlong(double x);
__device__ double __longlong_as_double(long long x);
__device__ int __double2hiint(double x);
__device__ int __double2loint(double x);
__device__ double __hiloint2double(int high, int low);
__device__ float __saturatef(float x);
__device__ float __frsqrt_rn(float x);
__device__ long long clock64();
template <class T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T> __device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
template <class T> __device__ T __ldg(const T *at);
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
PTXSMITH_MATH1(erf) PTXSMITH_MATH1(log2) PTXSMITH_MATH1(exp2) PTXSMITH_MATH1(log10) PTXSMITH_MATH1(log1p)
PTXSMITH_MATH1(expm1) PTXSMITH_MATH1(cbrt) PTXSMITH_MATH1(asin) PTXSMITH_MATH1(acos) PTXSMITH_MATH1(atan)
PTXSMITH_MATH1(sinh) PTXSMITH_MATH1(cosh) PTXSMITH_MATH1(erfc) PTXSMITH_MATH1(tgamma) PTXSMITH_MATH1(lgamma)
PTXSMITH_MATH1(round) PTXSMITH_MATH1(trunc) PTXSMITH_MATH1(rint) PTXSMITH_MATH2(hypot) PTXSMITH_MATH2(copysign)
PTXSMITH_MATH2(pow) PTXSMITH_MATH2(fmin) PTXSMITH_MATH2(fmax) PTXSMITH_MATH2(fmod) PTXSMITH_MATH2(atan2)
extern "C" __device__ float rsqrtf(float);
extern "C" __device__ double rsqrt(double);
extern "C" __device__ float __expf(float);
extern "C" __device__ float __exp10f(float);
extern "C" __device__ float __log2f(float);
extern "C" __device__ float __log10f(float);
extern "C" __device__ float __sinf(float);
extern "C" __device__ float __cosf(float);
extern "C" __device__ float __tanf(float);
extern "C" __device__ void sincosf(float, float *, float *);
extern "C" __device__ void sincos(double, double *, double *);
__device__ void sincos(float, float *, float *);
extern "C" __device__ void sincospif(float, float *, float *);
extern "C" __device__ float sinpif(float);
extern "C" __device__ float cospif(float);
extern "C" __device__ float rcbrtf(float);
extern "C" __device__ float normcdff(float);
extern "C" double fma(double, double, double) noexcept;
extern "C" __device__ double fma(double, double, double) noexcept;
extern "C" __device__ float __logf(float);
extern "C" __device__ float __fdividef(float, float);
extern "C" __device__ float __powf(float, float);
extern "C" float fmaf(float, float, float) noexcept;
extern "C" __device__ float fmaf(float, float, float) noexcept;
PTXSMITH_MATH1(acosh) PTXSMITH_MATH1(asinh) PTXSMITH_MATH1(atanh) PTXSMITH_MATH1(logb) PTXSMITH_MATH1(nearbyint)
PTXSMITH_MATH2(nextafter) PTXSMITH_MATH2(remainder) PTXSMITH_MATH2(fdim) PTXSMITH_MATH1(j0) PTXSMITH_MATH1(j1) PTXSMITH_MATH1(y0) PTXSMITH_MATH1(y1)
// Functions of the host's library that the device has too: the result, the name, and the parameters.
#define PTXSMITH_BOTH(result, name, ...) \
  extern "C" result name(__VA_ARGS__) noexcept; \
  extern "C" __device__ result name(__VA_ARGS__) noexcept;
PTXSMITH_BOTH(int, abs, int) PTXSMITH_BOTH(long, labs, long) PTXSMITH_BOTH(long long, llabs, long long)
PTXSMITH_BOTH(long, lround, double) PTXSMITH_BOTH(long, lroundf, float) PTXSMITH_BOTH(long, lrint, double)
PTXSMITH_BOTH(long, lrintf, float) PTXSMITH_BOTH(long long, llround, double) PTXSMITH_BOTH(long long, llroundf, float)
PTXSMITH_BOTH(long long, llrint, double) PTXSMITH_BOTH(long long, llrintf, float)
PTXSMITH_BOTH(int, ilogb, double) PTXSMITH_BOTH(int, ilogbf, float) PTXSMITH_BOTH(double, ldexp, double, int)
PTXSMITH_BOTH(float, ldexpf, float, int) PTXSMITH_BOTH(double, scalbn, double, int) PTXSMITH_BOTH(float, scalbnf, float, int)
PTXSMITH_BOTH(double, jn, int, double) PTXSMITH_BOTH(float, jnf, int, float) PTXSMITH_BOTH(double, yn, int, double) PTXSMITH_BOTH(float, ynf, int, float)
PTXSMITH_BOTH(double, scalbln, double, long) PTXSMITH_BOTH(float, scalblnf, float, long) PTXSMITH_BOTH(double, remquo, double, double, int *)
PTXSMITH_BOTH(float, remquof, float, float, int *)
PTXSMITH_BOTH(double, frexp, double, int *) PTXSMITH_BOTH(float, frexpf, float, int *)
PTXSMITH_BOTH(double, modf, double, double *) PTXSMITH_BOTH(float, modff, float, float *)
#define PTXSMITH_SPACE __host__ __device__
#include "ptxsmith_min_max.h"
namespace std { template <class T> __device__ T abs(T x); }
template <class T> __device__ bool isnan(T x);
template <class T> __device__ bool isinf(T x);
PTXSMITH_DEVICE(int, __isnan) PTXSMITH_DEVICE(int, __isnanf) PTXSMITH_DEVICE(int, __isinf) PTXSMITH_DEVICE(int, __isinff)
PTXSMITH_DEVICE(int, __finite) PTXSMITH_DEVICE(int, __finitef)
template <class T> __device__ bool isfinite(T x);
template <class T> __device__ bool signbit(T x);
// As nvcc's own headers do.
#include <assert.h>
#endif
