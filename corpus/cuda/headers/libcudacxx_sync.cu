#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/pipeline>
#include <cuda/annotated_ptr>
#include <cooperative_groups.h>
const int kCount = 32; constexpr int kStages = 2;
__device__ cuda::atomic<int, cuda::thread_scope_device> counter;
__global__ void kernel(int *out, const int *in) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>; using State = cuda::pipeline_shared_state<cuda::thread_scope_block, kStages>;
  __shared__ alignas(16) char barrier_bytes[sizeof(Barrier)], state_bytes[sizeof(State)];
  auto &barrier = *reinterpret_cast<Barrier *>(barrier_bytes);
  __shared__ cuda::std::latch *latch;
  __shared__ int buffer[kStages * kCount];
  auto group = cooperative_groups::this_thread_block();
  if (group.thread_rank() == 0) init(&barrier, kCount);
  auto pipeline = cuda::make_pipeline(group, reinterpret_cast<State *>(state_bytes));
  pipeline.producer_acquire();
  cuda::memcpy_async(group, buffer, in, sizeof(int) * kCount, pipeline);
  pipeline.producer_commit();
  pipeline.consumer_wait();
  cuda::atomic_ref<int, cuda::thread_scope_system> ref(out[0]);
  ref.fetch_max(kCount, cuda::memory_order_relaxed); // violation: address_of_host_var_in_device_code
  ref.compare_exchange_strong(buffer[0], kCount, cuda::std::memory_order_acq_rel);
  counter.fetch_add(kCount);
  barrier.arrive_and_wait();
  barrier.wait(barrier.arrive(1));
  cuda::counting_semaphore<cuda::thread_scope_block, 4> semaphore(1);
  semaphore.acquire(); semaphore.release();
  if (latch) latch->arrive_and_wait();
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  pipeline.consumer_release();
  out[1] = buffer[group.thread_rank()];
}
