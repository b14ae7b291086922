// L2 normalisation, each row of Y is that of X over its length; one block a row, one launch.
// Block 256 threads, 32 bytes shared; 14 to 18 registers. X comes from DRAM once and from a cache
// the second time (a row must fit): 8 bytes an element for 3 FLOP, 2.7 bytes a FLOP.
extern "C" __global__ void __launch_bounds__(256)
l2norm_rows(const float* __restrict__ X, float* __restrict__ Y, float epsilon, int M, int N) {
    __shared__ float partial[8];
    const float* row = X + (size_t)blockIdx.x * N;
    float* out = Y + (size_t)blockIdx.x * N;
    float sum = 0;
    for (int j = threadIdx.x; j < N; j += blockDim.x) sum += row[j] * row[j];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += partial[warp];  // every thread, the same order
    const float scale = rsqrtf(sum + epsilon);
    for (int j = threadIdx.x; j < N; j += blockDim.x) out[j] = row[j] * scale;
}
