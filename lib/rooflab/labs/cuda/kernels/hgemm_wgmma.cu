// HGEMM, C = A Bt', by wgmma m64n128k16 on Hopper: a warpgroup of 128 threads multiplies tiles that
// lie in shared memory, where TMA has put them in its 128-byte swizzle. fp16 in, fp32 out.
// Block 256 threads, tile 128 x 128 x 64, a warpgroup 64 x 128; dynamic shared memory 32 KiB a
// stage (128 KiB); 90 registers. L2: (1/128 + 1/128) = 0.016 bytes a FLOP.
// N is even, K a multiple of 8; M is any: TMA fills with zeros. Bt is [N][K]. Needs sm_90a.
#ifndef STAGES
#define STAGES 4
#endif
#define BM 128
#define BN 128
#define BK 64  // 128 bytes, the width of the swizzle
#define TILE_BYTES (BM * BK * 2)
#define PTX __device__ __forceinline__ static
struct __align__(64) TensorMap { unsigned char opaque[128]; };  // CUtensorMap of the driver
// PTX begins
PTX unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
PTX void tensor_map_acquire(const TensorMap* map) {  // it was written through global memory
    asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" :: "l"(map) : "memory");
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
PTX void copy_tile(void* to, const TensorMap* map, int k, int row, unsigned long long* barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" :: "r"(shared_address(to)), "l"(map), "r"(k),
                 "r"(row), "r"(shared_address(barrier)) : "memory");
}
PTX void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
PTX void wgmma_end() {
    asm volatile("wgmma.commit_group.sync.aligned;\n\t"
                 "wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
#define EIGHT(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), \
                 "+f"(d[6]), "+f"(d[7])
PTX void wgmma(float (&d)[64], unsigned long long a, unsigned long long b) {  // d += a b
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 0;"
        : EIGHT(d), EIGHT((d + 8)), EIGHT((d + 16)), EIGHT((d + 24)), EIGHT((d + 32)),
          EIGHT((d + 40)), EIGHT((d + 48)), EIGHT((d + 56)) : "l"(a), "l"(b));
}
// PTX ends
// Rows of 128 bytes, 8 of them (1,024 bytes) a swizzled group: what wgmma is told of an operand.
PTX unsigned long long descriptor(const void* tile) {
    return (shared_address(tile) >> 4 & 0x3fffull) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
extern "C" __global__ void __launch_bounds__(256)
hgemm_wgmma(const TensorMap* A, const TensorMap* Bt, float* __restrict__ C, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char dynamic_shared[];
    unsigned char *As = dynamic_shared, *Bs = As + STAGES * TILE_BYTES;
    __shared__ unsigned long long arrived[STAGES];
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, tiles = (K + BK - 1) / BK;
    auto fetch = [&](int tile) {
        const int stage = tile % STAGES;
        barrier_expect(&arrived[stage], 2 * TILE_BYTES);
        copy_tile(As + stage * TILE_BYTES, A, tile * BK, row0, &arrived[stage]);
        copy_tile(Bs + stage * TILE_BYTES, Bt, tile * BK, col0, &arrived[stage]);
    };
    if (tid == 0) {
        tensor_map_acquire(A);
        tensor_map_acquire(Bt);
        for (int stage = 0; stage < STAGES; ++stage) barrier_begin(&arrived[stage]);
        for (int tile = 0; tile < STAGES && tile < tiles; ++tile) fetch(tile);
    }
    __syncthreads();
    float sum[64] = {};
    #pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
        const int stage = tile % STAGES;
        barrier_wait(&arrived[stage], tile / STAGES % 2);
        // The second warpgroup begins 64 rows lower; a step of 16 along K is 32 bytes.
        const unsigned char* a = As + stage * TILE_BYTES + warp / 4 * 64 * BK * 2;
        const unsigned char* b = Bs + stage * TILE_BYTES;
        wgmma_begin();
        for (int k = 0; k < BK; k += 16) wgmma(sum, descriptor(a + 2 * k), descriptor(b + 2 * k));
        wgmma_end();
        __syncthreads();  // both warpgroups have read this stage
        if (tid == 0 && tile + STAGES < tiles) fetch(tile + STAGES);
    }
    #pragma unroll
    for (int j = 0; j < 16; ++j)
        for (int half = 0; half < 2; ++half) {
            const int row = row0 + warp * 16 + lane / 4 + 8 * half;
            const int col = col0 + 8 * j + lane % 4 * 2;
            if (row < M && col < N)
                *(float2*)(C + row * N + col) =
                    make_float2(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
        }
}
