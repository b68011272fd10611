// A work queue on the device with a policy class, a nested class and a derived one.
#include "include/launch.cuh"

class Queue {
public:
  struct Limits {
    static const unsigned kCapacity = 1u << 12;
    static const double kLoad;
  };
  static const int kEmpty = -1;

  __device__ bool push(int item) {
    unsigned at = atomicAdd(&tail, 1u);
    if (at - head >= Limits::kCapacity * Limits::kLoad) return false; // violation: const_host_var_not_initialized_before_use
    items[at % Limits::kCapacity] = item;
    return true;
  }
  __device__ int pop() {
    unsigned at = atomicAdd(&head, 1u);
    return at < tail ? items[at % Limits::kCapacity] : kEmpty;
  }
  __host__ __device__ unsigned size() const { return tail - head; }

protected:
  int items[Limits::kCapacity];
  unsigned head, tail;
};
const double Queue::Limits::kLoad = 0.9;

class Priority : public Queue {
public:
  using Queue::kEmpty;
  __device__ int peek() const { return size() ? items[head % Limits::kCapacity] : kEmpty; }
  __device__ bool is_crowded() const { return size() > Limits::kCapacity * Limits::kLoad; }
  __device__ const int *none() const { return &kEmpty; } // violation: address_of_host_var_in_device_code
};

__global__ void work(Priority *queue, int *done, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    int item = queue->pop();
    if (item == Queue::kEmpty || item == *queue->none()) break;
    if (item > 1 && !queue->is_crowded()) queue->push(item / 2);
    atomicAdd(done, 1);
  }
}

__global__ void fill(Priority *queue, int n) {
  int i = launch::thread_index();
  if (i < n && queue->peek() != queue->kEmpty) queue->push(i);
}

int main() {
  Priority *queue = nullptr;
  int *done = nullptr;
  CHECK(cudaMallocManaged(&queue, sizeof(Priority)));
  CHECK(cudaMallocManaged(&done, sizeof(int)));
  fill<<<1, launch::kBlock>>>(queue, 100);
  work<<<1, launch::kBlock>>>(queue, done, 1000);
  std::printf("%u of %g\n", queue->size(), Queue::Limits::kLoad);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
