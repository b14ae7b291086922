// GEMV, y = A x, with K split: a warp sums CHUNK columns of a row and adds them by one atomic.
// Block 256 threads, 8 rows; 20 to 21 registers; 2 bytes a FLOP, and 4 bytes of y a CHUNK.
// For wide matrices of few rows. y begins as 0; the order of the additions is not fixed.
#ifndef CHUNK
#define CHUNK 1024
#endif
extern "C" __global__ void __launch_bounds__(256)
gemv_split(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y,
           int M, int K) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= M) return;
    const float* a = A + (size_t)row * K;
    const int end = min(K, (int)(blockIdx.y + 1) * CHUNK);
    float sum = 0;
    #pragma unroll 4
    for (int k = blockIdx.y * CHUNK + threadIdx.x % 32; k < end; k += 32) sum += a[k] * x[k];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(y + row, sum);
}
