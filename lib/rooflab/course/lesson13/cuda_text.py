"""Exercises of lesson 13 in CUDA C++: AXPY by 16 bytes a load, a sum of products by shuffles."""

from __future__ import annotations

from collections.abc import Sequence

from rooflab.course.kernels import cuda_exercise, launch_case
from rooflab.exercises.exercise import Case

# ---- 13-wide -------------------------------------------------------------------------------------
WIDE_TEXT = """\
extern "C" __global__ void axpy(const float* x, float* y, float alpha, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 a = *(const float4*)(x + i), b = *(const float4*)(y + i);
        *(float4*)(y + i) = make_float4(b.x + alpha * a.x, b.y + alpha * a.y,
                                        b.z + alpha * a.z, b.w + alpha * a.w);
    } else {
        for (; i < n; ++i) y[i] += alpha * x[i];
    }
}
"""


def _axpy(n: int, threads: int, more: int = 0) -> Case:
    arguments = {"x": [n], "y": [n], "alpha": 0.75, "n": n}
    return launch_case((-(-n // (4 * threads)) + more,), (threads,), arguments,
                    counts=("sectors", "requests"))  # fmt: skip


LEFT = "for (; i < n; ++i) y[i] += alpha * x[i];"
ALL = WIDE_TEXT[WIDE_TEXT.index("    if") : WIDE_TEXT.rindex("}")]
WIDE = cuda_exercise(
    "13-wide", "Four numbers a load", 4,
    "Write y = alpha·x + y in CUDA C++, as a text. Thread t of the grid takes four neighbours, "
    "from 4·t on. It loads and stores them as one `float4` of 16 bytes: a quarter of the requests. "
    "`*(float4*)(y + i)` is the float4 that begins at y[i]; its parts are .x, .y, .z and .w.\n\n"
    "n can be any size: 1 to 3 numbers left over are taken one by one. The grid has a thread for "
    "every four numbers, and often more.",
    "axpy(x, y, alpha, n)", WIDE_TEXT,
    [
        ("one number at a time", "it is right, and takes four times the requests: load a float4.",
         (ALL, "    for (int j = 0; j < 4 && i + j < n; ++j) y[i + j] += alpha * x[i + j];\n"),
         (ALL, "    for (int end = min(i + 4, n); i < end; ++i) y[i] += alpha * x[i];\n")),
        ("what is left over is left out", "n need not be a multiple of 4.", (LEFT, "")),
        ("beyond the end", "the last float4 has to end before n.",
         ("i + 3 < n", "i < n"), ("i + 3 < n", "i + 2 < n"), ("i < n; ++i", "i <= n; ++i")),
        ("not at a multiple of 16 bytes", "a float4 lies at a multiple of 16 bytes: i is 4·t.",
         ("int i = 4 * (", "int i = 1 * (")),
        ("x is not scaled", "y = alpha·x + y.", ("b.x + alpha * a.x", "b.x + a.x")),
        ("part for part", "the second part of y goes with the second part of x.",
         ("alpha * a.y", "alpha * a.x"), ("alpha * a.w", "alpha * a.z")),
    ],
    cases=lambda rng: [_axpy(4 * rng.randrange(60, 250) + rng.randrange(1, 4), 64)],
    fixed=(_axpy(1024, 128), _axpy(1003, 64, 1), _axpy(2, 32), _axpy(517, 96)), lines=7, par=1.5,
    insight="The sectors are the same, but a warp asks for 512 bytes with one instruction.",
)  # fmt: skip

# ---- 13-dot --------------------------------------------------------------------------------------
DOT_TEXT = """\
extern "C" __global__ void dot(const float* x, const float* y, float* r, int n) {
    float sum = 0;
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        sum += x[i] * y[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(r, sum);
}
"""


def _dot(n: int, grid: Sequence[int], threads: int) -> Case:
    arguments = {"x": [n], "y": [n], "r": [1], "n": n}
    return launch_case(grid, (threads,), arguments, counts=("sectors", "requests", "atomics"))


GUARD, SHUFFLE = "if (threadIdx.x % 32 == 0) ", "sum += __shfl_down_sync(0xffffffff, sum, offset);"
LOOP = DOT_TEXT[DOT_TEXT.index("    for (int o") : DOT_TEXT.index("    if")]
DOT = cuda_exercise(
    "13-dot", "A sum of many threads", 5,
    "Add the sum of x[i]·y[i], over all i below n, to r[0], in CUDA C++, as a text. The grid may "
    "be smaller than n: after each product a thread goes `gridDim.x * blockDim.x` further. The 32 "
    "lanes of a warp add up by shuffles: `__shfl_down_sync(0xffffffff, sum, offset)` is the sum of "
    "the lane that is `offset` further on. At most one `atomicAdd(r, sum)` a warp is left. Blocks "
    "have a multiple of 32 threads.",
    "dot(x, y, r, n)", DOT_TEXT,
    [
        ("an atomic for each thread", "add up the warp first: one atomic for 32 threads.",
         (LOOP + "    " + GUARD, "    ")),
        ("every lane adds", "only one lane has the sum of the warp, and only it may add.",
         (GUARD, "")),
        ("one block alone", "add the place of the block in the grid.",
         ("blockIdx.x * blockDim.x + ", ""), ("int i = blockIdx.x", "int i = gridDim.x")),
        ("one product a thread", "the grid may be smaller than n.",
         ("i += stride", "i += n"), ("gridDim.x * blockDim.x;", "n;")),
        ("half of the warp", "32 lanes take five steps: 16, 8, 4, 2, 1.",
         ("offset = 16", "offset = 8"), ("offset > 0", "offset > 1"), ("/= 2", "/= 4")),
        ("shuffles without all lanes", "all 32 lanes must reach a shuffle: first add products.",
         ("    for (int o", "    if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;\n"
                            "    for (int o"),
         ("sum += x[i] * y[i];",
          "sum += __shfl_down_sync(0xffffffff, x[i] * y[i], 1) + x[i] * y[i];")),
        ("added without an atomic", "many warps add to one number: atomicAdd.",
         ("atomicAdd(r, sum)", "r[0] += sum"), ("atomicAdd(r, sum)", "r[0] = sum")),
        ("only one warp of a block", "each warp has a sum.",
         ("threadIdx.x % 32 == 0", "threadIdx.x == 0")),
    ],
    cases=lambda rng: [_dot(rng.choice((700, 950, 1201)), (3,), 64)],
    fixed=(_dot(1000, (2,), 128), _dot(2048, (4,), 64), _dot(45, (2,), 32), _dot(333, (1,), 96)),
    lines=6, par=1.25,
    insight="Five shuffles take the place of 31 atomic additions.",
)  # fmt: skip
