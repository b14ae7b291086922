// Dot product, r += x . y: each thread sums a stride, a warp adds up by shuffles, a block by one
// value a warp in shared memory, the grid by one atomic a block. r begins as 0.
// Block 256 threads, 32 bytes shared; 28 to 40 registers; 8 bytes for 2 FLOP, 4 bytes a FLOP.
__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}
extern "C" __global__ void __launch_bounds__(256)
dot_shuffle(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ r,
            int n) {
    __shared__ float partial[8];
    const long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0;
    #pragma unroll 4
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        sum += x[i] * y[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < 8 ? partial[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) atomicAdd(r, sum);
    }
}
