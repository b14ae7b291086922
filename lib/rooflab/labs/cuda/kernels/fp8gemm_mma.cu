// GEMM in FP8 (E4M3), C = A Bt', by mma.sync m16n8k32 with fp32 sums and result.
// Block 128 threads, a warp 16 x 32; no shared memory; 48 to 56 registers. Fragments come straight
// from L1 and L2: this shows the instruction, not its speed. sm_89 and sm_120 have it (QMMA); sm_90
// and sm_100 convert to fp16 (F2FP, HMMA), as their FP8 is in wgmma and tcgen05.
// K is a multiple of 32; M and N are any. Bt is [N][K]: four neighbours in K are one register.
#define PTX __device__ __forceinline__ static
// PTX begins
PTX void mma_e4m3(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// PTX ends
extern "C" __global__ void __launch_bounds__(128)
fp8gemm_mma(const unsigned char* __restrict__ A, const unsigned char* __restrict__ Bt,
            float* __restrict__ C, int M, int N, int K) {
    const int lane = threadIdx.x % 32, group = lane / 4, quad = lane % 4;
    const int row0 = (blockIdx.y * 4 + threadIdx.x / 32) * 16, col0 = blockIdx.x * 32;
    auto four = [&](const unsigned char* matrix, int row, int rows, int k) -> unsigned {
        return row < rows ? *(const unsigned*)(matrix + (size_t)row * K + k) : 0;
    };
    float sum[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        unsigned a[4];
        for (int i = 0; i < 4; ++i)
            a[i] = four(A, row0 + group + i % 2 * 8, M, k0 + quad * 4 + i / 2 * 16);
        for (int j = 0; j < 4; ++j) {
            const int col = col0 + 8 * j + group;
            const unsigned b[2] = {four(Bt, col, N, k0 + quad * 4),
                                   four(Bt, col, N, k0 + quad * 4 + 16)};
            mma_e4m3(sum[j], a, b);
        }
    }
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
            const int row = row0 + group + i / 2 * 8, col = col0 + 8 * j + quad * 2 + i % 2;
            if (row < M && col < N) C[row * N + col] = sum[j][i];
        }
}
