#pragma once
#include "cuda_runtime.h"
#define PTXSMITH_FLOAT(name, raw) \
  struct name { \
    unsigned short x; name() = default; \
    __host__ __device__ constexpr name(raw r) : x(r.x) {} \
    __host__ __device__ name(float v) : x(0) {} \
    __host__ __device__ name(double v) : x(0) {} \
    __host__ __device__ name(int v) : x(0) {} \
    __host__ __device__ name(unsigned v) : x(0) {} \
    __host__ __device__ name(long v) : x(0) {} \
    __host__ __device__ name(long long v) : x(0) {} \
    __host__ __device__ operator float() const { return 0; } \
    __host__ __device__ operator raw() const { return {0}; } \
  }; \
  PTXSMITH_HD name operator+(name a, name b) { return a; } PTXSMITH_HD name operator-(name a, name b) { return a; } \
  PTXSMITH_HD name operator*(name a, name b) { return a; } PTXSMITH_HD name operator/(name a, name b) { return a; } \
  PTXSMITH_HD name operator-(name a) { return a; } PTXSMITH_HD name &operator+=(name &a, name b) { return a; } \
  PTXSMITH_HD name &operator-=(name &a, name b) { return a; } PTXSMITH_HD name &operator*=(name &a, name b) { return a; } \
  PTXSMITH_HD name &operator/=(name &a, name b) { return a; } PTXSMITH_HD bool operator<(name a, name b) { return 0; } \
  PTXSMITH_HD bool operator>(name a, name b) { return 0; } PTXSMITH_HD bool operator<=(name a, name b) { return 0; } \
  PTXSMITH_HD bool operator>=(name a, name b) { return 0; } PTXSMITH_HD bool operator==(name a, name b) { return 0; } \
  PTXSMITH_HD bool operator!=(name a, name b) { return 0; }
#define PTXSMITH_FLOAT2(name, one) \
  struct name { \
    one x, y; name() = default; \
    __host__ __device__ name(one a, one b) : x(a), y(b) {} \
  }; \
  PTXSMITH_HD name operator+(name a, name b) { return a; } PTXSMITH_HD name operator-(name a, name b) { return a; } \
  PTXSMITH_HD name operator*(name a, name b) { return a; } PTXSMITH_HD name operator/(name a, name b) { return a; } \
  PTXSMITH_HD name &operator+=(name &a, name b) { return a; } PTXSMITH_HD name &operator*=(name &a, name b) { return a; }
struct __half_raw { unsigned short x; };
struct __nv_bfloat16_raw { unsigned short x; };
PTXSMITH_FLOAT(__half, __half_raw) PTXSMITH_FLOAT2(__half2, __half)
PTXSMITH_FLOAT(__nv_bfloat16, __nv_bfloat16_raw) PTXSMITH_FLOAT2(__nv_bfloat162, __nv_bfloat16)
typedef __half half; typedef __half2 half2; typedef __half nv_half; typedef __half2 nv_half2;
typedef __nv_bfloat16 nv_bfloat16; typedef __nv_bfloat162 nv_bfloat162;
#define PTXSMITH_TO(result, name) template <class... T> PTXSMITH_HD result name(T... values) { typedef result type; return type(); }
PTXSMITH_TO(float, __half2float) PTXSMITH_TO(__half, __float2half) PTXSMITH_TO(__half, __float2half_rn) PTXSMITH_TO(__half, __double2half) PTXSMITH_TO(float2, __half22float2)
PTXSMITH_TO(__half2, __float22half2_rn) PTXSMITH_TO(__half2, __floats2half2_rn) PTXSMITH_TO(__half2, __float2half2_rn) PTXSMITH_TO(__half2, __half2half2) PTXSMITH_TO(__half2, __halves2half2)
PTXSMITH_TO(__half2, make_half2) PTXSMITH_TO(float, __low2float) PTXSMITH_TO(float, __high2float) PTXSMITH_TO(__half, __low2half) PTXSMITH_TO(__half, __high2half) PTXSMITH_TO(__half2, __low2half2)
PTXSMITH_TO(__half2, __high2half2) PTXSMITH_TO(__half2, __lowhigh2highlow) PTXSMITH_TO(int, __half2int_rn) PTXSMITH_TO(int, __half2int_rz) PTXSMITH_TO(__half, __int2half_rn) PTXSMITH_TO(__half, __uint2half_rn) PTXSMITH_TO(__half, __ll2half_rn) PTXSMITH_TO(__half, __ull2half_rn) PTXSMITH_TO(long long, __half2ll_rn) PTXSMITH_TO(unsigned long long, __half2ull_rn) PTXSMITH_TO(unsigned, __half2uint_rn) PTXSMITH_TO(short, __half2short_rn) PTXSMITH_TO(unsigned short, __half2ushort_rn)
PTXSMITH_TO(__half, __ushort2half_rn) PTXSMITH_TO(__half, __short2half_rn) PTXSMITH_TO(__half, __ushort_as_half) PTXSMITH_TO(__half, __short_as_half) PTXSMITH_TO(unsigned short, __half_as_ushort)
PTXSMITH_TO(short, __half_as_short) PTXSMITH_TO(float, __bfloat162float) PTXSMITH_TO(__nv_bfloat16, __float2bfloat16) PTXSMITH_TO(__nv_bfloat16, __float2bfloat16_rn) PTXSMITH_TO(float2, __bfloat1622float2)
PTXSMITH_TO(__nv_bfloat162, __float22bfloat162_rn) PTXSMITH_TO(__nv_bfloat162, __floats2bfloat162_rn) PTXSMITH_TO(__nv_bfloat162, __bfloat162bfloat162) PTXSMITH_TO(__nv_bfloat162, __float2bfloat162_rn)
PTXSMITH_TO(__nv_bfloat162, __halves2bfloat162) PTXSMITH_TO(__nv_bfloat16, __ushort_as_bfloat16) PTXSMITH_TO(unsigned short, __bfloat16_as_ushort)
PTXSMITH_SAME(__hadd) PTXSMITH_SAME(__hsub) PTXSMITH_SAME(__hmul) PTXSMITH_SAME(__hdiv) PTXSMITH_SAME(__hfma) PTXSMITH_SAME(__hneg) PTXSMITH_SAME(__habs) PTXSMITH_SAME(__hmax) PTXSMITH_SAME(__hmin)
PTXSMITH_SAME(__hadd2) PTXSMITH_SAME(__hsub2) PTXSMITH_SAME(__hmul2) PTXSMITH_SAME(__h2div) PTXSMITH_SAME(__hfma2) PTXSMITH_SAME(__hneg2) PTXSMITH_SAME(__habs2) PTXSMITH_SAME(__hmax2) PTXSMITH_SAME(__hmin2)
PTXSMITH_SAME(hexp) PTXSMITH_SAME(hlog) PTXSMITH_SAME(hsqrt) PTXSMITH_SAME(hrsqrt) PTXSMITH_SAME(hrcp) PTXSMITH_SAME(hsin) PTXSMITH_SAME(hcos) PTXSMITH_SAME(h2exp) PTXSMITH_SAME(h2rcp) PTXSMITH_SAME(h2sqrt)
PTXSMITH_SAME(hceil) PTXSMITH_SAME(hfloor) PTXSMITH_SAME(hexp2) PTXSMITH_SAME(h2exp2) PTXSMITH_SAME(hlog2) PTXSMITH_SAME(htrunc) PTXSMITH_SAME(hrint) PTXSMITH_SAME(h2log)
PTXSMITH_DEVICE(bool, __hlt) PTXSMITH_DEVICE(bool, __hgt) PTXSMITH_DEVICE(bool, __hle) PTXSMITH_DEVICE(bool, __hge) PTXSMITH_DEVICE(bool, __heq) PTXSMITH_DEVICE(bool, __hne) PTXSMITH_DEVICE(bool, __hisnan)
PTXSMITH_DEVICE(bool, __hisinf) PTXSMITH_DEVICE(unsigned, __hgt2_mask) PTXSMITH_DEVICE(unsigned, __hlt2_mask)
