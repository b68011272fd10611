// What another translation unit defines: variables and functions that are declared only.
#include "prelude.h"
struct Config { int width, height; const char *title; };
extern __device__ int elsewhere;
extern __device__ float elsewhere_table[64];
extern __constant__ Config configuration;
extern "C" __device__ int helper(int, const Config *);
__device__ int *far = &elsewhere;
__device__ int here = 3;
extern "C" __device__ int exported(int a) { return a + here; }
extern "C" __global__ void use(float *out, int i) { out[0] = elsewhere + elsewhere_table[i] + elsewhere_table[9] + configuration.height; elsewhere = i; out[1] = helper(i, &configuration); }
extern "C" __global__ void straight(float *out) { out[0] = elsewhere_table[3]; elsewhere_table[4] = out[2]; out[1] = (float)configuration.width; }
