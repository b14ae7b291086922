"""The formulas of lesson 01 against the ledger, which its answers may not call."""

from __future__ import annotations

import pytest

from rooflab.count import axpy, dot, gemm, gemv, ger
from rooflab.course.drawing import DTYPES
from rooflab.exercises.registry import exercise


def test_the_right_answers_count_as_the_ledger_does():
    for size, kind in DTYPES.items():
        for m, n, k in ((1, 1, 1), (7, 5, 3), (1, 40_961, 3), (64, 64, 64)):
            for added in (False, True):
                op = gemm(m, n, k, kind, accumulate=added)
                counted = exercise("01-product").reference(m, n, k, size, added)
                assert counted == (op.flops, op.bytes, op.intensity)
        for n in (8, 61, 10_007):
            for name, op in {
                "axpy": axpy(n, kind), "dot": dot(n, kind), "gemv": gemv(n, n, kind),
                "outer": ger(n, n, kind), "gemm": gemm(n, n, n, kind),
            }.items():  # fmt: skip
                assert exercise("01-name").reference(op.flops, op.bytes, size) == name
            work = axpy(n * n, kind).bytes, gemv(n, n, kind).bytes, gemm(n, n, n, kind).flops
            rates = exercise("01-witnesses").reference(n, size, *(one / 1e11 for one in work))
            assert rates == (pytest.approx(1e11), pytest.approx(1e11), "nobody")
        ratio = exercise("01-speed-limit").reference(9e12, 1e11, size)
        assert ratio == pytest.approx(9e12 / (1e11 * axpy(10, kind).intensity))
    ops = axpy(10, "fp16"), gemv(61, 61, "fp16"), gemm(61, 61, 61, "fp16")
    of_vectors, of_matrix, of_product = (op.intensity for op in ops)
    between = (of_matrix + 1) / 2  # its value for that size, and for large ones
    intensities = exercise("01-three-intensities").reference(61)
    assert intensities == pytest.approx((of_vectors, between, of_product))
    claim = exercise("01-claim-1365").reference()
    assert claim == (pytest.approx(gemm(4096, 4096, 4096, "fp32").intensity), 2)
    assert gemm(4096, 4096, 4096, "fp16").intensity == pytest.approx(1365, abs=0.5)
