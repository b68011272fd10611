#pragma once
namespace heat {
const float kDiffusivity = 0.1f;
constexpr int kBlock = HEAT_BLOCK;
const int kRadius = 1;
const float kWeights[3] = {1.f, -2.f, 1.f};

template <class T> struct Limits {
  static constexpr T coldest = T(-273);
};

template <class T> __host__ __device__ inline T clamped(const T &value, const T &least) {
  return value < least ? least : value;
}
}  // namespace heat
