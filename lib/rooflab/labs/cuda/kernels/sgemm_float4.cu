// SGEMM step 5, C = A B: as sgemm_registers_2d, but 16 bytes a load, from L2 and shared memory.
// Block 256 threads, tile 128 x 128 x 8, 8 x 8 elements a thread; 8.1 KiB shared; 125 to 151
// registers. 0.031 bytes a FLOP from L2; shared memory: 4 LDS.128 for 64 FMA.
// K and N are multiples of 4, and A, B, C begin at a multiple of 16 bytes; M is any.
#ifndef BK
#define BK 8
#endif
#define BM 128
#define BN 128
#define THREADS 256
#define VECTOR(address) (*(float4*)(address))
extern "C" __global__ void __launch_bounds__(THREADS, 1)
sgemm_float4(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
             int M, int N, int K) {
    static_assert(BK % 8 == 0, "each thread stages as many vectors of 4");
    __shared__ __align__(16) float As[BK][BM + 4], Bs[BK][BN];
    const int tid = threadIdx.x, tx = tid % 16 * 4, ty = tid / 16 * 4;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const float4 zero = make_float4(0, 0, 0, 0);
    __align__(16) float sum[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int step = 0; step < BM * BK / 4; step += THREADS) {
            const int i = step + tid;
            const int row = i / (BK / 4), k = i % (BK / 4) * 4;
            const bool inside = row0 + row < M && k0 + k < K;
            const float4 v = inside ? VECTOR(A + (row0 + row) * K + k0 + k) : zero;
            As[k][row] = v.x;
            As[k + 1][row] = v.y;
            As[k + 2][row] = v.z;
            As[k + 3][row] = v.w;
        }
        for (int step = 0; step < BK * BN / 4; step += THREADS) {
            const int i = step + tid;
            const int k = i / (BN / 4), col = i % (BN / 4) * 4;
            const bool inside = k0 + k < K && col0 + col < N;
            VECTOR(&Bs[k][col]) = inside ? VECTOR(B + (k0 + k) * N + col0 + col) : zero;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a[8], b[8];  // from ty and ty + 64, from tx and tx + 64
            VECTOR(a) = VECTOR(&As[k][ty]);
            VECTOR(a + 4) = VECTOR(&As[k][ty + 64]);
            VECTOR(b) = VECTOR(&Bs[k][tx]);
            VECTOR(b + 4) = VECTOR(&Bs[k][tx + 64]);
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; j += 4) {
            const int row = row0 + ty + i % 4 + i / 4 * 64, col = col0 + tx + j * 16;
            if (row < M && col < N) VECTOR(C + row * N + col) = VECTOR(&sum[i][j]);
        }
}
