// Device malloc, copies, local memory, casts between address spaces, volatile.
#include "prelude.h"
struct List { int value; List *next; };
struct Block { int words[20]; };
__device__ List *head = nullptr;
__device__ volatile int ready = 1;
__device__ Block blocks[2] = {{{1, 2, 3}}, {{4}}};
__constant__ Block origin = {{9, 8, 7, 6, 5, 4, 3, 2, 1}};
extern "C" __global__ void push(int v) { List *l = (List *)malloc(sizeof(List)); if (!l) return; l->value = v; l->next = head; head = l; }
extern "C" __global__ void pop(int *out) { List *l = head; if (l) { out[0] = l->value; head = l->next; free(l); } }
extern "C" __global__ void copy() { blocks[1] = origin; }
extern "C" __global__ void copy_between(Block *to, int i) { to[1] = blocks[i]; to[2] = to[0]; }
extern "C" __global__ void fill(int *out, int v, int i) { Block b = {}; b.words[i] = v; b.words[3] = 4; out[0] = b.words[v & 15]; }
extern "C" __global__ void spin(int *out) { while (!ready) {} out[0] = ready; ready = 0; }
__device__ __noinline__ void bump(int *p) { *p += 1; }
extern "C" __global__ void mixed(int *out, int i) { __shared__ int s[4]; int l[4] = {1, 2, 3, 4}; bump(&s[i]); bump(&l[i]); bump(&blocks[0].words[i]); bump(&out[i]); out[0] = s[1] + l[2]; }
