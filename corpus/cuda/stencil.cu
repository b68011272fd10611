// A seven-point heat stencil over a grid whose extent is a constant class object of the host.
#include "include/launch.cuh"

struct Extent {
  int nx, ny, nz;
  __host__ __device__ constexpr int cells() const { return nx * ny * nz; }
};
const Extent kExtent = {128, 128, 64};
const int kPlane = 128 * 128;
const double kDiffusion = 0.1;
volatile const unsigned kIterations = 100;

__device__ inline int cell(int x, int y, int z) { return (z * 128 + y) * 128 + x; }

__global__ void heat(const double *in, double *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= kExtent.nx - 1 || y >= 127) return; // violation: device_uses_const_host_var_of_invalid_type
  for (int z = 1; z < 63; ++z) {
    int c = cell(x, y, z);
    double around = in[c - 1] + in[c + 1] + in[c - 128] + in[c + 128] + in[c - kPlane] + in[c + kPlane];
    out[c] = in[c] + kDiffusion * (around - 6.0 * in[c]);
  }
}

__global__ void fill(double *grid, double value) {
  for (int i = launch::thread_index(); i < kExtent.cells(); i += launch::thread_count()) // violation: address_of_host_var_in_device_code
    grid[i] = value;
}

__host__ __device__ bool is_inside(int x, int y) {
  return x >= 0 && y >= 0 && x * y < kPlane;
}

int run(double *a, double *b) {
  dim3 block(16, 16), grid(kExtent.nx / 16, kExtent.ny / 16);
  fill<<<launch::blocks_for(kExtent.cells()), launch::kBlock>>>(a, 1.0);
  for (unsigned i = 0; i < kIterations; ++i) {
    heat<<<grid, block>>>(a, b);
    double *t = a;
    a = b;
    b = t;
  }
  return is_inside(1, 1) ? 0 : 1;
}

int main() {
  double *a = nullptr, *b = nullptr;
  CHECK(cudaMalloc(&a, kExtent.cells() * sizeof(double)));
  CHECK(cudaMalloc(&b, kExtent.cells() * sizeof(double)));
  return run(a, b);
}
