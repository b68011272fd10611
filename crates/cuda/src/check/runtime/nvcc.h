/* Included behind NVIDIA's own headers, which would use what only nvcc has: programs ask for these macros. */
#if __cplusplus >= 201703L && __has_include(<cuda/std/version>)
#include <cuda/std/version>
#endif
#ifndef __NVCC__
#define __NVCC__ 1
#endif
#if defined(CUDART_VERSION) && !defined(__CUDACC_VER_MAJOR__)
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#endif
#include "ptxsmith_library.h"
// What NVIDIA's headers have for the host, too, and clang's have for the device alone.
#define PTXSMITH_SPACE __attribute__((host))
#include "ptxsmith_min_max.h"
extern "C" inline __attribute__((host)) void __trap() {}
