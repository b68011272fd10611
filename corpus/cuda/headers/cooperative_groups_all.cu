#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
const unsigned kTile = 16; const int kBytes = 128;
__global__ void kernel(int *out, const int *in) {
  __shared__ int buffer[kBytes / sizeof(int)];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<kTile>(block);
  auto active = cg::coalesced_threads();
  auto parts = cg::labeled_partition(active, out[0]);
  auto halves = cg::binary_partition(tile, out[1] > 0);
  cg::memcpy_async(block, buffer, in, kBytes); // violation: address_of_host_var_in_device_code
  cg::wait(block);
  out[2] = cg::exclusive_scan(tile, buffer[0], cg::plus<int>()) + cg::reduce(active, buffer[1], cg::greater<int>());
  out[3] = tile.shfl_xor(buffer[2], 1) + tile.any(kBytes > 3) + parts.size() + halves.thread_rank() + active.ballot(1);
  cg::invoke_one(block, [&] { out[4] = kBytes; });
  cg::this_grid().sync();
}
