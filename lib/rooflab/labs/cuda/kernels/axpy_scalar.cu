// AXPY, y = alpha x + y: one thread an element, 4 bytes a load.
// Block 256 threads; 10 registers; 12 bytes of DRAM for 2 FLOP, 6 bytes a FLOP.
extern "C" __global__ void axpy_scalar(const float* __restrict__ x, float* __restrict__ y,
                                       float alpha, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += alpha * x[i];
}
