#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
constexpr int kThreads = 128; const int kItems = 4;
__global__ void __launch_bounds__(kThreads) kernel(int *out) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  __shared__ union { typename Reduce::TempStorage reduce; typename Sort::TempStorage sort; } storage;
  int items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = out[threadIdx.x * kItems + i];
  Sort(storage.sort).Sort(items);
  __syncthreads();
  int sum = Reduce(storage.reduce).Sum(items[0]);
  if (threadIdx.x == 0) *out = sum;
}
