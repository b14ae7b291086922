"""CUDA C++ in the emulator: our kernels are right and move what they say; faults have their line."""

from __future__ import annotations

import numpy as np
import pytest

from rooflab.labs.cuda.emulator import KernelFault
from rooflab.labs.cuda.emulator.cuda_text import emulate
from rooflab.labs.cuda.kernels import KERNELS, source_of
from rooflab.labs.cuda.loader import operands, plan, ragged_sizes, require_equal
from rooflab.labs.cuda.rungs import rungs
from tests.labs.cuda.test_cuda_kernels import MACROS

PTX = ("copy", "dot_cluster", "fp8gemm", "hgemm", "igemm", "sgemm_multicast")
SIMT = [name for name in KERNELS if not name.startswith(PTX)]


def run_of(name, sizes, macros=None, text=None):
    """Launch a kernel of the catalogue, or a text in its place; small integers make sums exact."""
    arrays, expected = operands(spec := KERNELS[name], sizes)
    arrays[-1][:] *= not spec.zeroed
    way = plan(name, [array.shape for array in arrays], **(macros or {}))
    run = emulate(text or name, way.grid, way.block, *arrays, *spec.scalars.values(), *sizes.values(),
                  macros=macros, max_steps=2_000_000)  # fmt: skip
    require_equal(name, sizes, arrays[-1], expected)
    return run


def test_our_kernels_are_right_on_ragged_sizes_and_without_a_fault():
    assert len(SIMT) == 14
    for name in SIMT:
        for sizes in ragged_sizes(KERNELS[name])[:2]:
            run_of(name, sizes)
        if name in MACROS:
            run_of(name, sizes, MACROS[name])


def test_products_move_what_their_comments_say():
    """Bytes a FLOP of whole tiles, 2·M·N·K FLOP; sectors, turns of shared memory, barriers."""
    m, n, k = sizes = 128, 256, 32
    wanted = {"naive": 4, "coalesced": 4, "shared": 4 / 32, "registers_1d": 4 / 64,
              "registers_2d": 4 / 128, "float4": 4 / 128, "double_buffered": 4 / 128}  # fmt: skip
    runs = {step: run_of(f"sgemm_{step}", dict(zip("MNK", sizes))) for step in wanted}
    flop = 2 * m * n * k
    assert {run.flops for run in runs.values()} == {flop}
    assert {s: run.global_loads.bytes_asked / flop for s, run in runs.items()} == wanted
    tiled = [run for step, run in runs.items() if step not in ("naive", "coalesced")]
    assert all(run.global_loads.bytes_moved == run.global_loads.bytes_asked for run in tiled)
    assert all(run.shared.conflicts == 0 for run in tiled)
    a, b = (runs["coalesced"].arrays[name].loads.sectors_per_request for name in "AB")
    assert (a, b, runs["naive"].arrays["A"].loads.sectors_per_request) == (1, 4, 32)
    fmas = flop // 2 // 32  # of warps; their reads, which are no stores into a tile
    stores = {step: run.global_loads.bytes_asked // 128 for step, run in runs.items()}
    reads = {step: runs[step].shared.requests - stores[step] for step in wanted}
    assert (fmas * 9 // 8, fmas * 16 // 64) == (reads["registers_1d"], reads["registers_2d"])
    wide = [line.shared_requests for line in runs["float4"].lines.values() if "VECTOR(a" in line.text
            or "VECTOR(b" in line.text]  # fmt: skip
    assert wide == [fmas // 64] * 4
    assert (runs["float4"].barriers, runs["double_buffered"].barriers) == (2 * 2 * 4, 2 * (4 + 1))


def test_vectors_move_what_their_comments_say():
    wide, narrow = (run_of(f"axpy_{step}", {"n": 4096}) for step in ("float4", "grid_stride"))
    for run in (wide, narrow, run_of("axpy_scalar", {"n": 4096})):
        assert (run.global_loads.bytes_moved, run.global_stores.bytes_moved) == (32768, 16384)
    assert 4 * wide.global_loads.requests == narrow.global_loads.requests == 2 * 4096 // 32
    assert run_of("dot_shuffle", {"n": 5000}).atomics == 5  # one a block
    split = run_of("gemv_split", {"M": 16, "K": 3000})
    assert split.atomics == 16 * 3 and split.arrays["A"].loads.bytes_moved == 4 * 16 * 3000
    assert run_of("gemv_warp", {"M": 16, "K": 3000}).arrays["A"].loads.bytes_asked == 4 * 16 * 3000
    rows = run_of("l2norm_rows", {"M": 5, "N": 512})  # row[j] * row[j] is two loads here
    assert rows.global_loads.bytes_moved == 3 * rows.global_stores.bytes_moved == 3 * 4 * 5 * 512


def test_python_and_cuda_count_alike():
    n = 64
    for rung in ("naive", "coalesced", "shared"):
        cuda, python = run_of(f"sgemm_{rung}", {"M": n, "N": n, "K": n}), rungs()[rung].run(n)
        for count in ("flops", "barriers", "shared", "global_loads", "global_stores"):
            assert getattr(cuda, count) == getattr(python, count), (rung, count)


#: Expressions of int, unsigned and float as ISO C has them, t being the thread of 0 to 31.
C_VALUES = {
    "-7 / 2": -3, "-7 % 3": -1, "7 / -2": -3, "1 / 2 * 4.0f": 0, "5 / 2.0f": 2.5, "(int)-2.7f": -2,
    "threadIdx.x - 32 > 0": 1, "t - 32 > 0": 0, "-1 < 1u": 0, "2147483647 + (t >= 0)": -(2.0**31),
    "(unsigned)-1 >> 28": 15, "1 << 31 >> 31": -1, "3 > 2 > 1": 0, "!3 + ~4": -5, "5 & 6 ^ 1": 5,
    "(long long)65536 * 65536": 2.0**32, "65536 * (65536 + t - t)": 0, "16777216.0f + 1.0f": 2.0**24,
    "16777216.0f + 1.0": 2.0**24 + 1, "t == 40 && 1 / (t - t)": 0, "t < 40 || s[99] > 0": 1,
    "(t = 3, t++) + 4": 7, "max(-1, 2u)": 2.0**32 - 1, "twice(t / 100 + 4)": 8, "SQUARE(t - t + 3)": 9,
    "s[t = 5] + (s + 2)[1]": 8, "*(&s[1] + 1)": 2, "((float4*)s)[1].y": 5, "odds(9)": 25,
}  # fmt: skip


def test_numbers_are_those_of_c():
    cells = "\n".join(f"  {{ int t = threadIdx.x; out[{i}] = {e}; }}" for i, e in enumerate(C_VALUES))
    text = f"""
#define SQUARE(x) ((x) * \\
                   (x))
__device__ int odds(int n) {{
  int sum = 0;
  for (int i = 0, j = 1; ; ++i, j += 0) {{
    if (i > n) return sum;
    if (i % 2 == 0) continue;
    sum += i * j;
  }}
}}
__global__ void k(double* out) {{
  float s[8] = {{0, 1, 2, 3, 4, 5, 6, 7}};
  auto twice = [&](int x) {{ if (x > 100) return 0; return 2 * x; }};
{cells}
}}"""
    out = np.zeros(len(C_VALUES))
    emulate(text, 1, 1, out)
    assert dict(zip(C_VALUES, out)) == C_VALUES


#: Kernel, what of it is replaced, by what, kind of fault, and what stands in a line that is named.
FAULTS = (
    ("sgemm_shared", "        __syncthreads();\n", "", "race", "sum += As"),
    ("sgemm_shared", "__syncthreads();  // n", "// n", "race", "As[ty][tx] ="),
    ("sgemm_shared", "__syncthreads();  // n", "if (tx < 3) __syncthreads();  // n", "divergent barrier", "if (tx"),
    ("sgemm_shared", "float sum = 0", "float sum", "uninitialised", "sum += As"),
    ("sgemm_shared", "N + col] : 0", "N + col + 1] : 0", "out of bounds", "Bs[ty][tx] ="),
    ("sgemm_naive", "    if (row >= M || col >= N) return;\n", "", "out of bounds", "sum += A"),
    ("sgemm_naive", "++k)", "k += 0)", "infinite loop", "for (int k"),
    ("axpy_float4", "i + 3 < n", "i < n", "out of bounds", "float4 a ="),
    ("axpy_float4", "4 * (", "2 * (", "misaligned", "float4 a ="),
    ("axpy_scalar", "blockIdx.x * blockDim.x", "n / (int)threadIdx.x", "division by zero", "const int i"),
    ("gemv_split", "atomicAdd(y + row, sum)", "y[row] += sum", "race", "y[row] +="),
    ("gemv_warp", "row >= M", "row >= M || threadIdx.x % 32 > 29", "shuffle", "__shfl_xor_sync"),
    ("dot_shuffle", "if (threadIdx.x % 32 == 0)", "if (threadIdx.x == 0)", "uninitialised", "? partial"),
)  # fmt: skip


def test_a_seeded_fault_is_named_with_its_line():
    wrong = []
    for name, old, new, kind, line in FAULTS:
        text = source_of(name).replace(old, new, 1)
        assert text != source_of(name)
        sizes = {"axpy": {"n": 1001}, "dot_": {"n": 5000}}.get(name[:4], {"M": 37, "N": 52, "K": 1100})
        sizes = {key: size for key, size in sizes.items() if key in KERNELS[name].sizes}
        with pytest.raises(KernelFault) as caught:
            run_of(name, sizes, text=text)
        lines = [text.splitlines()[number - 1] for number in caught.value.fault.lines]
        if caught.value.fault.kind != kind or not any(line in each for each in lines):
            wrong.append((old, caught.value.fault))
    assert wrong == []
    unpadded = source_of("sgemm_registers_2d").replace("BM + 4", "BM")
    sizes = {"M": 128, "N": 128, "K": 8}
    assert run_of("sgemm_registers_2d", sizes, text=unpadded).shared.conflicts > 0


def test_what_is_not_possible_is_refused_with_its_line():
    x = np.zeros(4, np.float32)
    for line, words in {
        "goto end;": "goto", "x[0] = sqrt2(1);": "sqrt", "x[0] = z;": "z is no", "x[1.5f] = 0;": "index",
        "__shared__ float s[n];": "size", "const int i = 1; i = 2;": "const", "int i = x;": "given",
        "x[0] = 1 +;": "not possible", "switch (n) {}": "switch", "__syncthreads(1);": "0 arg",
        "return 1;": "returns nothing", "#if n > 1": "#if", "static_assert(1 > 2, \"no\");": "no",
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=rf"^line 2 \(.*({words})"):
            emulate(f"__global__ void k(float* x, int n) {{\n{line}\n}}", 1, 32, x, 4)
    for args, words in (((x,), "2 arguments"), ((4, x), "x is int"), ((x, 0.5), "n=0.5"),
                        ((x.astype(float), 4), "float64")):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=words):
            emulate("__global__ void k(float* x, int n) {}", 1, 32, *args)
