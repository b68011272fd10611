// Block algorithms of CUB.
#include <cub/cub.cuh>
__device__ int limits[2] = {0, 1000};
extern "C" __global__ void sums(int *out, const int *in) { using Reduce = cub::BlockReduce<int, 128>; __shared__ typename Reduce::TempStorage storage; int s = Reduce(storage).Sum(in[threadIdx.x]); if (threadIdx.x == 0) out[0] = s + limits[1]; }
extern "C" __global__ void scans(int *out, const int *in) { using Scan = cub::BlockScan<int, 128>; __shared__ typename Scan::TempStorage storage; int v; Scan(storage).ExclusiveSum(in[threadIdx.x], v); out[threadIdx.x] = v; }
extern "C" __global__ void sorts(unsigned *data) { using Sort = cub::BlockRadixSort<unsigned, 64, 2>; __shared__ typename Sort::TempStorage storage; unsigned keys[2] = {data[2 * threadIdx.x], data[2 * threadIdx.x + 1]}; Sort(storage).Sort(keys); data[2 * threadIdx.x] = keys[0]; data[2 * threadIdx.x + 1] = keys[1]; }
