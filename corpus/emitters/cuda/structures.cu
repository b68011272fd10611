// Structures, unions, bit fields, packing and alignment, with initial values and as parameters.
#include "prelude.h"
struct Pair { i8 small; int large; };
struct Nested { short head; Pair one; Pair two[2]; i8 tail; };
struct Bits { unsigned low : 3; unsigned middle : 7; int high : 22; u64 wide : 33; u64 rest : 31; u8 last : 1; };
union Either { float real; u32 bits; u8 bytes[6]; };
struct Holder { int tag; Either value; const Pair *link; };
#pragma pack(push, 1)
struct Packed { i8 a; int b; short c; i64 d; };
#pragma pack(pop)
struct alignas(32) Wide { float values[3]; i8 flag; };
struct Empty {};
struct Derived : Empty, Pair { double more; };
__constant__ Pair pairs[3] = {{1, -1}, {-2, 0x7fffffff}, {3, 0}};
__constant__ Nested nested = {1, {2, 3}, {{4, 5}, {6, 7}}, 8};
__device__ Bits bits[2] = {{5, 100, -3, 0x1ffffffffull, 0x7fffffffull, 1}, {1, 2, 3, 4, 5, 0}};
__device__ Either either[2] = {{1.5f}, {-0.0f}};
__device__ Holder holders[2] = {{1, {2.5f}, 0}, {2, {-1.0f}, 0}};
__constant__ Packed packed[3] = {{1, 0x01020304, 5, -6}, {-1, -2, -3, -4}, {7, 8, 9, 10}};
__device__ Wide wide[2] = {{{1, 2, 3}, 4}, {{-1, -2, -3}, -4}};
__device__ Derived derived = {};
__device__ Empty nothing;
extern "C" __global__ void read(int *out, float *real, int i) {
  out[0] = pairs[1].large + pairs[i].small + nested.two[1].large + nested.tail;
  out[1] = bits[0].middle + bits[i].high + (int)bits[1].wide;
  real[0] = either[0].real + holders[1].value.real + wide[i].values[2];
  out[2] = packed[2].b + packed[i].c + (int)packed[1].d;
  out[3] = derived.large + (holders[i].link != nullptr);
}
extern "C" __global__ void write(int i) {
  bits[i].high = 7; bits[1].low = 1;
  either[1].bits = 3; holders[0].link = &pairs[0]; wide[1].flag = 2; derived.more = 3;
  holders[i].value.bytes[5] = 9;
}
extern "C" __global__ void by_value(Nested n, Wide w, Packed p, Either e, int *out) {
  out[0] = n.two[1].large + p.b + (int)p.d; out[1] = (int)w.values[1] + e.bits + n.one.small;
}
