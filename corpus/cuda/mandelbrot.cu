// The Mandelbrot set in two precisions. Nothing here breaks the rule.
#include "include/launch.cuh"

const int kMaxIterations = 1000;
const float kEscape = 4.0f;
constexpr double kCenterX = -0.743643887037151, kCenterY = 0.131825904205330;
static const unsigned char kPalette[4] = {0, 85, 170, 255};

template <class T> struct View {
  T left, top, scale;
  __host__ __device__ T re(int x) const { return left + x * scale; }
  __host__ __device__ T im(int y) const { return top + y * scale; }
};

template <class T> __device__ int iterate(T cr, T ci) {
  T zr = 0, zi = 0;
  int n = 0;
  for (; n < kMaxIterations && zr * zr + zi * zi < static_cast<T>(kEscape); ++n) {
    T t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
  }
  return n;
}

template <class T> __global__ void mandelbrot(View<T> view, int *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = iterate(view.re(x), view.im(y));
}

__global__ void zoom(View<double> *view) {
  view->left = kCenterX + (view->left - kCenterX) * 0.5;
  view->top = kCenterY + (view->top - kCenterY) * 0.5;
  view->scale *= 0.5;
}

unsigned char shade(int n) { return kPalette[n * 3 / kMaxIterations]; }

int main() {
  const int width = 800, height = 600;
  int *out = nullptr;
  View<double> *view = nullptr;
  CHECK(cudaMalloc(&out, width * height * sizeof(int)));
  CHECK(cudaMallocManaged(&view, sizeof(View<double>)));
  dim3 block(16, 16), grid(width / 16, height / 16);
  mandelbrot<float><<<grid, block>>>(View<float>{-2, -1, 0.004f}, out, width, height);
  *view = View<double>{-2, -1, 0.004};
  zoom<<<1, 1>>>(view);
  mandelbrot<double><<<grid, block>>>(*view, out, width, height);
  std::printf("%d %p\n", shade(12), static_cast<const void *>(&kEscape));
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
