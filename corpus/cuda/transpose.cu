// Transposition by tiles. All constants are read by value in every way there is; nothing breaks the rule.
#include "include/launch.cuh"

struct Shape {
  static const int kTile = 32;
  static const int kRows = kTile / 4;
  enum { kPad = 1 };
};
template <int Tile, int Rows> struct Geometry {
  static const int kSteps = Tile / Rows;
  int offsets[Tile];
};
const Geometry<Shape::kTile, Shape::kRows> *kNoGeometry = nullptr;
const size_t kBytes = sizeof(float) * Shape::kTile;

template <class T> __global__ void transpose(const T *in, T *out, int width, int height) {
  __shared__ T tile[Shape::kTile][Shape::kTile + Shape::kPad];
  int x = blockIdx.x * Shape::kTile + threadIdx.x;
  int y = blockIdx.y * Shape::kTile + threadIdx.y;
  for (int j = 0; j < Shape::kTile; j += Shape::kRows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * Shape::kTile + threadIdx.x;
  y = blockIdx.x * Shape::kTile + threadIdx.y;
#pragma unroll
  for (int s = 0; s < Geometry<Shape::kTile, Shape::kRows>::kSteps; ++s) {
    int j = s * Shape::kRows;
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

__global__ void sizes(size_t *out) {
  constexpr int rows = Shape::kRows;
  out[0] = sizeof(kBytes) + kBytes + rows;
  switch (threadIdx.x) {
  case Shape::kTile:
    out[1] = Shape::kTile;
    break;
  default:
    out[1] = [] { return kBytes; }();
  }
}

int main() {
  float *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, 1024 * kBytes));
  CHECK(cudaMalloc(&out, 1024 * kBytes));
  transpose<float><<<dim3(1, 32), dim3(Shape::kTile, Shape::kRows)>>>(in, out, 32, 1024);
  sizes<<<1, 1>>>(nullptr);
  return kNoGeometry == nullptr && cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
