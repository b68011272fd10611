// Classes with virtual functions: tables, several bases, virtual inheritance, pure functions, destructors.
#include "prelude.h"
struct Shape { int id; __device__ constexpr Shape(int i) : id(i) {} __device__ virtual float area() const = 0; __device__ virtual int sides() const { return 0; } };
struct Named { const char *name; __device__ constexpr Named(const char *n) : name(n) {} __device__ virtual const char *called() const { return name; } };
struct Square : Shape { float a; __device__ constexpr Square(float s) : Shape(4), a(s) {} __device__ float area() const override { return a * a; } __device__ int sides() const override { return 4; } };
struct Circle : Shape, Named { float r; __device__ constexpr Circle(float s) : Shape(1), Named("circle"), r(s) {} __device__ float area() const override { return 3.14159f * r * r; } __device__ const char *called() const override { return "round"; } };
struct Base { int b = 1; __device__ virtual int get() { return b; } __device__ virtual ~Base() {} };
struct Left : virtual Base { int l = 2; __device__ int get() override { return l; } };
struct Right : virtual Base { int r = 3; };
struct Bottom : Left, Right { int x = 4; __device__ int get() override { return x + l + r; } };
extern "C" __global__ void make(void *at, int kind, float size) {
  if (kind == 0) { Square s(size); *(Square *)at = s; } else { Circle c(size); *(Circle *)at = c; }
}
#ifndef __CUDACC__
__device__ void *operator new(size_t, void *at) noexcept { return at; }
#elif !defined(__CUDACC_RTC__)
#include <new>
#endif
extern "C" __global__ void place(void *at) { new (at) Square(2.0f); }
extern "C" __global__ void place_two(void *at) { new (at) Circle(3.0f); }
extern "C" __global__ void diamond(int *out) { Bottom b; Base *p = &b; out[0] = p->get(); }
extern "C" __global__ void call(const Shape *const *shapes, float *out) { out[LANE] = shapes[LANE]->area() + shapes[LANE]->sides(); }
