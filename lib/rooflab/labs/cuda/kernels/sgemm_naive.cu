// SGEMM step 0, C = A B: one thread an element, and a warp walks down a column of C.
// Block 32 x 32 threads, no shared memory, 31 to 52 registers.
// Two loads an FMA, 4 bytes a FLOP. A warp's 32 loads of A lie in 32 different rows: 1,024 bytes in
// sectors of 32 for 128 bytes that are used, and the same for what it stores.
extern "C" __global__ void sgemm_naive(const float* __restrict__ A, const float* __restrict__ B,
                                       float* __restrict__ C, int M, int N, int K) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
