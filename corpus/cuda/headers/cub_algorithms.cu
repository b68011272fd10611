#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/iterator/cache_modified_input_iterator.cuh>
const int kThreads = 64; constexpr int kItems = 2;
struct Less { __device__ bool operator()(int a, int b) const { return a < b; } };
__global__ void __launch_bounds__(kThreads) kernel(int *out, const int *in) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_VECTORIZE>;
  using Histogram = cub::BlockHistogram<unsigned char, kThreads, kItems, 16>;
  using Sort = cub::BlockMergeSort<int, kThreads, kItems>;
  using Heads = cub::BlockDiscontinuity<int, kThreads>;
  using Scan = cub::WarpScan<int>;
  using WarpSort = cub::WarpMergeSort<int, kItems, 32>;
  __shared__ union {
    typename Load::TempStorage load; typename Store::TempStorage store; typename Histogram::TempStorage histogram;
    typename Sort::TempStorage sort; typename Heads::TempStorage heads; typename Scan::TempStorage scan[kThreads / 32];
    typename WarpSort::TempStorage warp[kThreads / 32];
  } storage;
  __shared__ int counts[16];
  int items[kItems], flags[kItems]; unsigned char bytes[kItems] = {1, 2};
  Load(storage.load).Load(in, items, kThreads * kItems, -kItems);
  __syncthreads();
  Sort(storage.sort).Sort(items, Less());
  __syncthreads();
  Heads(storage.heads).FlagHeads(flags, items, cub::Inequality());
  __syncthreads();
  Histogram(storage.histogram).Histogram(bytes, counts);
  __syncthreads();
  Scan(storage.scan[threadIdx.x / 32]).InclusiveSum(items[0], items[0]);
  WarpSort(storage.warp[threadIdx.x / 32]).Sort(items, Less());
  __syncthreads();
  Store(storage.store).Store(out, items);
}
