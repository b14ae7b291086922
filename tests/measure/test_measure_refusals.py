"""What rl.measure refuses: wrong operands, wrong arguments, more than memory holds."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab.count as rl
from rooflab.measure import operands
from rooflab.measure.backend import select
from rooflab.measure.measure import measure
from rooflab.measure.operands import OperandsTooLarge
from tests.support.products import GEMM, F, gemm_arrays, numpy_gemm
from tests.support.rows import each_row

pytestmark = pytest.mark.usefixtures("quick")


def test_setup_gives_the_numbers():
    a, b, c = gemm_arrays()
    seconds = np.float32(0.1)  # any real number will do
    measure(GEMM, None, lambda: (a, b, c), threads=1, cache="warm", samples=3, seconds=seconds)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@each_row(
    (lambda a, b, c: (np.ascontiguousarray(a), b, c), ValueError,
     "operand 'a' is C-ordered .*use numpy.asfortranarray"),
    (lambda a, b, c: (a, b, np.ascontiguousarray(c)), ValueError, "operand 'c' is C-ordered"),
    (lambda a, b, c: (a, F(np.ones((16, 20), "f"))[::2, ::2], c), ValueError,
     "'b' is not contiguous"),
    (lambda a, b, c: (a, b.astype(float), c), TypeError, "'b' has dtype float64; .* float32"),
    (lambda a, b, c: (a, b.T, c), ValueError, r"'b' has shape \(10, 8\); .*\(8, 10\)"),
    (lambda a, b, c: (a, b.tolist(), c), TypeError, "'b' is a list; .*numpy.ndarray"),
    (lambda a, b, c: (a, b), ValueError, r"returned 2 arrays; .*\(a, b, c\)"),
    (lambda a, b, c: a, TypeError, "returned a ndarray; it must return the operands"),
    (lambda a, b, c: 1 / 0, ValueError, r"setup\(\) raised ZeroDivisionError"),
)  # fmt: skip
@each_row(None, numpy_gemm)
def test_wrong_operands_are_named(run, change, error, told):
    with pytest.raises(error, match=told):
        measure(GEMM, run, lambda: change(*gemm_arrays()), threads=1)


def test_what_is_written_is_writable_and_has_memory_of_its_own():
    a, b, c = gemm_arrays()
    c.flags.writeable = False
    with pytest.raises(ValueError, match="'c' is read-only"):
        measure(GEMM, setup=lambda: (a, b, c), threads=1)
    square, small = F(np.ones((8, 8), "f")), rl.gemm(8, 8, 8)
    with pytest.raises(ValueError, match=r"'a' and 'c' share memory, but .* writes 'c'"):
        measure(small, setup=lambda: (square, square, square), threads=1)
    measure(small, setup=lambda: (square, square, square.copy("F")), threads=1, samples=3)


def test_operands_with_nan_are_not_blamed_on_run():
    a, b, c = gemm_arrays()
    a[2, 3] = np.nan
    with pytest.raises(ValueError, match=r"setup\(\): an operand holds NaN or infinity"):
        measure(GEMM, numpy_gemm, lambda: (a, b, c), threads=1)


def test_batches_are_matrices_stored_by_columns():
    op = rl.gemv(6, 5, batch=3)
    a, x, y = np.ones((3, 5, 6), "f"), np.ones((3, 5), "f"), np.ones((3, 6), "f")
    measure(op, setup=lambda: (a.swapaxes(1, 2), x, y), threads=1, samples=3)
    with pytest.raises(ValueError, match="each of its matrices must be F-ordered"):
        measure(op, setup=lambda: (np.ones((3, 6, 5), "f"), x, y), threads=1)


@each_row(
    ({"op": "gemm"}, TypeError, "op='gemm' must be an Operation"),
    ({"setup": 3}, TypeError, "setup=3 must be a function"),
    ({"run": "blas"}, TypeError, "run='blas' is a str"),
    ({"cache": "hot"}, ValueError, "cache='hot' is unknown; .*cold, warm"),
    ({"threads": 1.5}, TypeError, "threads=1.5 is a float"),
    ({"threads": 10**9}, ValueError, "threads=1000000000: this process may use"),
    ({"samples": 0}, ValueError, "samples=0"),
    ({"seconds": float("nan")}, ValueError, "seconds=nan must be a positive number"),
    ({"backend": "cuda"}, ValueError, "backend='cuda' is unknown"),
    ({"op": rl.gemm(4, 4, 4, "fp16")}, ValueError, "fp32 and fp64 only.*pass run="),
    ({"op": rl.gemm(4, 4, 4, "nvfp4"), "run": numpy_gemm}, ValueError, "packed arrays"),
)
def test_bad_arguments_are_named(changed, error, told):
    with pytest.raises(error, match=told):
        measure(**{"op": GEMM, **changed})


@each_row(rl.axpy(2 * 10**9), rl.gemm(10**6, 10**6, 10**6), rl.gemv(1, 2**30))
def test_operands_beyond_memory_are_refused_before_allocating(op, monkeypatch):
    monkeypatch.setattr(operands, "available_bytes", lambda backend: 4 << 30)
    monkeypatch.setattr(operands, "_empty", lambda *_: pytest.fail("allocated"))
    with pytest.raises(OperandsTooLarge, match="takes .* of memory .* but 4.29 GB are free") as it:
        measure(op)
    assert isinstance(it.value, ValueError) and isinstance(it.value, MemoryError)
    for operand in op.operands:
        assert f"{operand.name} {operand.shape}" in str(it.value)


def test_the_calls_of_a_large_batch_take_memory_too(monkeypatch):
    """100 MB of operands, but a Python call for each of ten million products."""
    op = rl.gemm(1, 1, 1, batch=10**7)
    monkeypatch.setattr(operands, "available_bytes", lambda backend: 4 << 30)
    with pytest.raises(OperandsTooLarge, match="takes 20.7 GB"):
        measure(op, threads=1)
    operands.require_memory(op, select("cpu"), in_turn=False)


def test_a_container_limit_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(operands, "_CGROUP", tmp_path)
    assert operands._container_bytes() == float("inf")
    (tmp_path / "memory.max").write_text("max\n")
    assert operands._container_bytes() == float("inf")
    (tmp_path / "memory.max").write_text(str(300 << 20))
    (tmp_path / "memory.current").write_text(str(100 << 20))
    with pytest.raises(OperandsTooLarge, match="210 MB are free"):
        measure(rl.axpy(10_000_000))
