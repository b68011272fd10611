#pragma once
#include "cuda_runtime.h"
namespace cooperative_groups {
#define PTXSMITH_GROUP(name) \
  struct name { \
    name() = default; template <class G> __device__ name(G) {} \
    __device__ void sync() const; __device__ unsigned thread_rank() const; __device__ unsigned size() const; __device__ unsigned num_threads() const; \
    __device__ unsigned meta_group_rank() const; __device__ unsigned meta_group_size() const; __device__ bool is_valid() const; __device__ dim3 group_dim() const; \
    __device__ dim3 group_index() const; __device__ dim3 thread_index() const; __device__ dim3 block_index() const; __device__ unsigned block_rank() const; \
    __device__ unsigned num_blocks() const; __device__ dim3 dim_blocks() const; __device__ dim3 dim_threads() const; \
    template <class T, class... U> __device__ T shfl(T value, U... by) const; template <class T, class... U> __device__ T shfl_up(T value, U... by) const; \
    template <class T, class... U> __device__ T shfl_down(T value, U... by) const; template <class T, class... U> __device__ T shfl_xor(T value, U... by) const; \
    __device__ unsigned ballot(int) const; __device__ int any(int) const; __device__ int all(int) const; __device__ unsigned match_any(unsigned) const; \
    template <class T> __device__ T *map_shared_rank(T *at, int rank) const; __device__ void barrier_arrive() const; __device__ void barrier_wait() const; \
  };
PTXSMITH_GROUP(thread_group) PTXSMITH_GROUP(thread_block) PTXSMITH_GROUP(grid_group) PTXSMITH_GROUP(coalesced_group) PTXSMITH_GROUP(cluster_group)
template <unsigned N, class P = void> PTXSMITH_GROUP(thread_block_tile)
__device__ thread_block this_thread_block();
__device__ grid_group this_grid();
__device__ coalesced_group coalesced_threads();
__device__ cluster_group this_cluster();
template <unsigned N, class G> __device__ thread_block_tile<N, G> tiled_partition(G group);
template <class G> __device__ thread_group tiled_partition(G group, unsigned size);
template <class G> __device__ void sync(G group);
template <class T> struct plus {}; template <class T> struct less {}; template <class T> struct greater {}; template <class T> struct bit_and {};
template <class T> struct bit_or {}; template <class T> struct bit_xor {};
template <class G, class T, class F> __device__ T reduce(G group, T value, F by);
template <class G, class T, class... F> __device__ T inclusive_scan(G group, T value, F... by);
template <class G, class T, class... F> __device__ T exclusive_scan(G group, T value, F... by);
template <class... T> __device__ void memcpy_async(T... values);
template <class... T> __device__ void wait(T... values);
}
