// IGEMM, C = A Bt': int8 in, int32 sums; __dp4a does four multiply-adds in one instruction.
// Block 256 threads, tile 64 x 64 x 32, 4 x 4 elements a thread; 4.3 KiB shared; 48 to 62
// registers. L2: (1/64 + 1/64) / 2 = 0.016 bytes an operation, a quarter of fp32's at this tile.
// K is a multiple of 4, and A and Bt begin at a multiple of 4 bytes; M and N are any. Bt is [N][K].
#define BM 64
#define BN 64
#define WORDS 8  // of four int8, along K
extern "C" __global__ void __launch_bounds__(256)
igemm_dp4a(const signed char* __restrict__ A, const signed char* __restrict__ Bt,
           int* __restrict__ C, int M, int N, int K) {
    __shared__ int As[WORDS][BM + 4], Bs[WORDS][BN + 4];  // 4 more against bank conflicts
    const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, words = K / 4;
    const int *a_words = (const int*)A, *b_words = (const int*)Bt;
    int sum[4][4] = {};
    for (int k0 = 0; k0 < words; k0 += WORDS) {
        for (int step = 0; step < 2; ++step) {
            const int line = (step * 256 + tid) / WORDS, k = tid % WORDS;
            const bool inside = k0 + k < words;
            As[k][line] = inside && row0 + line < M ? a_words[(row0 + line) * words + k0 + k] : 0;
            Bs[k][line] = inside && col0 + line < N ? b_words[(col0 + line) * words + k0 + k] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < WORDS; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    sum[i][j] = __dp4a(As[k][ty + 16 * i], Bs[k][tx + 16 * j], sum[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
}
