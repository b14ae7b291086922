// HGEMM with 2:4 sparsity, C = A Bt', by mma.sp m16n8k32: of four neighbours in a row of A two are
// kept. V holds them, [M][K/2] fp16; E their places, 2 bits each, 16 columns of A in a uint16.
// Block 128 threads, a warp 16 x 32; no shared memory; 45 to 56 registers. Fragments come straight
// from L1 and L2: this shows the instruction, not its speed. A takes 1 1/8 bytes an element, not 2.
// K is a multiple of 32; M and N are any. Bt is [N][K].
typedef unsigned short fp16;
#define PTX __device__ __forceinline__ static
// PTX begins
PTX void mma_sp(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[4], unsigned e) {
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "
                 "{%0, %1, %2, %3}, %12, 0x0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                   "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e));
}
// PTX ends
extern "C" __global__ void __launch_bounds__(128)
hgemm_sparse(const fp16* __restrict__ V, const unsigned short* __restrict__ E,
             const fp16* __restrict__ Bt, float* __restrict__ C, int M, int N, int K) {
    const int lane = threadIdx.x % 32, group = lane / 4, quad = lane % 4;
    const int row0 = (blockIdx.y * 4 + threadIdx.x / 32) * 16, col0 = blockIdx.x * 32;
    auto pair = [&](const fp16* matrix, int row, int rows, int pitch, int column) -> unsigned {
        return row < rows ? *(const unsigned*)(matrix + (size_t)row * pitch + column) : 0;
    };
    float sum[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        unsigned a[4];
        for (int i = 0; i < 4; ++i)  // rows group and group + 8, kept values 0 to 7 and 8 to 15
            a[i] = pair(V, row0 + group + i % 2 * 8, M, K / 2, k0 / 2 + quad * 2 + i / 2 * 8);
        // Lanes 0 and 1 of a quad give the places of columns 0 to 15 and 16 to 31.
        const int upper = row0 + group, lower = upper + 8, part = k0 / 16 + quad % 2;
        const unsigned e = (upper < M ? E[(size_t)upper * (K / 16) + part] : 0x4444u) |
                           (lower < M ? E[(size_t)lower * (K / 16) + part] : 0x4444u) << 16;
        for (int j = 0; j < 4; ++j) {
            unsigned b[4];
            for (int i = 0; i < 4; ++i)
                b[i] = pair(Bt, col0 + 8 * j + group, N, K, k0 + quad * 2 + 8 * i);
            mma_sp(sum[j], a, b, e);
        }
    }
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
            const int row = row0 + group + i / 2 * 8, col = col0 + 8 * j + quad * 2 + i % 2;
            if (row < M && col < N) C[row * N + col] = sum[j][i];
        }
}
