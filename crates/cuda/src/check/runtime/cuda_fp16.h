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
PTXSMITH_TO(__half, make_half) PTXSMITH_TO(__half2, make_half2) PTXSMITH_TO(__nv_bfloat16, make_bfloat16) PTXSMITH_TO(__nv_bfloat162, make_bfloat162)
PTXSMITH_TO(float2, __half22float2) PTXSMITH_TO(float2, __bfloat1622float2) PTXSMITH_TO(float, __low2float) PTXSMITH_TO(float, __high2float)
PTXSMITH_TO(__half2, __lowhigh2highlow) PTXSMITH_TO(__half2, __highlow2lowhigh) PTXSMITH_TO(__half, __ushort_as_half) PTXSMITH_TO(__half, __short_as_half)
PTXSMITH_TO(unsigned short, __half_as_ushort) PTXSMITH_TO(short, __half_as_short) PTXSMITH_TO(__nv_bfloat16, __ushort_as_bfloat16)
PTXSMITH_TO(__nv_bfloat16, __short_as_bfloat16) PTXSMITH_TO(unsigned short, __bfloat16_as_ushort) PTXSMITH_TO(short, __bfloat16_as_short)
// What has the type's name in it: `half` or `bfloat16`.
#define PTXSMITH_ROUND_TO(result, name) \
  PTXSMITH_TO(result, name##_rn) PTXSMITH_TO(result, name##_rz) PTXSMITH_TO(result, name##_ru) PTXSMITH_TO(result, name##_rd)
#define PTXSMITH_CONVERT(one, name) \
  PTXSMITH_TO(float, __##name##2float) PTXSMITH_TO(one, __float2##name) PTXSMITH_TO(one, __double2##name) PTXSMITH_ROUND_TO(one, __float2##name) \
  PTXSMITH_ROUND_TO(one, __int2##name) PTXSMITH_ROUND_TO(one, __uint2##name) PTXSMITH_ROUND_TO(one, __short2##name) PTXSMITH_ROUND_TO(one, __ushort2##name) \
  PTXSMITH_ROUND_TO(one, __ll2##name) PTXSMITH_ROUND_TO(one, __ull2##name) PTXSMITH_ROUND_TO(int, __##name##2int) PTXSMITH_ROUND_TO(unsigned, __##name##2uint) \
  PTXSMITH_ROUND_TO(short, __##name##2short) PTXSMITH_ROUND_TO(unsigned short, __##name##2ushort) PTXSMITH_ROUND_TO(long long, __##name##2ll) \
  PTXSMITH_ROUND_TO(unsigned long long, __##name##2ull) PTXSMITH_TO(signed char, __##name##2char_rz) PTXSMITH_TO(unsigned char, __##name##2uchar_rz) \
  PTXSMITH_TO(one, __low2##name) PTXSMITH_TO(one, __high2##name)
#define PTXSMITH_PAIRS(two, name) \
  PTXSMITH_TO(two, __float22##name##2_rn) PTXSMITH_TO(two, __floats2##name##2_rn) PTXSMITH_TO(two, __float2##name##2_rn) PTXSMITH_TO(two, __##name##2##name##2) \
  PTXSMITH_TO(two, __halves2##name##2) PTXSMITH_TO(two, __low2##name##2) PTXSMITH_TO(two, __high2##name##2) PTXSMITH_TO(two, __lows2##name##2) \
  PTXSMITH_TO(two, __highs2##name##2)
PTXSMITH_CONVERT(__half, half) PTXSMITH_PAIRS(__half2, half) PTXSMITH_CONVERT(__nv_bfloat16, bfloat16) PTXSMITH_PAIRS(__nv_bfloat162, bfloat16)
// Arithmetic of one and of two.
#define PTXSMITH_BY_TWO(name) PTXSMITH_SAME(__h##name) PTXSMITH_SAME(__h##name##2)
#define PTXSMITH_ARITHMETIC(name) \
  PTXSMITH_BY_TWO(name) PTXSMITH_SAME(__h##name##_rn) PTXSMITH_SAME(__h##name##_sat) PTXSMITH_SAME(__h##name##2_rn) PTXSMITH_SAME(__h##name##2_sat)
PTXSMITH_ARITHMETIC(add) PTXSMITH_ARITHMETIC(sub) PTXSMITH_ARITHMETIC(mul) PTXSMITH_ARITHMETIC(fma) PTXSMITH_SAME(__hfma_relu) PTXSMITH_SAME(__hfma2_relu)
PTXSMITH_BY_TWO(neg) PTXSMITH_BY_TWO(abs) PTXSMITH_BY_TWO(max) PTXSMITH_BY_TWO(min) PTXSMITH_DEVICE(bool, __hisnan) PTXSMITH_SAME(__hisnan2) PTXSMITH_SAME(__hdiv) PTXSMITH_SAME(__h2div)
PTXSMITH_SAME(__hmax_nan) PTXSMITH_SAME(__hmax2_nan) PTXSMITH_SAME(__hmin_nan) PTXSMITH_SAME(__hmin2_nan) PTXSMITH_SAME(__hcmadd) PTXSMITH_DEVICE(int, __hisinf)
#define PTXSMITH_FUNCTION(name) PTXSMITH_SAME(h##name) PTXSMITH_SAME(h2##name)
PTXSMITH_FUNCTION(exp) PTXSMITH_FUNCTION(exp2) PTXSMITH_FUNCTION(exp10) PTXSMITH_FUNCTION(log) PTXSMITH_FUNCTION(log2) PTXSMITH_FUNCTION(log10)
PTXSMITH_FUNCTION(sin) PTXSMITH_FUNCTION(cos) PTXSMITH_FUNCTION(tanh) PTXSMITH_FUNCTION(tanh_approx) PTXSMITH_FUNCTION(sqrt) PTXSMITH_FUNCTION(rsqrt)
PTXSMITH_FUNCTION(rcp) PTXSMITH_FUNCTION(ceil) PTXSMITH_FUNCTION(floor) PTXSMITH_FUNCTION(trunc) PTXSMITH_FUNCTION(rint)
#define PTXSMITH_ORDERED(name) \
  PTXSMITH_DEVICE(bool, __h##name) PTXSMITH_SAME(__h##name##2) PTXSMITH_DEVICE(bool, __hb##name##2) PTXSMITH_DEVICE(unsigned, __h##name##2_mask)
#define PTXSMITH_COMPARISON(name) PTXSMITH_ORDERED(name) PTXSMITH_ORDERED(name##u)
PTXSMITH_COMPARISON(eq) PTXSMITH_COMPARISON(ne) PTXSMITH_COMPARISON(lt) PTXSMITH_COMPARISON(le) PTXSMITH_COMPARISON(gt) PTXSMITH_COMPARISON(ge)
