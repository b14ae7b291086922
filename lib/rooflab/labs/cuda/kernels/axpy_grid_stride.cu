// AXPY, y = alpha x + y: a grid of fixed size walks over the vectors in strides.
// Block 256 threads, at most 1,024 blocks; 24 to 40 registers; 6 bytes a FLOP.
// The loop is unrolled, so that several loads are under way in each thread.
extern "C" __global__ void axpy_grid_stride(const float* __restrict__ x, float* __restrict__ y,
                                            float alpha, int n) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    #pragma unroll 4
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] += alpha * x[i];
}
