"""Products of halves whose parts are added in 16 bits, as cuBLAS may do, are right.

What is really wrong is still refused.
"""

from __future__ import annotations

import numpy as np
import pytest

import rooflab.count as rl
from rooflab.measure import verify
from rooflab.measure.backend import Backend
from rooflab.measure.kernels import kernel_for
from rooflab.measure.operands import make, storage
from rooflab.measure.verify import prepare, verdict
from tests.support.rows import each_row

DTYPES = ("fp16", "bf16")


def in_parts(a: np.ndarray, b: np.ndarray, parts: int) -> np.ndarray:
    """a @ b in pieces along k; pieces and partial sums are rounded to the type of a."""
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for some in np.array_split(np.arange(a.shape[1]), parts):
        part = (a[:, some].astype("f") @ b[some].astype("f")).astype(a.dtype)
        total = (total.astype("f") + part.astype("f")).astype(a.dtype)
    return total


def judged(fake, op, compute, operands=None):
    """verdict() on what ``compute`` makes of the factors."""
    backend = Backend("gpu", fake, "a test", "Stand-in GPU")
    operands = operands or make(op, backend)
    before = prepare(op, operands)
    a, b, c = (fake.asnumpy(array) for array in operands)
    operands[2][...] = fake.asarray(compute(a, b))
    return verdict(op, backend, operands, before)


def positive(fake, op):
    """Operands whose products do not cancel."""
    backend = Backend("gpu", fake, "a test")
    random = np.random.default_rng(5)
    return tuple(
        fake.asarray(random.uniform(0.5, 1.5, o.shape).astype(storage(o, backend)))
        for o in op.operands
    )


@each_row(*DTYPES)
@each_row(2, 4, 16)
@each_row(False, True)
def test_parts_in_sixteen_bits_are_right(same_sign, parts, dtype, fake):
    op = rl.gemm(96, 80, 512, dtype)
    operands = positive(fake, op) if same_sign else None
    assert judged(fake, op, lambda a, b: in_parts(a, b, parts), operands) is None


@each_row(*DTYPES)
@each_row(
    lambda a, b: in_parts(a[:, :-16], b[:-16], 4),  # the last tile of k is left out
    lambda a, b: np.where(np.arange(96)[:, None] == 71, 0, in_parts(a, b, 4)),
    lambda a, b: in_parts(a, b, 4) + in_parts(a[:, :8], b[:8], 1),  # a part counted twice
    lambda a, b: in_parts(a, b[:, ::-1], 4),
)
def test_wrong_products_stay_wrong(wrong, dtype, fake):
    op = rl.gemm(96, 80, 512, dtype)
    with pytest.raises(ValueError, match=r"c\[\d+, \d+\] is"):
        judged(fake, op, lambda a, b: wrong(a, b).astype(a.dtype))


def test_a_cpu_keeps_the_narrow_room():
    """Nothing there adds in 16 bits."""
    op = rl.gemm(8, 8, 8, "fp16")
    on_cpu = verify.Case(op, np, {}, {}, None)
    assert on_cpu.part_rounding == 0.0


@each_row(*DTYPES)
@each_row(rl.gemm(8, 8, 8), rl.gemv(8, 8))
def test_our_own_products_forbid_it_for_the_call(op, dtype, fake, monkeypatch):
    """Math mode 16: MATH_DISALLOW_REDUCED_PRECISION_REDUCTION of cublas_api.h."""
    op = getattr(rl, op.name)(*op.dims.values(), dtype)
    backend = Backend("gpu", fake, "a test")
    modes = []
    matmul = fake.matmul
    monkeypatch.setattr(
        fake, "matmul", lambda *a, **k: modes.append(fake.math_mode) or matmul(*a, **k)
    )
    kernel_for(op, backend).bind(make(op, backend))()
    assert modes == [16]
    assert fake.math_mode == 0
