#pragma once
#include <cuda_runtime.h>

// Three-dimensional vectors of any scalar.
template <class T> struct Vec3 {
  T x, y, z;
  static const int kSize = 3;
  static constexpr T kZero = T(0);
  Vec3() = default;
  __host__ __device__ constexpr Vec3(T x, T y, T z) : x(x), y(y), z(z) {}
  __host__ __device__ Vec3 operator+(const Vec3 &o) const { return Vec3(x + o.x, y + o.y, z + o.z); }
  __host__ __device__ Vec3 operator-(const Vec3 &o) const { return Vec3(x - o.x, y - o.y, z - o.z); }
  __host__ __device__ Vec3 operator*(T s) const { return Vec3(x * s, y * s, z * s); }
  __host__ __device__ T dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
};
using Vec3f = Vec3<float>;
