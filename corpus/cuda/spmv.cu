// Sparse matrix times vector, scalar and vector kernels, over a matrix class with static limits.
#include "include/reduce.cuh"

template <class Index, class T> class CsrView {
public:
  static const Index kNoRow = -1;
  static const int kMaxVector;
  const Index *offsets;
  const Index *columns;
  const T *values;
  Index rows;

  __device__ Index length(Index row) const { return row < rows ? offsets[row + 1] - offsets[row] : kNoRow; }
  __device__ bool is_short(Index row) const {
    return length(row) < kMaxVector; // violation: const_host_var_not_initialized_before_use
  }
};
template <class Index, class T> const int CsrView<Index, T>::kMaxVector = 32;

template <class Index, class T> __global__ void spmv_scalar(CsrView<Index, T> a, const T *x, T *y) {
  Index row = launch::thread_index();
  if (a.length(row) == a.kNoRow) return;
  T sum = T(0);
  for (Index k = a.offsets[row]; k < a.offsets[row + 1]; ++k) sum += a.values[k] * x[a.columns[k]];
  y[row] = a.is_short(row) ? sum : -sum;
}

template <class Index, class T> __global__ void spmv_vector(CsrView<Index, T> a, const T *x, T *y) {
  Index row = launch::thread_index() / launch::kWarp;
  if (row >= a.rows) return;
  T sum = T(0);
  for (Index k = a.offsets[row] + launch::lane(); k < a.offsets[row + 1]; k += launch::kWarp)
    sum += a.values[k] * x[a.columns[k]];
  sum = reduce::over_warp(sum, reduce::Sum());
  const Index *none = &CsrView<Index, T>::kNoRow; // violation: address_of_host_var_in_device_code
  if (launch::lane() == 0 && row != *none) y[row] = sum;
}

int main() {
  CsrView<int, double> a = {};
  double *x = nullptr, *y = nullptr;
  CHECK(cudaMalloc(&x, 1 << 16));
  CHECK(cudaMalloc(&y, 1 << 16));
  spmv_scalar<int, double><<<16, launch::kBlock>>>(a, x, y);
  spmv_vector<int, double><<<16, launch::kBlock>>>(a, x, y);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
