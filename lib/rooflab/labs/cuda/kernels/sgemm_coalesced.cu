// SGEMM step 1, C = A B: as sgemm_naive, but a warp walks along a row of C.
// Block 32 x 32 threads, no shared memory, 32 to 52 registers.
// Still two loads an FMA, 4 bytes a FLOP, but a warp's loads of B are one line of 128 bytes and
// its loads of A one address.
extern "C" __global__ void sgemm_coalesced(const float* __restrict__ A, const float* __restrict__ B,
                                           float* __restrict__ C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
