// What the sources take from CUDA's headers, so that clang compiles them without any and its output is of this text alone.
#pragma once
#if defined(__clang__) && defined(__CUDA__) && !defined(__CUDACC__)
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __attribute__((always_inline)) inline
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
typedef __SIZE_TYPE__ size_t;
extern "C" __device__ int vprintf(const char *, const char *);
extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *malloc(size_t);
extern "C" __device__ void free(void *);
#define LANE __nvvm_read_ptx_sreg_tid_x()
#define GROUP __nvvm_read_ptx_sreg_ctaid_x()
#define GROUPS __nvvm_read_ptx_sreg_ntid_x()
#define BARRIER() __syncthreads()
#define ADD(at, value) __nvvm_atom_add_gen_i(at, value)
#define SWAP(at, value) __nvvm_atom_xchg_gen_i(at, value)
#define COMPARE_SWAP(at, old, value) __nvvm_atom_cas_gen_i(at, old, value)
#define MAXIMUM(at, value) __nvvm_atom_max_gen_i(at, value)
#else
#ifndef __CUDACC_RTC__
#include <cstdio>
#endif
#define LANE threadIdx.x
#define GROUP blockIdx.x
#define GROUPS blockDim.x
#define BARRIER() __syncthreads()
#define ADD(at, value) atomicAdd(at, value)
#define SWAP(at, value) atomicExch(at, value)
#define COMPARE_SWAP(at, old, value) atomicCAS(at, old, value)
#define MAXIMUM(at, value) atomicMax(at, value)
#endif
#ifdef __CUDACC_RTC__
#define INFINITE (1.0f / 0.0f)
#define NOT_A_NUMBER (0.0f / 0.0f)
#else
#define INFINITE __builtin_inff()
#define NOT_A_NUMBER __builtin_nanf("")
#endif
typedef signed char i8;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
