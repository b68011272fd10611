// The game of life, with its rule as enumerators and constants of an unnamed namespace.
#include "include/launch.cuh"

namespace {
enum Cell : unsigned char { dead, alive };
const Cell kBorder = dead;
const unsigned kBirth = 1u << 3;
const unsigned kSurvive = (1u << 2) | (1u << 3);
extern const int kGenerations;
} // namespace

struct Board {
  unsigned char *cells;
  int width, height;
  __device__ Cell at(int x, int y) const {
    if (x < 0 || y < 0 || x >= width || y >= height)
      return kBorder; // violation: device_uses_const_host_var_of_invalid_type
    return static_cast<Cell>(cells[y * width + x]);
  }
  __device__ int neighbours(int x, int y) const {
    int n = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) n += (dx || dy) && at(x + dx, y + dy) == alive;
    return n;
  }
};

__global__ void generation(Board from, Board to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= from.width || y >= from.height) return;
  unsigned bit = 1u << from.neighbours(x, y);
  to.cells[y * to.width + x] = (from.at(x, y) == alive ? kSurvive & bit : kBirth & bit) ? alive : dead;
}

__global__ void age(int *ages, int n) {
  auto advance = [limit = &kGenerations](int a) { return a < *limit ? a + 1 : a; }; // violation: address_of_host_var_in_device_code
  int i = launch::thread_index();
  if (i < n) ages[i] = advance(ages[i]);
}

namespace {
const int kGenerations = 500;
}

int main() {
  Board a = {nullptr, 512, 512}, b = a;
  CHECK(cudaMalloc(&a.cells, 512 * 512));
  CHECK(cudaMalloc(&b.cells, 512 * 512));
  dim3 block(16, 16), grid(32, 32);
  for (int g = 0; g < kGenerations; ++g) generation<<<grid, block>>>(g % 2 ? b : a, g % 2 ? a : b);
  age<<<1, 32>>>(nullptr, 0);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
