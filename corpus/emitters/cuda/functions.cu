// Function pointers, tables of them, recursion, functions that are not inlined, aggregates by value.
#include "prelude.h"
struct Big { int values[6]; double real; };
typedef int (*Operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ static __noinline__ int multiply(int a, int b) { return a * b; }
__device__ Operation operations[] = {add, subtract, multiply, nullptr};
struct Entry { const char *name; Operation run; short weight; };
__device__ Entry entries[3] = {{"add", add, 1}, {"subtract", subtract, 2}, {nullptr, nullptr, -3}};
__constant__ Operation fixed = subtract;
__device__ __noinline__ Big make(int a) { Big b = {{a, a + 1, a + 2}, 0.5}; return b; }
__device__ __noinline__ double take(Big b, float f, i8 c, bool d) { return b.values[2] + b.real + f + c + d; }
__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
extern "C" __global__ void dispatch(int *out, int which) { out[LANE] = operations[which](LANE, 3) + entries[which & 1].run(1, 2) + fixed(4, 5); }
extern "C" __global__ void aggregates(double *out, int a) { out[0] = take(make(a), 1.0f, (i8)a, a > 1); }
extern "C" __global__ void recursive(int *out, int n) { out[0] = factorial(n); }
extern "C" __global__ void addresses(Operation *out) { out[0] = add; out[1] = operations[1]; out[2] = entries[0].run; }
