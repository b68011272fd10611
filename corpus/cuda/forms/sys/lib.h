#pragma once
#define LIB_ADDR(x) (&(x))
#define LIB_LIMIT lib::kLimit
namespace lib {
const int kLimit = 3;
extern const int kLate;
struct Cfg { int n; };
constexpr Cfg cfg{4};
constexpr double pi = 3.14;
const volatile int kVol = 2;
constexpr int table[3] = {1, 2, 3};
enum Mode { slow, fast };
const Mode mode = fast;
static const float fk = 1.5f;
struct Traits {
  static constexpr int width = 8;
  static const int late;
};
template <class T> struct Info {
  static constexpr int size = sizeof(T);
  static constexpr T zero = T();
};
struct Second {
  static constexpr int width = 9;
  static const int table[2];
};
const int Second::table[2] = {1, 2};
namespace deep {
const int kDeep = 5;
}
inline __device__ const int *own() { return &kLimit; }
}
