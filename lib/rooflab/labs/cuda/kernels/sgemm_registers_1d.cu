// SGEMM step 3, C = A B: a thread computes a column of TM elements, so a value of B from shared
// memory serves TM multiply-adds in registers.
// Block BM BN / TM = 512 threads, tile 64 x 64 x 8; 4 KiB shared; 44 to 68 registers.
// L2: 2 (1/BM + 1/BN) = 0.0625 bytes a FLOP. Shared memory: TM + 1 values for TM FMA.
#ifndef BM
#define BM 64
#endif
#ifndef BN
#define BN 64
#endif
#ifndef BK
#define BK 8
#endif
#ifndef TM
#define TM 8
#endif
#define THREADS (BM * BN / TM)
extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_registers_1d(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                   int M, int N, int K) {
    static_assert(BM % TM == 0, "TM must divide BM");
    static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "each thread stages as much");
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int tid = threadIdx.x, tx = tid % BN, ty = tid / BN;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[TM] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int step = 0; step < BM * BK; step += THREADS) {
            const int i = step + tid;
            const int row = row0 + i / BK, k = k0 + i % BK;
            As[i / BK][i % BK] = row < M && k < K ? A[row * K + k] : 0;
        }
        for (int step = 0; step < BK * BN; step += THREADS) {
            const int i = step + tid;
            const int k = k0 + i / BN, col = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && col < N ? B[k * N + col] : 0;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k][tx];
            for (int i = 0; i < TM; ++i) sum[i] += As[ty * TM + i][k] * b;
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) {
        const int row = row0 + ty * TM + i, col = col0 + tx;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}
