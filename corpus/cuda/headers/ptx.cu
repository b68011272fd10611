// flags: --cuda-gpu-arch=sm_90
#include <cuda/ptx>
#include <cuda/std/cstdint>
namespace ptx = cuda::ptx;
const int kBytes = 64; constexpr unsigned kParity = 1;
__global__ void fences(void *map, void *shared) {
  ptx::fence(ptx::sem_sc, ptx::scope_cta); ptx::fence(ptx::sem_sc, ptx::scope_sys);
  ptx::fence(ptx::sem_acq_rel, ptx::scope_gpu); ptx::fence(ptx::sem_acq_rel, ptx::scope_cluster);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::fence_proxy_async(); ptx::fence_proxy_alias();
  ptx::fence_proxy_async(ptx::space_shared);
  ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_sys, map, ptx::n32_t<128>());
  ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, map, shared, ptx::n32_t<128>());
  ptx::tensormap_replace_global_address(ptx::space_shared, shared, map);
}
__global__ void copies(int *out, const int *in, void *map, int n) {
  __shared__ int buffer[kBytes]; __shared__ uint64_t barrier; int at[2] = {n, kBytes};
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buffer, in, kBytes, &barrier);
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, buffer, kBytes);
  ptx::cp_async_bulk_commit_group(); ptx::cp_async_bulk_wait_group(ptx::n32_t<kParity>());
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, buffer, kBytes);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, buffer, map, at, &barrier);
  ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_min, map, at, buffer);
  ptx::red_async(ptx::op_add, out, kBytes, &barrier); // violation: address_of_host_var_in_device_code
  ptx::st_async(out, 3, &barrier);
}
__global__ void barriers(int *out) {
  __shared__ uint64_t barrier;
  ptx::mbarrier_init(&barrier, kBytes); ptx::mbarrier_arrive(&barrier);
  ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier, kBytes);
  ptx::mbarrier_test_wait(ptx::sem_acquire, ptx::scope_cta, &barrier, kParity);
  ptx::mbarrier_test_wait_parity(ptx::sem_acquire, ptx::scope_cta, &barrier, kParity); // violation: address_of_host_var_in_device_code
  ptx::mbarrier_try_wait(ptx::sem_acquire, ptx::scope_cta, &barrier, kParity);
  ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &barrier, kParity); // violation: address_of_host_var_in_device_code
  ptx::barrier_cluster_arrive(); ptx::barrier_cluster_wait();
  out[0] = ptx::multimem_ld_reduce(ptx::sem_relaxed, ptx::scope_gpu, ptx::op_add, out);
  ptx::multimem_st(ptx::sem_weak, out, kBytes);
  ptx::multimem_red(ptx::sem_release, ptx::scope_sys, ptx::op_min, out, 3);
}
