// GEMV, y = A x: one warp a row; its lanes read neighbours of the row and add up by shuffles.
// Block 256 threads, 8 rows; 20 registers; A once, 4 bytes for 2 FLOP: 2 bytes a FLOP.
// x comes from L1. With fewer rows than warps fit the GPU, it is not busy: see gemv_split.
extern "C" __global__ void __launch_bounds__(256)
gemv_warp(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y,
          int M, int K) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= M) return;
    const float* a = A + (size_t)row * K;
    float sum = 0;
    #pragma unroll 4
    for (int k = threadIdx.x % 32; k < K; k += 32) sum += a[k] * x[k];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}
