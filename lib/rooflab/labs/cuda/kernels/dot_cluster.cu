// Dot product, r += x . y, with clusters of 4 blocks: block 0 reads the sums of the others in their
// shared memory (distributed shared memory), so that the grid takes one atomic a cluster.
// Block 256 threads, 36 bytes shared; 32 to 40 registers; 8 bytes for 2 FLOP, 4 bytes a FLOP.
// The number of blocks is a multiple of 4. r begins as 0.
#define CLUSTER 4
#define PTX __device__ __forceinline__ static
// PTX begins
PTX unsigned cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
PTX float read_of_block(const float* mine, unsigned rank) {  // the variable of that block
    unsigned address = (unsigned)__cvta_generic_to_shared(mine), other;
    float value;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(address), "r"(rank));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(other) : "memory");
    return value;
}
PTX void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// PTX ends
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(256)
dot_cluster(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ r,
            int n) {
    __shared__ float partial[8], sum_of_block;
    const long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0;
    #pragma unroll 4
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        sum += x[i] * y[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum_of_block = 0;
        for (int warp = 0; warp < 8; ++warp) sum_of_block += partial[warp];
    }
    cluster_sync();
    if (cluster_rank() == 0 && threadIdx.x == 0) {
        float total = 0;
        for (unsigned rank = 0; rank < CLUSTER; ++rank) total += read_of_block(&sum_of_block, rank);
        atomicAdd(r, total);
    }
    cluster_sync();  // a block's shared memory ends with it: all stay until block 0 has read
}
