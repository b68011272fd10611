// Aggregates that are read and written as vectors, with alignments that allow it.
#include "prelude.h"
struct alignas(16) Four { float x, y, z, w; };
struct alignas(8) Two { int x, y; };
struct alignas(4) Bytes { u8 a, b, c, d; };
struct alignas(16) Doubles { double x, y; };
struct Three { float x, y, z; };
__constant__ Four fours[3] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {-1, -2, -3, -4}};
__device__ Two twos[4] = {{1, 2}, {3, 4}, {-5, -6}, {7, 8}};
__device__ Bytes bytes[5] = {{1, 2, 3, 4}, {255, 254, 253, 252}};
__device__ Doubles doubles = {0.1, -0.2};
__device__ Three threes[2] = {{1, 2, 3}, {4, 5, 6}};
extern "C" __global__ void copy(Four *out, const Four *in, int i) { out[i] = in[i]; out[i + 1] = in[3]; out[0] = fours[1]; }
extern "C" __global__ void swap(Two *a) { Two t = a[0]; a[0] = twos[2]; twos[3] = t; a[5] = a[4]; }
extern "C" __global__ void small(Bytes *out, int i) { out[0] = bytes[i]; out[1] = bytes[1]; bytes[4].c = 7; out[i].d = 3; }
extern "C" __global__ void wide(Doubles *out, Three *more) { out[0] = doubles; doubles.y = out[1].x; more[0] = threes[1]; }
extern "C" __global__ void scale(Four *data, float s) { Four v = data[LANE]; v.x *= s; v.y *= s; v.z *= s; v.w *= s; data[LANE] = v; }
