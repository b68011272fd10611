// Managed variables, grid constants, register limits, assertions, device-side abort, statics, alignment.
#include <cassert>
struct Large { int values[200]; double last; };
__managed__ int managed = 5;
__managed__ Large managed_table = {{1, 2, 3}, 4.5};
__device__ __managed__ float *managed_pointer;
__device__ alignas(256) int aligned[3] = {1, 2, 3};
__device__ const volatile int fixed = 9;
extern "C" __global__ void __maxnreg__(32) limited(int *out) { out[threadIdx.x] = managed + managed_table.values[2] + fixed; managed_pointer = (float *)out; }
extern "C" __global__ void constant(const __grid_constant__ Large l, int *out, int i) { out[0] = l.values[i] + l.values[5]; out[1] = (int)l.last; const Large *p = &l; out[2] = p->values[i + 1]; }
extern "C" __global__ void asserting(int *out, int i) { assert(i < 5 && "too far"); static int calls = 3; out[0] = calls++; if (i == 100) __trap(); aligned[i] = __popc(i); }
