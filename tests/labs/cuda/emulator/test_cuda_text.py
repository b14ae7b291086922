"""CUDA C++ in the emulator: our kernels are right, move what they say; faults have their line."""

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


def run_of(name, sizes, macros=None, text=None, most=500_000):
    """Launch a kernel of the catalogue, or a text for it; small integers make sums exact."""
    arrays, expected = operands(spec := KERNELS[name], sizes)
    arrays[-1][:] *= not spec.zeroed
    way = plan(name, [array.shape for array in arrays], **(macros or {}))
    args = (*arrays, *spec.scalars.values(), *sizes.values())
    run = emulate(text or name, way.grid, way.block, *args, macros=macros, max_steps=most)
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
    """Bytes a FLOP of whole tiles; sectors, turns of shared memory, barriers of two blocks."""
    sizes, fmas = {"M": 128, "N": 256, "K": 32}, 128 * 256 * 32
    wanted = {"naive": 4, "coalesced": 4, "shared": 4 / 32, "registers_1d": 4 / 64,
              "registers_2d": 4 / 128, "float4": 4 / 128, "double_buffered": 4 / 128}  # fmt: skip
    runs = {step: run_of(f"sgemm_{step}", sizes) for step in wanted}
    assert {run.flops for run in runs.values()} == {2 * fmas}
    assert {s: run.global_loads.bytes_asked / (2 * fmas) for s, run in runs.items()} == wanted
    for run in [*runs.values()][2:]:
        assert run.global_loads.bytes_moved == run.global_loads.bytes_asked
        assert run.shared.conflicts == 0
    a, b = (runs["coalesced"].arrays[name].loads.sectors_per_request for name in "AB")
    assert (a, b, runs["naive"].arrays["A"].loads.sectors_per_request) == (1, 4, 32)
    lines = [line for line in runs["float4"].lines.values() if "= VECTOR(&" in line.text]
    assert [line.shared_requests for line in lines][:4] == [fmas // 64 // 32] * 4
    assert (runs["float4"].barriers, runs["double_buffered"].barriers) == (2 * 2 * 4, 2 * (4 + 1))


def test_vectors_move_what_their_comments_say():
    wide, narrow = (run_of(f"axpy_{step}", {"n": 4096}) for step in ("float4", "grid_stride"))
    for run in (wide, narrow, run_of("axpy_scalar", {"n": 4096})):
        assert (run.global_loads.bytes_moved, run.global_stores.bytes_moved) == (32768, 16384)
    assert 4 * wide.global_loads.requests == narrow.global_loads.requests == 2 * 4096 // 32
    assert run_of("dot_shuffle", {"n": 5000}).atomics == 5  # one a block
    assert run_of("gemv_split", sizes := {"M": 16, "K": 3000}).atomics == 16 * 3
    assert run_of("gemv_warp", sizes).arrays["A"].loads.bytes_moved == 4 * 16 * 3000
    rows = run_of("l2norm_rows", {"M": 5, "N": 512})  # row[j] * row[j] is two loads here
    assert rows.global_loads.bytes_moved == 3 * rows.global_stores.bytes_moved == 3 * 4 * 5 * 512


def test_python_and_cuda_count_alike():
    for rung in ("naive", "coalesced", "shared"):
        cuda, python = run_of(f"sgemm_{rung}", dict.fromkeys("MNK", 64)), rungs()[rung].run(64)
        for count in ("flops", "barriers", "shared", "global_loads", "global_stores"):
            assert getattr(cuda, count) == getattr(python, count), (rung, count)


#: Expressions as ISO C has them; t is 0, s[i] is i.
C_VALUES = {
    "-7 / 2": -3, "-7 % 3": -1, "7 / -2": -3, "1 / 2 * 4.0f": 0, "5 / 2.0f": 2.5, "(int)-2.7f": -2,
    "threadIdx.x - 32 > 0": 1, "t - 32 > 0": 0, "-1 < 1u": 0, "2147483647 + !t": -(2.0**31),
    "(unsigned)-1 >> 28": 15, "3 > 2 > 1": 0, "!3 + ~4": -5, "5 & 6 ^ 1": 5, "(1 << 16) * 65536": 0,
    "16777216.f + 1.f": 2**24, "16777216.f + 1.": 2**24 + 1, "t && 1 / t": 0, "!t || s[99] > 0": 1,
    "(t = 3, t++) + 4": 7, "max(-1, 2u)": 2**32 - 1, "twice(t + 4)": 8, "SQUARE(t + 3)": 9,
    "s[t = 5] + (s + 2)[1]": 8, "*(&s[1] + 1)": 2, "((float4*)s)[1].y": 5, "(set(s), s[7])": 25,
}  # fmt: skip
TEXT = """
#define SQUARE(x) ((x) * (x))
__device__ int twice(int x) { if (x > 100) return 0; return 2 * x; }
__device__ int odds(int n) {
  for (int i = 0, sum = 0; ; ++i, n += 0)
    { if (i > n) return sum; else if (i % 2 == 0) continue; sum += i; } }
__device__ void set(float* p) { p[7] = odds(9); }
__global__ void k(double* out) {
  float s[8] = {0, 1, 2, 3, 4, 5, 6, 7};
"""


def test_numbers_are_those_of_c():
    cells = (f"{{ int t = 0; out[{i}] = {value}; }}" for i, value in enumerate(C_VALUES))
    run = emulate("\n".join([TEXT, *cells, "}"]), 1, 1, out := np.zeros(len(C_VALUES)))
    assert dict(zip(C_VALUES, out)) == C_VALUES
    assert min(run.lines) > TEXT.count("\n")  # after a call, the caller's line again


#: Kernel, what of it is replaced, by what, kind of fault, and how a line that is named begins.
FAULTS = (
    ("sgemm_shared", "        __syncthreads();\n", "", "race", "for (int k = 0"),
    ("sgemm_shared", "        __sync", "        if (tx) __sync", "divergent barrier", "if (tx)"),
    ("sgemm_shared", "float sum = 0", "float sum", "uninitialised", "for (int k = 0"),
    ("sgemm_naive", "row >= M ||", "", "out of bounds", "for (int k = 0"),
    ("sgemm_naive", "++k)", "k += 0)", "infinite loop", "for (int k = 0"),
    ("axpy_float4", "i + 3 < n", "i < n", "out of bounds", "const float4 a ="),
    ("axpy_float4", "4 * (", "2 * (", "misaligned", "const float4 a ="),
    ("axpy_scalar", "blockIdx.x *", "n / (int)threadIdx.x +", "division by zero", "const int i"),
    ("gemv_split", "atomicAdd(y + row, sum)", "y[row] += sum", "race", "if (threadIdx.x % 32 =="),
    ("gemv_warp", "row >= M", "row >= M || threadIdx.x % 32 > 29", "shuffle", "for (int offset"),
    ("dot_shuffle", "x % 32 == 0", "x == 0", "uninitialised", "sum = warp_sum("),
)


def test_a_seeded_fault_is_named_with_its_line():
    wrong = []
    for name, old, new, kind, line in FAULTS:
        text = source_of(name).replace(old, new, 1)
        sizes = {key: 1101 if key in "Kn" else 37 for key in KERNELS[name].sizes}
        with pytest.raises(KernelFault) as caught:
            run_of(name, sizes, text=text, most=9000)
        fault = caught.value.fault
        lines = [text.splitlines()[number - 1].strip() for number in fault.lines]
        if fault.kind != kind or not any(each.startswith(line) for each in lines):
            wrong.append((old, fault))
    assert wrong == []
    unpadded = source_of("sgemm_registers_2d").replace("BM + 4", "BM")
    run = run_of("sgemm_registers_2d", {"M": 128, "N": 128, "K": 8}, text=unpadded)
    assert run.shared.conflicts > 0


def test_what_is_not_possible_is_refused_with_its_line():
    x, head = np.zeros(4, np.float32), "__global__ void k(float* x, int n) {"
    for line, words in {
        "goto end;": "goto", "sqrt2(1);": "sqrt", "x[0] = z;": "z is no", "x[.5f] = 0;": "index",
        "__shared__ float s[n];": "size", "const int i = 1; i = 2;": "const", "int i = x;": "given",
        "x[0] = 1 +;": "emulator's C++", "switch (n) {}": "switch", "#if n > 1": "#if",
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=rf"^line 2 \(.*({words})"):
            emulate(f"{head}\n{line}\n}}", 1, 32, x, 4)
    for args, words in (((4, x), "x is int"), ((x, 0.5), "n is float"), ((x > 0, 4), "x is bool")):
        with pytest.raises(TypeError, match=words):
            emulate(f"{head}}}", 1, 32, *args)
