"""Answers to lesson 13, written as a learner writes them (see test_answers.py)."""

RIGHT = {
    "13-sectors": [
        """def answer(first, stride, itemsize):
    touched = set()
    for lane in range(32):
        for byte in range(itemsize):
            touched.add((first + lane*stride*itemsize + byte)//32)
    return len(touched)""",
        """def answer(first, stride, itemsize):
    return np.unique((first + np.arange(32)*stride*itemsize)//32).size""",
    ],
    "13-coalesce": [
        """def answer(A, s, B, rows, columns):
    c = cuda.blockIdx.x*cuda.blockDim.x + cuda.threadIdx.x
    r = cuda.blockIdx.y*cuda.blockDim.y + cuda.threadIdx.y
    if r >= rows or c >= columns:
        return
    B[r, c] = s[r]*A[r, c]""",
    ],
    "13-tiled": [
        """def answer(A, B, C, M, N, K):
    a = cuda.shared.array((8, 9), float32)
    b = cuda.shared.array((8, 9), float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    row, col = 8*cuda.blockIdx.y + i, 8*cuda.blockIdx.x + j
    total = float32(0.0)
    steps = (K + 7)//8
    for step in range(steps):
        a[i, j] = 0.0
        b[i, j] = 0.0
        if row < M and 8*step + j < K:
            a[i, j] = A[row, 8*step + j]
        if 8*step + i < K and col < N:
            b[i, j] = B[8*step + i, col]
        cuda.syncthreads()
        for k in range(min(8, K - 8*step)):
            total = total + a[i, k]*b[k, j]
        cuda.syncthreads()
    if row < M:
        if col < N:
            C[row, col] = total""",
    ],
    "13-turns": [
        """def answer(words):
    import collections
    banks = collections.Counter(w % 32 for w in dict.fromkeys(words))
    return max(banks.values())""",
    ],
    "13-transpose": [
        """def answer(A, B, N):
    t = cuda.shared.array((32, 33), float32)
    x, y, step = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockDim.y
    i = y
    while i < 32:
        t[x, i] = A[32*cuda.blockIdx.y + i, 32*cuda.blockIdx.x + x]
        i += step
    cuda.syncthreads()
    i = y
    while i < 32:
        B[32*cuda.blockIdx.x + i, 32*cuda.blockIdx.y + x] = t[i, x]
        i += step""",
    ],
    "13-registers": [
        """def answer(fmas, bandwidth):
    r = 1
    while 8*r/bandwidth > r*r/fmas:
        r += 1
    return {"r": r, "flop per byte": r/4}""",
    ],
    "13-occupancy": [
        """def answer(threads, registers, shared):
    warps = threads//32
    per_warp = (registers*32 + 255)//256*256
    n = 0
    while ((n + 1)*threads <= 2048 and n < 32 and (n + 1)*warps <= 4*(16384//per_warp)
           and (n + 1)*(shared + 1024) <= 233472):
        n += 1
    return n""",
    ],
    "13-rung": [
        """def answer(work, roofs, changes):
    w, r = np.array(work), np.array(roofs)
    now = (w/r).max()
    gains = [now/(w*np.array(c)/r).max() for c in changes]
    best = max(range(len(gains)), key=lambda n: gains[n])
    return {"place": best, "times as fast": gains[best]}""",
    ],
    "13-wide": [
        """r'''
#define N 4
extern "C" __global__ void axpy(const float* __restrict__ x, float* __restrict__ y,
                                float alpha, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, quads = n / N;
    if (t < quads) {
        float4 a = ((const float4*)x)[t];
        float4 b = ((float4*)y)[t];
        b.x += alpha * a.x;
        b.y += alpha * a.y;
        b.z += alpha * a.z;
        b.w += alpha * a.w;
        ((float4*)y)[t] = b;
    }
    if (t == quads)
        for (int i = N * quads; i < n; i++) y[i] = fmaf(alpha, x[i], y[i]);
}
'''""",
    ],
    "13-dot": [
        """'''
extern "C" __global__ void dot(const float *x, const float *y, float *r, int n)
{
    float s = 0.0f;
    for (int i = threadIdx.x + blockIdx.x*blockDim.x; i < n; i += blockDim.x*gridDim.x)
        s = fmaf(x[i], y[i], s);
    s += __shfl_xor_sync(0xffffffff, s, 16);
    s += __shfl_xor_sync(0xffffffff, s, 8);
    s += __shfl_xor_sync(0xffffffff, s, 4);
    s += __shfl_xor_sync(0xffffffff, s, 2);
    s += __shfl_xor_sync(0xffffffff, s, 1);
    if ((threadIdx.x & 31) == 0) atomicAdd(&r[0], s);
}
'''""",
    ],
}  # fmt: skip

WRONG = {}

TOLD = {}

PASSED_ONCE = [
    ("13-sectors", "lambda first, stride, itemsize: min(32, 4*stride or 1)"),
    ("13-turns", "lambda words: max(1, 32//len(set(w % 32 for w in words)))"),
    ("13-registers", "lambda fmas, bandwidth: (8, 2.0)"),
    ("13-occupancy", "lambda t, r, s: min(2048//t, 65536//(r*t), 233472//(s + 1024))"),
]  # fmt: skip
