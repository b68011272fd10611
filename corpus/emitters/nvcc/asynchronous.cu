// Barriers, pipelines and bulk copies.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
__device__ float factors[8] = {1, 0.5f, 0.25f};
extern "C" __global__ void barriers(float *out, const float *in) { __shared__ cuda::barrier<cuda::thread_scope_block> bar; __shared__ float tile[64]; if (threadIdx.x == 0) init(&bar, blockDim.x); __syncthreads(); cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float), bar); bar.arrive_and_wait(); out[threadIdx.x] = tile[63 - threadIdx.x] * factors[threadIdx.x & 7]; }
extern "C" __global__ void pipelines(float *out, const float *in) { __shared__ float tile[2][64]; auto p = cuda::make_pipeline(); for (int i = 0; i < 4; i++) { p.producer_acquire(); cuda::memcpy_async(&tile[i & 1][threadIdx.x], &in[64 * i + threadIdx.x], sizeof(float), p); p.producer_commit(); p.consumer_wait(); out[64 * i + threadIdx.x] = tile[i & 1][threadIdx.x]; p.consumer_release(); } }
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void bulk(float *out, const float *in) { __shared__ alignas(128) float tile[256]; __shared__ uint64_t bar; namespace p = cuda::ptx; if (threadIdx.x == 0) { p::mbarrier_init(&bar, 1); p::cp_async_bulk(p::space_cluster, p::space_global, tile, in, sizeof(tile), &bar); p::mbarrier_arrive_expect_tx(p::sem_release, p::scope_cta, p::space_shared, &bar, sizeof(tile)); } __syncthreads(); while (!p::mbarrier_try_wait_parity(&bar, 0)) {} out[threadIdx.x] = tile[threadIdx.x]; }
#endif
