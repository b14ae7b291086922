// SGEMM step 6, C = A B: as sgemm_float4, with two buffers. The next tile is on its way from L2 to
// registers while this one is multiplied, and one barrier a tile is enough.
// Block 256 threads, tile 128 x 128 x 8, 8 x 8 elements a thread; 16.3 KiB shared; 123 to 128
// registers, two blocks a multiprocessor. 0.031 bytes a FLOP from L2.
// K and N are multiples of 4, and A, B, C begin at a multiple of 16 bytes; M is any.
#define BM 128
#define BN 128
#define BK 8
#define VECTOR(address) (*(float4*)(address))
extern "C" __global__ void __launch_bounds__(256, 2)
sgemm_double_buffered(const float* __restrict__ A, const float* __restrict__ B,
                      float* __restrict__ C, int M, int N, int K) {
    __shared__ __align__(16) float As[2][BK][BM + 4], Bs[2][BK][BN];
    const int tid = threadIdx.x, tx = tid % 16 * 4, ty = tid / 16 * 4;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int arow = tid / 2, ak = tid % 2 * 4;       // the vector of A that this thread stages
    const int bk = tid / 32, bcol = tid % 32 * 4;     // and that of B
    const float4 zero = make_float4(0, 0, 0, 0);
    float4 a_next, b_next;
    auto fetch = [&](int k0) {
        const bool a_inside = row0 + arow < M && k0 + ak < K;
        const bool b_inside = k0 + bk < K && col0 + bcol < N;
        a_next = a_inside ? VECTOR(A + (row0 + arow) * K + k0 + ak) : zero;
        b_next = b_inside ? VECTOR(B + (k0 + bk) * N + col0 + bcol) : zero;
    };
    auto stage = [&](int buffer) {
        As[buffer][ak][arow] = a_next.x;
        As[buffer][ak + 1][arow] = a_next.y;
        As[buffer][ak + 2][arow] = a_next.z;
        As[buffer][ak + 3][arow] = a_next.w;
        VECTOR(&Bs[buffer][bk][bcol]) = b_next;
    };
    __align__(16) float sum[8][8] = {};
    fetch(0);
    stage(0);
    __syncthreads();
    for (int k0 = 0, buffer = 0; k0 < K; k0 += BK, buffer ^= 1) {
        if (k0 + BK < K) fetch(k0 + BK);
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a[8], b[8];
            VECTOR(a) = VECTOR(&As[buffer][k][ty]);
            VECTOR(a + 4) = VECTOR(&As[buffer][k][ty + 64]);
            VECTOR(b) = VECTOR(&Bs[buffer][k][tx]);
            VECTOR(b + 4) = VECTOR(&Bs[buffer][k][tx + 64]);
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
        }
        if (k0 + BK < K) stage(buffer ^ 1);  // the other buffer was read before the last barrier
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; j += 4) {
            const int row = row0 + ty + i % 4 + i / 4 * 64, col = col0 + tx + j * 16;
            if (row < M && col < N) VECTOR(C + row * N + col) = VECTOR(&sum[i][j]);
        }
}
