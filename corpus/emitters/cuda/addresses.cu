// Addresses of variables, elements and members in initial values and in code.
#include "prelude.h"
struct Node { int value; Node *next; short tail[3]; };
__device__ int data[16] = {10, 11, 12, 13};
__device__ int *first = data;
__device__ int *third = &data[3];
__device__ int *last = data + 16;
__device__ int *several[5] = {&data[0], &data[1], data + 15, nullptr, &data[7]};
__device__ Node a = {1, nullptr, {1, 2, 3}};
__device__ Node b = {2, &a, {4, 5}};
__device__ Node c = {3, &b, {-6}};
__device__ short *inside = &b.tail[2];
__device__ Node **indirect = &c.next;
extern __device__ float elsewhere[64];
__device__ float *far_inside = &elsewhere[5];
__device__ u64 matrix[8][8];
__device__ u64 *row = matrix[3];
__device__ u64 (*whole)[8][8] = &matrix;
__constant__ int *in_constant = &data[2];
__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
extern "C" __global__ void take(void **out) {
  out[0] = &data[5]; out[1] = first; out[2] = third; out[3] = several[4]; out[4] = &a.tail[1]; out[5] = inside; out[6] = &matrix[2][3];
  out[7] = in_constant; out[9] = (void *)&table[3]; out[8] = *indirect; out[10] = far_inside;
}
extern "C" __global__ void follow(int *out, int i) {
  out[0] = a.next->value; out[1] = c.next->next->tail[1]; out[2] = *several[i]; out[3] = data[i + 3]; out[4] = table[i - 1]; out[5] = table[7 - i];
  matrix[i][2] = row[i]; matrix[7][7] = (*whole)[i][i];
}
extern "C" __global__ void store(int i, int j) {
  data[i] = j; data[3] = i; a.value = j; b.tail[i] = (short)j; c.next = &a; matrix[i][j] = 5; matrix[1][6] = (u64)&data[i];
}
extern "C" __global__ void walk(int *out, Node *n) { int sum = 0; while (n) { sum += n->value; n = n->next; } *out = sum; }
