// Tensor cores through wmma.
#include <mma.h>
using namespace nvcuda;
__device__ half scratch[16 * 16];
extern "C" __global__ void product(float *d, const half *a, const half *b) { wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb; wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc; wmma::fill_fragment(fc, 0.0f); wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, scratch, 16); wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(d, fc, 16, wmma::mem_row_major); }
