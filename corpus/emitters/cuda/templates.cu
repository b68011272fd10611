// Templates, static members, inline variables, lambdas, constants of compile time, statics of functions.
#include "prelude.h"
template <typename T, int N> struct Array { T values[N]; __device__ T &operator[](int i) { return values[i]; } __device__ T sum() const { T s = 0; for (int i = 0; i < N; i++) s += values[i]; return s; } };
template <typename T> __device__ T zero_of = T(0);
template <int N> struct Powers { static constexpr int value = 2 * Powers<N - 1>::value; };
template <> struct Powers<0> { static constexpr int value = 1; };
template <typename T> __device__ const T traits[4] = {T(1), T(2), T(3.5), T(-4)};
__device__ Array<int, 5> five = {{1, 2, 3, 4, 5}};
__device__ Array<Array<i8, 3>, 2> grid = {{{{1, 2, 3}}, {{4, 5, 6}}}};
template <typename F> __device__ int apply(F f, int n) { int r = 0; for (int i = 0; i < n; i++) r += f(i); return r; }
template <typename T> __device__ T scaled(T x) { static T scale = T(3); return x * scale; }
__host__ __device__ constexpr int square(int x) { return x * x; }
__device__ int squares[5] = {square(1), square(2), square(3), square(4), square(Powers<4>::value)};
template <typename T> __global__ void kernel(T *out, int i) { out[0] = traits<T>[i] + scaled<T>(out[1]) + zero_of<T>; }
template __global__ void kernel<int>(int *, int);
template __global__ void kernel<double>(double *, int);
template __global__ void kernel<u8>(u8 *, int);
namespace space { namespace inner { __device__ int hidden = 7; } static __device__ int local_to_unit = 8; }
namespace { __device__ int unnamed = 9; }
extern "C" __global__ void use(int *out, int n) {
  int base = five[2];
  out[0] = five.sum() + grid[1][2] + squares[n] + space::inner::hidden + space::local_to_unit + unnamed;
  out[1] = apply([=](int i) { return i * base + n; }, n);
  unnamed = n; space::local_to_unit = n;
}
