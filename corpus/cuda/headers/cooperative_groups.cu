#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
constexpr int kTile = 32;
__global__ void kernel(int *out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<kTile>(block);
  int v = cg::reduce(tile, out[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = v;
  block.sync();
}
