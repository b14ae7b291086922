// HGEMM, C = A B, by mma.sync m16n8k16: fp16 in, fp32 sums and result. cp.async keeps STAGES - 1
// tiles on their way from L2 to shared memory, past the registers; ldmatrix reads fragments.
// Block 256 threads, tile 128 x 128 x 32, a warp 64 x 32 (4 x 4 products); dynamic shared memory
// 18.5 KiB a stage (55.5 KiB); 122 to 128 registers. L2: (1/128 + 1/128) = 0.016 bytes a FLOP.
// K and N are multiples of 8, and A, B, C begin at a multiple of 16 bytes; M is any.
#ifndef STAGES
#define STAGES 3
#endif
#define BM 128
#define BN 128
#define BK 32
#define A_PITCH (BK + 8)  // halves; 8 more, so that 8 rows of 16 bytes hit all banks once
#define B_PITCH (BN + 8)
typedef unsigned short fp16;  // its 16 bits; nothing here computes with one
#define PTX __device__ __forceinline__ static
// PTX begins
PTX unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
PTX void copy_async(void* to, const void* from, bool inside) {  // 16 bytes, zeros from outside
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(to)), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
PTX void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> PTX void wait() {
    asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
}
PTX void ldmatrix(unsigned (&r)[4], const void* row) {  // lane l names row l % 8 of matrix l / 8
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)));
}
PTX void ldmatrix_trans(unsigned (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)));
}
PTX void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// PTX ends
extern "C" __global__ void __launch_bounds__(256)
hgemm_mma(const fp16* __restrict__ A, const fp16* __restrict__ B, float* __restrict__ C,
          int M, int N, int K) {
    extern __shared__ __align__(128) unsigned char dynamic_shared[];
    fp16* As = (fp16*)dynamic_shared;                          // [STAGES][BM][A_PITCH]
    fp16* Bs = As + STAGES * BM * A_PITCH;                     // [STAGES][BK][B_PITCH]
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int wrow = warp / 4 * 64, wcol = warp % 4 * 32;
    const int tiles = (K + BK - 1) / BK;
    auto fetch = [&](int tile) {
        const int stage = tile % STAGES, k0 = tile * BK;
        for (int step = 0; step < 2; ++step) {  // 512 vectors of 8 halves in each tile
            const int i = step * 256 + tid;
            const int arow = i / 4, ak = i % 4 * 8, bk = i / 16, bcol = i % 16 * 8;
            const bool a_inside = row0 + arow < M && k0 + ak < K;
            const bool b_inside = k0 + bk < K && col0 + bcol < N;
            copy_async(As + (stage * BM + arow) * A_PITCH + ak,
                       a_inside ? A + (row0 + arow) * K + k0 + ak : A, a_inside);
            copy_async(Bs + (stage * BK + bk) * B_PITCH + bcol,
                       b_inside ? B + (k0 + bk) * N + col0 + bcol : B, b_inside);
        }
    };
    for (int tile = 0; tile < STAGES - 1; ++tile) {
        if (tile < tiles) fetch(tile);
        commit();
    }
    float sum[4][4][4] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        wait<STAGES - 2>();
        __syncthreads();  // this tile is here for all, and nobody reads the one before it any more
        if (tile + STAGES - 1 < tiles) fetch(tile + STAGES - 1);
        commit();         // a group a turn, be it empty, so that the count stays right
        const fp16* a_tile = As + (tile % STAGES * BM + wrow + lane % 16) * A_PITCH + lane / 16 * 8;
        const fp16* b_tile = Bs + (tile % STAGES * BK + lane % 16) * B_PITCH + wcol + lane / 16 * 8;
        for (int k = 0; k < BK; k += 16) {
            unsigned a[4][4], b[2][4];
            for (int i = 0; i < 4; ++i) ldmatrix(a[i], a_tile + i * 16 * A_PITCH + k);
            for (int j = 0; j < 2; ++j) ldmatrix_trans(b[j], b_tile + k * B_PITCH + j * 16);
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    mma(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            for (int half = 0; half < 2; ++half) {
                const int row = row0 + wrow + 16 * i + lane / 4 + 8 * half;
                const int col = col0 + wcol + 8 * j + lane % 4 * 2;
                if (row < M && col < N)
                    *(float2*)(C + row * N + col) =
                        make_float2(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
            }
}
