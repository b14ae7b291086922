"""The kernels on halves, run without a GPU: their CUDA is C++ but for a few words.

A C++ compiler builds them with those words defined; a block's threads run one after the other, or
at once where they wait for each other. The conversions, which are PTX, are replaced. Any length,
any alignment and any grid must give every element its exact value, and touch nothing beside it.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rooflab.measure.cuda_sources import CONVERSIONS, HALVES

COMPILER = shutil.which("g++") or shutil.which("clang++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")
DTYPES = {"fp16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
CANARY = 7.0

SURROUNDINGS = Path(__file__).with_name("cuda_blocks.cpp").read_text("utf-8")


@pytest.fixture(scope="module", params=DTYPES)
def kernels(request, tmp_path_factory):
    """(the compiled library, the array type of its halves)."""
    folder = tmp_path_factory.mktemp("cuda")
    source, library = folder / "halves.cpp", folder / "halves.so"
    assert CONVERSIONS in HALVES.code
    kernels = HALVES.code.replace(CONVERSIONS, "")
    source.write_text(SURROUNDINGS.replace("@KERNELS@", kernels))
    options = HALVES.variants[list(DTYPES).index(request.param)]
    command = [COMPILER, "-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-pthread", *options]
    done = subprocess.run(
        [*command, str(source), "-o", str(library)], capture_output=True, text=True, check=False
    )
    if "_Float16" in done.stderr or "<barrier>" in done.stderr:
        pytest.skip(f"{Path(COMPILER).name} is too old for C++20 and 16-bit floats")
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(library)), DTYPES[request.param]


class Halves:
    """``values`` in memory, ``offset`` halves past a multiple of 16 bytes, canaries around it."""

    def __init__(self, values: np.ndarray, kind: np.dtype, offset: int = 0) -> None:
        store = np.full(values.size + 40, CANARY, kind)
        start = -store.ctypes.data % 16 // 2 + 8 + offset
        self.store, self.array = store, store[start : start + values.size]
        self.array[:] = values.ravel().astype(kind)
        self.before = self.array.astype(float)
        self._around = np.ones(store.size, bool)
        self._around[start : start + values.size] = False

    @property
    def pointer(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.array.ctypes.data)

    def check(self, expected: np.ndarray) -> None:
        """Each element is ``expected`` rounded to fp32 and then to a half; the rest untouched."""
        right = expected.astype(np.float32).astype(self.array.dtype)
        np.testing.assert_array_equal(self.array.astype(float), right.ravel().astype(float))
        assert (self.store[self._around].astype(float) == CANARY).all()


def numbers(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng([size, seed]).uniform(-1, 1, size)


A = ctypes.c_float(0.7)
alpha = float(np.float32(0.7))
sizes = st.one_of(st.integers(1, 40), st.integers(1, 5000))
offsets = st.integers(0, 7)
grids = st.tuples(st.integers(1, 3), st.sampled_from([32, 64]))
some = settings(max_examples=60)


@some
@given(n=sizes, left=offsets, right=offsets, grid=grids)
def test_axpy(kernels, n, left, right, grid):
    library, kind = kernels
    x, y = Halves(numbers(n, 1), kind, left), Halves(numbers(n, 2), kind, right)
    library.run_axpy(*grid, x.pointer, y.pointer, A, ctypes.c_longlong(n))
    y.check(alpha * x.before + y.before)
    x.check(x.before)
    assert not library.was_misaligned()


@some
@given(n=sizes, offset=offsets, grid=grids)
def test_scale(kernels, n, offset, grid):
    library, kind = kernels
    x = Halves(numbers(n, 1), kind, offset)
    library.run_scale(*grid, x.pointer, A, ctypes.c_longlong(n))
    x.check(alpha * x.before)
    assert not library.was_misaligned()


@some
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 90),
    a=offsets,
    y=offsets,
    x=offsets,
    grid=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    wide=st.sampled_from([1, 4, 32]),
)
@example(rows=5, columns=64, a=0, y=0, x=3, grid=(1, 2), wide=8)  # whole packs, and part of one
@example(rows=100, columns=64, a=0, y=0, x=3, grid=(1, 2), wide=8)
def test_ger(kernels, rows, columns, a, y, x, grid, wide):
    library, kind = kernels
    a = Halves(numbers(rows * columns, 1), kind, a)
    y, x = Halves(numbers(columns, 2), kind, y), Halves(numbers(rows, 3), kind, x)
    shape = ctypes.c_longlong(rows), ctypes.c_longlong(columns)
    library.run_ger(*grid, wide, 32 // wide, a.pointer, x.pointer, y.pointer, *shape)
    a.check(a.before.reshape(rows, columns) + np.outer(x.before, y.before))
    assert not library.was_misaligned()


@settings(max_examples=12)
@given(n=sizes, left=offsets, right=offsets, grid=grids)
@example(n=8, left=3, right=3, grid=(5, 64))  # alike aligned, with and without whole packs
@example(n=5003, left=3, right=3, grid=(5, 64))
def test_dot(kernels, n, left, right, grid):
    """Twice: the counter of arrived blocks must be 0 again."""
    library, kind = kernels
    x, y = Halves(numbers(n, 1) ** 2, kind, left), Halves(numbers(n, 2) ** 2, kind, right)
    partial, arrived = np.full(grid[0], np.nan, np.float32), np.zeros(1, np.uint32)
    for _ in range(2):
        r = Halves(np.full(1, np.nan), kind, 5)
        library.run_dot(
            *grid, x.pointer, y.pointer, r.pointer, ctypes.c_longlong(n),
            partial.ctypes.data_as(ctypes.c_void_p), arrived.ctypes.data_as(ctypes.c_void_p),
        )  # fmt: skip
        exact = x.before @ y.before
        step = 2.0**-10 if kind == np.float16 else 2.0**-7
        assert float(r.array[0]) == pytest.approx(exact, rel=step, abs=1e-7)
        assert arrived[0] == 0
        assert not library.was_misaligned()
        assert float(r.store[0]) == CANARY
