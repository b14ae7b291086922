"""Right kernels as text, in the words of numba.cuda, and how to launch them on ragged sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

GEMM = """
T = {T}
def tiled(A, B, C, M, N, K):
    As = cuda.shared.array((T, T + {pad}), float32)
    Bs = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + tx
    acc = 0.0
    for k0 in range(0, K, T):
        As[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else 0.0
        Bs[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else 0.0
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
"""
NAIVE = """
def naive(A, B, C, M, N, K):
    {first}, {second} = cuda.grid(2)
    if row >= M or col >= N:
        return
    acc = 0.0
    for k in range(K):
        acc = cuda.fma(A[row, k], B[k, col], acc)
    C[row, col] = acc
"""
REGISTERS = """
T, R = 16, 2  # a block computes T x T, a thread R x R of them
def registers(A, B, C, M, N, K):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    acc = cuda.local.array((R, R), float32)
    a = cuda.local.array(R, float32)
    S = T // R
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    r0, c0 = cuda.blockIdx.y * T, cuda.blockIdx.x * T
    for i in range(R):
        for j in range(R):
            acc[i, j] = 0.0
    for k0 in range(0, K, T):
        for i in range(ty, T, S):
            for j in range(tx, T, S):
                As[i][j] = A[r0 + i, k0 + j] if r0 + i < M and k0 + j < K else 0.0
                Bs[i][j] = B[k0 + i, c0 + j] if k0 + i < K and c0 + j < N else 0.0
        cuda.syncthreads()
        for k in range(T):
            for i in range(R):
                a[i] = As[ty + i * S, k]
            for i in range(R):
                for j in range(R):
                    acc[i, j] += a[i] * Bs[k, tx + j * S]
        cuda.syncthreads()
    for i in range(R):
        for j in range(R):
            if r0 + ty + i * S < M and c0 + tx + j * S < N:
                C[r0 + ty + i * S, c0 + tx + j * S] = acc[i, j]
"""
BUFFERED = """
T = 8
def load(A, i, j, rows, columns):
    if i < rows and j < columns:
        return A[i, j]
    return 0.0

def buffered(A, B, C, M, N, K):
    As = cuda.shared.array((2, T, T), float32)
    Bs = cuda.shared.array((2, T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + tx
    As[0, ty, tx] = load(A, row, tx, M, K)
    Bs[0, ty, tx] = load(B, ty, col, K, N)
    acc, now = 0.0, 0
    for k0 in range(0, K, T):
        cuda.syncthreads()
        if k0 + T < K:
            As[1 - now, ty, tx] = load(A, row, k0 + T + tx, M, K)
            Bs[1 - now, ty, tx] = load(B, k0 + T + ty, col, K, N)
        for k in range(T):
            acc += As[now, ty, k] * Bs[now, k, tx]
        now = 1 - now
    if row < M and col < N:
        C[row, col] = acc
"""
SPLIT = """
def split(A, B, C, M, N, K):
    col, row = cuda.grid(2)
    part = (K + cuda.gridDim.z - 1) // cuda.gridDim.z
    start = cuda.blockIdx.z * part
    if row < M and col < N:
        acc = 0.0
        for k in range(start, min(start + part, K)):
            acc += A[row, k] * B[k, col]
        cuda.atomic.add(C, (row, col), acc)
"""
DOT = """
def dot(x, y, out, n):
    parts = cuda.shared.array(32, float32)
    acc = 0.0
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        acc += x[i] * y[i]
    d = 16
    while d > 0:
        acc += cuda.shfl_down_sync(0xffffffff, acc, d)
        d //= 2
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    if lane == 0:
        parts[warp] = acc
    cuda.syncthreads()
    if warp == 0:
        acc = parts[lane] if lane < cuda.blockDim.x // 32 else 0.0
        for k in range(5):
            acc += cuda.shfl_xor_sync(0xffffffff, acc, 16 >> k)
        if lane == 0:
            cuda.atomic.add(out, 0, acc)
"""
NORM = """
def norm(X, out, rows, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(t, n, 64):
        total += X[cuda.blockIdx.x, i] * X[cuda.blockIdx.x, i]
    s[t] = total
    cuda.syncthreads()
    d = 32
    while d:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = math.sqrt(s[0])
"""
GEMV = """
def gemv(A, x, y, m, n):
    row = cuda.grid(1) // 32
    if row < m:
        acc = 0.0
        for j in range(cuda.laneid, n, 32):
            acc += A[row, j] * x[j]
        for e in range(5):
            acc += cuda.shfl_down_sync(0xffffffff, acc, 16 >> e)
        if cuda.laneid == 0:
            y[row] = acc
"""
VECTOR = """
def vector(x, y, n):
    i = 4 * cuda.grid(1)
    if i + 3 < n:
        a, b, c, d = cuda.load4(x, i)
        cuda.store4(y, i, (2 * a, 2 * b, 2 * c, 2 * d))
    elif i < n:
        while i < n:
            y[i] = 2 * x[i]
            i += 1
"""
TRANSPOSE = """
def transpose(A, B, M, N):
    tile = cuda.shared.array((32, {width}), float32)
    x, y = 32 * cuda.blockIdx.x + cuda.threadIdx.x, 32 * cuda.blockIdx.y + cuda.threadIdx.y
    for j in range(0, 32, 8):
        if y + j < M and x < N:
            tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = A[y + j, x]
    cuda.syncthreads()
    x, y = 32 * cuda.blockIdx.y + cuda.threadIdx.x, 32 * cuda.blockIdx.x + cuda.threadIdx.y
    for j in range(0, 32, 8):
        if x < M and y + j < N:
            B[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]
"""
#: Products C = A·B: name → text, threads of a block (x, y), entries of C it computes (x, y).
PRODUCTS = {
    "uncoalesced": (NAIVE.format(first="row", second="col"), (8, 8), (8, 8)),
    "naive": (NAIVE.format(first="col", second="row"), (16, 4), (16, 4)),
    "tiled": (GEMM.format(T=8, pad=0), (8, 8), (8, 8)),
    "padded": (GEMM.format(T=8, pad=1), (8, 8), (8, 8)),
    "registers": (REGISTERS, (8, 8), (16, 16)),
    "buffered": (BUFFERED, (8, 8), (8, 8)),
    "split": (SPLIT, (32, 2), (32, 2)),
}


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape, dtype=np.float32) - np.float32(0.5)


def launches(m: int, n: int, k: int) -> dict[str, tuple[Any, ...]]:
    """What to launch, by name: text, grid, block, arguments."""
    result: dict[str, tuple[Any, ...]] = {}
    for name, (text, block, (x, y)) in PRODUCTS.items():
        across, down = (m, n) if name == "uncoalesced" else (n, m)
        grid = (-(-across // x), -(-down // y), 3 if name == "split" else 1)
        result[name] = (text, grid, block, random(m, k), random(k, n), zeros(m, n), m, n, k)
    for width in (32, 33):
        text, grid = TRANSPOSE.format(width=width), (-(-n // 32), -(-m // 32))
        result[f"transpose {width}"] = (text, grid, (32, 8), random(m, n), zeros(n, m), m, n)
    size = 40 * n + k % 4
    return result | {
        "dot": (DOT, (3,), (128,), random(size), random(size), zeros(1), size),
        "norm": (NORM, (m,), (64,), random(m, size), zeros(m), m, size),
        "gemv": (GEMV, (-(-m // 4),), (128,), random(m, n), random(n), zeros(m), m, n),
        "vector": (VECTOR, (-(-size // 256),), (64,), random(size), zeros(size), size),
    }
