// HGEMM, C = A B, on tensor cores through WMMA: fp16 in, fp32 sums and result.
// Block 128 threads, tile 64 x 64 x 32, a warp 32 x 32 (2 x 2 fragments); 9.5 KiB shared; 78 to 90
// registers. L2: 2 bytes (1/64 + 1/64) / 2 = 0.031 bytes a FLOP.
// M and N are multiples of 16, K of 8, and A, B, C begin at a multiple of 32 bytes.
#include <mma.h>
using namespace nvcuda;
#define BM 64
#define BN 64
#define BK 32
extern "C" __global__ void __launch_bounds__(128)
hgemm_wmma(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C,
           int M, int N, int K) {
    __shared__ __align__(32) half As[BM][BK + 8], Bs[BK][BN + 8];  // 8 more against bank conflicts
    const int tid = threadIdx.x, warp = tid / 32;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int wrow = warp / 2 * 32, wcol = warp % 2 * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
    const uint4 zero = make_uint4(0, 0, 0, 0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int step = 0; step < 2; ++step) {  // 256 vectors of 8 halves in each tile
            const int i = step * 128 + tid;
            const int arow = i / 4, ak = i % 4 * 8, bk = i / 8, bcol = i % 8 * 8;
            const bool a_inside = row0 + arow < M && k0 + ak < K;
            const bool b_inside = k0 + bk < K && col0 + bcol < N;
            *(uint4*)&As[arow][ak] =
                a_inside ? *(const uint4*)(A + (row0 + arow) * K + k0 + ak) : zero;
            *(uint4*)&Bs[bk][bcol] =
                b_inside ? *(const uint4*)(B + (k0 + bk) * N + col0 + bcol) : zero;
        }
        __syncthreads();
        for (int k = 0; k < BK; k += 16) {
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(a[i], &As[wrow + 16 * i][k], BK + 8);
                wmma::load_matrix_sync(b[i], &Bs[k][wcol + 16 * i], BN + 8);
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const int row = row0 + wrow + 16 * i, col = col0 + wcol + 16 * j;
            if (row < M && col < N)
                wmma::store_matrix_sync(C + row * N + col, sum[i][j], N, wmma::mem_row_major);
        }
}
