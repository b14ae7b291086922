// SGEMM step 4, C = A B: a thread computes TM x TN elements, an outer product a step of k.
// Block BM BN / (TM TN) = 256 threads, tile 128 x 128 x 8; 8.1 KiB shared; 112 to 122 registers.
// L2: 2 (1/BM + 1/BN) = 0.031 bytes a FLOP. Shared memory: TM + TN = 16 values for 64 FMA.
// A thread's rows lie 16 apart and so do its columns: a warp's loads hit each bank once.
#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 8
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#define ROWS (BM / TM)  // threads down a tile, and across it
#define COLS (BN / TN)
#define THREADS (ROWS * COLS)
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_registers_2d(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                   int M, int N, int K) {
    static_assert(BM % TM == 0 && BN % TN == 0, "TM must divide BM, and TN must divide BN");
    static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "each thread stages as much");
    __shared__ float As[BK][BM + 4], Bs[BK][BN];  // A by columns; 4 more against bank conflicts
    const int tid = threadIdx.x, tx = tid % COLS, ty = tid / COLS;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int step = 0; step < BM * BK; step += THREADS) {
            const int i = step + tid;
            const int row = row0 + i / BK, k = k0 + i % BK;
            As[i % BK][i / BK] = row < M && k < K ? A[row * K + k] : 0;
        }
        for (int step = 0; step < BK * BN; step += THREADS) {
            const int i = step + tid;
            const int k = k0 + i / BN, col = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && col < N ? B[k * N + col] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; ++i) a[i] = As[k][ty + i * ROWS];
            for (int j = 0; j < TN; ++j) b[j] = Bs[k][tx + j * COLS];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = row0 + ty + i * ROWS, col = col0 + tx + j * COLS;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
}
