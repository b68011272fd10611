// Cooperative groups, warp functions, cluster launch bounds, asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__device__ unsigned turns[4] = {1, 2, 3, 4};
extern "C" __global__ void tile_sum(int *out, const int *in) { auto tile = cg::tiled_partition<16>(cg::this_thread_block()); int v = cg::reduce(tile, in[threadIdx.x], cg::plus<int>()); if (tile.thread_rank() == 0) out[threadIdx.x / 16] = v; }
extern "C" __global__ void votes(unsigned *out, int x) { out[0] = __ballot_sync(~0u, x > 3); out[1] = __any_sync(~0u, x); out[2] = __shfl_xor_sync(~0u, x, 5); out[3] = __match_any_sync(~0u, x); out[4] = __reduce_add_sync(~0u, x); }
extern "C" __global__ void staged(float *out, const float *in, int n) { extern __shared__ float buffer[]; auto block = cg::this_thread_block(); cg::memcpy_async(block, buffer, in, sizeof(float) * n); cg::wait(block); out[threadIdx.x] = buffer[threadIdx.x]; turns[threadIdx.x & 3]++; }
extern "C" __global__ void __launch_bounds__(256, 2) whole(int *out) { cg::this_grid().sync(); out[blockIdx.x] = cg::this_grid().size(); }
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(int *out) { __shared__ int mine; auto c = cg::this_cluster(); mine = threadIdx.x; c.sync(); out[0] = *c.map_shared_rank(&mine, 1); }
#endif
