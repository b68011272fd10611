// Straight-line kernels: parameters of many types, bases with indices and offsets, every width.
#include "prelude.h"
struct Particle { float x, y, z; int kind; double mass; i8 flags[4]; u16 id; };
__device__ Particle particles[10] = {{1, 2, 3, 4, 5.0, {6, 7, 8, 9}, 10}};
__constant__ Particle reference = {0.5f, 1.5f, 2.5f, -1, 1e3, {-1}, 77};
extern "C" __global__ void saxpy(float *y, const float *x, float a) { int i = GROUP * GROUPS + LANE; y[i] = a * x[i] + y[i]; }
extern "C" __global__ void by_field(float *out, const Particle *in, int i) { const Particle &p = in[i]; out[0] = p.x; out[1] = p.y; out[2] = p.z; out[3] = (float)p.kind; out[4] = (float)p.mass; out[5] = p.flags[2]; out[6] = p.id; }
extern "C" __global__ void of_module(float *out, int i, int j) { out[0] = particles[i].z; out[1] = particles[3].y; out[2] = particles[i + 2].flags[j]; out[3] = reference.kind; out[4] = (float)reference.mass; particles[i].id = 5; particles[9].mass = 2; particles[j - 1].kind = i; }
extern "C" __global__ void widths(u8 *a, u16 *b, u32 *c, u64 *d, float *e, double *f) { a[1] = a[0]; b[3] = b[2]; c[5] = c[4]; d[7] = d[6]; e[9] = e[8]; f[11] = f[10]; }
extern "C" __global__ void signs(i8 *a, short *b, int *c, i64 *d) { d[0] = a[3]; d[1] = b[5]; d[2] = c[7]; c[0] = a[1]; b[0] = a[2]; }
extern "C" __global__ void many(i8 a, u8 b, short c, u16 d, int e, u32 f, i64 g, u64 h, float i, double j, void *k, bool l, u64 *out) { out[0] = a + b + c + d; out[1] = e + f + g + h; out[2] = (u64)k + l; ((double *)out)[3] = i + j; }
extern "C" __global__ void negative(int *p, i64 i) { p[-1] = p[i - 4]; p[i * 3 + 2] = p[-1000]; p[100000] = p[i]; }
extern "C" __global__ void two_levels(int **p, int i) { p[i][3] = p[2][i]; *p[7] = p[i + 1][0]; }
extern "C" __global__ void restricted(float *__restrict__ out, const float *__restrict__ in) { out[LANE] = in[LANE] + in[LANE + 32] + in[1]; }
extern "C" __global__ void __launch_bounds__(128, 2) bounded(int *out) { out[GROUP * 128 + LANE] = GROUP; }
