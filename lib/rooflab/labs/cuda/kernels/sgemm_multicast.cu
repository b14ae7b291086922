// SGEMM, C = A B, with clusters of 2 blocks beside each other: both need the same tile of A, so
// each fetches half of its rows by bulk copies that arrive in both (multicast).
// Block 256 threads, tile 64 x 64 x 32, 4 x 4 elements a thread; 17 KiB shared; 48 registers.
// L2: 2 (1/64 + 1/128) = 0.047 bytes a FLOP; without multicast 0.0625.
// M is a multiple of 64, N of 128, K of 32; A, B, C begin at a multiple of 16 bytes.
#define BM 64
#define BN 64
#define BK 32
#define A_PITCH (BK + 4)  // floats; 4 more, so that two rows lie in different banks
#define PTX __device__ __forceinline__ static
// PTX begins
PTX unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
PTX unsigned cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
PTX void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
PTX void barrier_begin(unsigned long long* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                 "fence.mbarrier_init.release.cluster;" :: "r"(shared_address(barrier)) : "memory");
}
PTX void barrier_expect(unsigned long long* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}
PTX void barrier_wait(unsigned long long* barrier, unsigned phase) {
    asm volatile("{\n\t.reg .pred done;\nagain_%=:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again_%=;\n\t}"
                 :: "r"(shared_address(barrier)), "r"(phase) : "memory");
}
PTX void copy_bulk(void* to, const void* from, unsigned bytes, unsigned long long* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" :: "r"(shared_address(to)), "l"(from), "r"(bytes),
                 "r"(shared_address(barrier)) : "memory");
}
PTX void copy_multicast(void* to, const void* from, unsigned bytes, unsigned long long* barrier,
                        unsigned short blocks) {  // a bit for each block of the cluster
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], %2, [%3], %4;"
                 :: "r"(shared_address(to)), "l"(from), "r"(bytes),
                 "r"(shared_address(barrier)), "h"(blocks) : "memory");
}
// PTX ends
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256)
sgemm_multicast(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                int M, int N, int K) {
    __shared__ __align__(128) float As[BM][A_PITCH], Bs[BK][BN];
    __shared__ unsigned long long arrived;
    const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int shared_row = cluster_rank() * (BM / 2) + tid;  // of A, that lane tid fetches for both
    if (tid == 0) barrier_begin(&arrived);
    cluster_sync();
    float sum[4][4] = {};
    for (int k0 = 0, phase = 0; k0 < K; k0 += BK, phase ^= 1) {
        if (tid == 0) barrier_expect(&arrived, 4 * (BM * BK + BK * BN));
        if (tid < 32) {
            copy_multicast(As[shared_row], A + (row0 + shared_row) * K + k0, 4 * BK, &arrived, 3);
            copy_bulk(Bs[tid], B + (k0 + tid) * N + col0, 4 * BN, &arrived);
        }
        barrier_wait(&arrived, phase);
        #pragma unroll 8
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += As[ty + 16 * i][k] * Bs[k][tx + 16 * j];
        cluster_sync();  // both blocks have read the tile that either may now overwrite
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) C[(row0 + ty + 16 * i) * N + col0 + tx + 16 * j] = sum[i][j];
}
