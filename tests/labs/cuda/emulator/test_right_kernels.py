"""Right kernels: no false alarm, values and traffic by formula and as the oracle has them."""

from __future__ import annotations

import linecache
from math import gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.cuda.emulator import KernelFault, interpreter, launch
from tests.labs.cuda.emulator.kernels import GEMM, NAIVE, launches, random, zeros
from tests.labs.cuda.emulator.oracle import execute

sizes = st.integers(1, 20)


def copied(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in given)


@given(sizes, sizes, sizes)
@settings(max_examples=3, deadline=None)
def test_values_and_sectors_are_the_oracles(m: int, n: int, k: int) -> None:
    faults = {}
    for name, each in launches(m, n, k).items():
        mine, other = copied(each), copied(each)
        run, sectors = launch(*mine), execute(*other)
        counted = {"loads": run.global_loads.sectors, "stores": run.global_stores.sectors}
        error = max(np.abs(a - b).max() for a, b in zip(mine, other) if isinstance(a, np.ndarray))
        if counted != sectors or error > (1e-5 if name in ("split", "dot") else 0):
            faults[name] = counted, sectors, error
    assert faults == {}


def test_products_move_what_the_ledger_says() -> None:
    n, tile = 64, 16
    a, b, c = random(n, n), random(n, n), zeros(n, n)
    naive = launch(NAIVE.format(first="col", second="row"), (2, 8), (32, 8), a, b, c, n, n, n)
    assert naive.flops == 2 * n**3
    assert naive.arrays["A"].loads.sectors == n**3 // 32  # one word for all lanes of a warp
    assert naive.arrays["B"].loads.bytes_moved == 4 * n**3
    across = launch(NAIVE.format(first="row", second="col"), (2, 8), (32, 8), a, b, c, n, n, n)
    assert across.arrays["A"].loads.sectors_per_request == 32
    tiled = launch(GEMM.format(T=tile, pad=0), (4, 4), (tile, tile), a, b, c, n, n, n)
    assert tiled.global_loads.bytes_moved == tiled.global_loads.bytes_asked == 2 * 4 * n**3 // tile
    assert tiled.global_stores.bytes_moved == 4 * n**2
    assert tiled.barriers == (n // tile) ** 2 * 2 * (n // tile)
    assert tiled.lines[14].shared_requests == 2 * n**3 // 32 and tiled.shared.conflicts == 0
    np.testing.assert_allclose(c, a @ b, atol=1e-5)


def test_a_stride_costs_sectors_and_bank_conflicts() -> None:
    """32 words s apart lie in min(4·s, 32) sectors, and gcd(s, 32) of them in a bank."""
    text = """
def strided(x, stride, offset):
    s = cuda.shared.array(33 * 32, float32)
    t = cuda.threadIdx.x
    s[stride * t] = x[stride * t + offset]
"""
    x = zeros(33 * 32)
    for stride in (1, 2, 3, 4, 8, 16, 32, 33):
        run = launch(text, 1, 32, x, stride, 0)
        assert run.global_loads.sectors == min(4 * stride, 32)
        assert run.shared.wavefronts == gcd(stride, 32) == run.shared.conflicts + 1
    assert launch(text, 1, 32, x, 1, 1).global_loads.sectors == 5  # not aligned
    assert launch(text, 1, 32, x, 0, 0).shared.wavefronts == 1  # a broadcast
    wide = "def wide(x):\n    s = cuda.shared.array(256, {})\n    {}"
    for dtype, body, passes in (
        ("float64", "s[cuda.grid(1)] = 1.0", 2),
        ("float32", "cuda.store4(s, 4 * cuda.grid(1), (1, 2, 3, 4))", 4),
    ):
        run = launch(wide.format(dtype, body), 1, 32, x)
        assert (run.shared.wavefronts, run.shared.conflicts) == (passes, 0)


def test_a_cells_function_keeps_its_lines_and_is_parsed_once() -> None:
    cell = "# a cell\ndef scale(A, n):\n    i = cuda.grid(1)\n    if i < n:\n        A[i] *= F\n"
    linecache.cache["<cell>"] = (len(cell), None, cell.splitlines(True), "<cell>")
    names: dict[str, Any] = {"F": np.float64(0.1)}
    exec(compile(cell, "<cell>", "exec"), names)
    a = np.ones(40, np.float32)
    assert [*launch(names["scale"], 2, 32, a, 40).lines] == [5]
    assert a[39] == np.float32(0.1)
    bodies = {interpreter.program_of(names["scale"]).body for _ in range(2)}
    assert len(bodies) == 1


def test_float32_stays_float32() -> None:
    text = """
def mix(x, y, n):
    i = cuda.grid(1)
    y[i] = (x[i] + 1e-9) * 3 + i * 0.1 - i / 7 + (0.5 if i % 2 else i)
"""
    x, y = random(64), zeros(64)
    run = launch(text, 2, 32, x, y, 64)
    i, f = np.arange(64, dtype=np.float32), np.float32
    right = (x + f(1e-9)) * f(3) + i * f(0.1) - i / f(7) + np.where(i % 2, f(0.5), i)
    assert np.array_equal(y, right) and run.flops == 7 * 64


def test_values_are_pythons_and_shared_floats_those_of_the_threads() -> None:
    text = """
f32, INF, T = np.float32, float("inf"), np.int32(3)
def kernel(x, y, z):
    i = cuda.grid(1)
    m = -math.inf
    if -1 < i - 1 < x[i - 1]:
        m = f32(T)
    y[i] = (i or 5) + (i and 7) + max(m, float("-inf"), 0.0) * (0 < INF)
    a, b = 0.0, i * 0.0
    for k in range(20):
        a += 0.1
        b += 0.1
    z[i] = a - b
"""
    x, y, z = np.ones(32, np.float32), zeros(32), np.ones(32, np.float32)
    launch(text, 1, 32, x, y, z)
    assert y.tolist() == [(i or 5) + (i and 7) + 3 * (i == 1) for i in range(32)]
    assert not z.any()
    a = random(4, 4)
    launch(
        "def kernel(a, b):\n    i = cuda.grid(2)\n    b[i] = a[i]", 1, (4, 4), a, b := zeros(4, 4)
    )
    assert np.array_equal(a, b)


def test_what_no_kernel_can_hold_is_refused_with_its_line() -> None:
    bodies = {
        "[1, 2]": r"\[1, 2\]", "x[0:2]": "0:2", "lambda: 1": "lambda", "print(i)": "print",
        "np.sqrt(x[i])": "math.sqrt", "cuda.threadIdx.w": "cuda.threadIdx.x", "x + 1": "no number",
        "x[i, 0]": "1 axes", "x[i / 2]": "integer", "z": "not known", "cuda.fma(1.0, 2.0)": "3 arg",
        "cuda.shared.array(20000, float32)": "49,152", "cuda.shared.array(i, float32)": "const",
        "cuda.shared.array(cuda.blockDim.x, float32)": "const", "x[cuda.grid(2)]": "x, y = cuda",
        "cuda.shared.array((2**32, 2**32), float32)": "bytes", "i.shape": "number stands",
        "i @ i": "i @ i",
        "cuda.syncthreads": "call it", "cuda.foo": "no name", "f(x) + 1": "without return",
        "cuda.shfl_sync(0xffffffff, (i, i), 0)": "tuple", "math.sqr(2)": "math.sqrt",
        "(1 << 62) * 8": "64 bits", "i * 2**63": "64 bits", "1" + " + 1" * 1200: "too long",
        "cuda.atomic.add(x[0], 0, 1.0)": "an array should", "(i, i)[i]": "index",
    }  # fmt: skip
    for body, words in bodies.items():
        text = f"def f(x): pass\ndef kernel(x):\n    i = cuda.grid(1); a = {body}"
        with pytest.raises(ValueError, match=rf"line 3 .*({words})"):
            launch(text, 1, 32, zeros(64))
    for head, words in {
        "X = 1 // 0": "line 1 .*divided", "T = T + 1": "line 1 .*T is read",
        "T = cuda.shfl_sync(1, 2, 3)": "line 1 ", "A = 9 ** 99": "powers",
        "T = " + "-" * 3000 + "1": "nested",
        "T = (((1,) * 9))": "line 1 .*tuple",
    }.items():  # fmt: skip
        with pytest.raises((KernelFault, ValueError), match=words) as caught:
            launch(f"{head}\ndef kernel(x): pass", 1, 32, zeros(64))
        assert len(str(caught.value)) < 600
    x = zeros(64)
    for wrong, words in (
        ((1, 2000, x), "1024"), ((1, (32, 64), x), "1024 threads"), ((1, 32), "1 arguments"),
        ((1, 32, x[::2]), "ascontiguous"), ((1, 32, x.astype(complex)), "complex"),
        ((1, 32, "x"), "str"), ((0, 32, x), "grid"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=words):
            launch("def kernel(x):\n    pass", *wrong)
