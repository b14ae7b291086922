// SGEMM step 2, C = A B: a block stages TILE x TILE tiles of A and B in shared memory.
// Block TILE x TILE threads; 8 TILE^2 bytes shared (8 KiB); 30 to 47 registers.
// A byte from L2 serves TILE multiply-adds: 4 / TILE = 0.125 bytes a FLOP. Shared memory still
// gives two loads an FMA; ptxas joins four of A in one LDS.128.
#ifndef TILE
#define TILE 32
#endif
extern "C" __global__ void __launch_bounds__(TILE * TILE)
sgemm_shared(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
             int M, int N, int K) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();  // nobody may overwrite a tile that another still reads
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
