"""Laws that every ledger obeys: symmetry, limits, monotonicity, batches, the plain triple loop."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.count import DTYPES

PLAIN = [name for name in DTYPES if not rl.dtype(name).group]
sizes = st.integers(1, 10**6)
any_dtype = st.sampled_from(DTYPES)
plain_dtype = st.sampled_from(PLAIN)


@given(sizes, sizes, sizes, plain_dtype)
def test_intensity_of_a_product_is_symmetric_in_its_sizes(m, n, k, dtype):
    values = {rl.gemm(*order, dtype).intensity for order in permutations((m, n, k))}
    assert max(values) == pytest.approx(min(values))


@given(sizes, sizes, sizes, any_dtype)
def test_a_product_costs_what_its_transpose_costs(m, n, k, dtype):
    assert rl.gemm(m, n, k, dtype).bytes == rl.gemm(n, m, k, dtype).bytes


@given(sizes, sizes, sizes)
def test_intensity_is_the_harmonic_sum_of_the_sizes(m, n, k):
    expected = (2 / 4) / (1 / m + 1 / n + 1 / k)
    assert rl.gemm(m, n, k).intensity == pytest.approx(expected)
    assert rl.gemm(m, n, k).intensity < 0.5 * min(m, n, k)


def test_limits_of_large_sizes():
    huge = 10**30
    assert rl.gemv(huge, huge).intensity == pytest.approx(0.5)
    assert rl.dot(huge).intensity == pytest.approx(0.25)
    assert rl.ger(huge, huge).intensity == pytest.approx(0.25)
    assert rl.gemm(64, huge, huge, "fp16").intensity == pytest.approx(64)
    assert rl.gemm(huge, huge, huge).intensity == pytest.approx(huge / 6)


def test_huge_counts_stay_exact_integers():
    op = rl.gemm(10**30, 10**30 + 1, 10**30 + 7)
    assert op.flops == 2 * 10**30 * (10**30 + 1) * (10**30 + 7)
    assert isinstance(op.bytes, int) and op.bytes % 4 == 0
    assert "gemm" in str(rl.gemm(10**150, 2, 10**200))


@given(sizes, sizes, st.integers(1, 5000), any_dtype, st.booleans())
def test_vectors_sharing_a_matrix_are_a_matrix_product(m, n, batch, dtype, accumulate):
    many = rl.gemv(m, n, dtype, batch=batch, shared=("a",), accumulate=accumulate)
    one = rl.gemm(m, batch, n, dtype, accumulate=accumulate)
    assert (many.flops, many.bytes, many.working_set) == (one.flops, one.bytes, one.working_set)
    assert sorted(o.bytes for o in many.operands) == sorted(o.bytes for o in one.operands)


@given(sizes, sizes, sizes, st.integers(1, 5000))
def test_a_shared_operand_turns_the_batch_into_one_long_axis(m, n, k, batch):
    def ledger(op):
        return op.flops, op.bytes

    assert ledger(rl.gemm(m, n, k, batch=batch, shared=("a",))) == ledger(rl.gemm(m, n * batch, k))
    assert ledger(rl.gemm(m, n, k, batch=batch, shared=("b",))) == ledger(rl.gemm(m * batch, n, k))
    assert ledger(rl.gemm(m, n, k, batch=batch, shared=("c",))) == ledger(rl.gemm(m, n, k * batch))
    assert ledger(rl.gemv(m, n, batch=batch, shared=("x",))) == ledger(rl.gemv(m * batch, n))


@given(sizes, sizes, sizes, st.integers(1, 5000), st.booleans())
def test_independent_problems_cost_as_many_times_and_stay_put(m, n, k, batch, accumulate):
    for one, many in [
        (rl.gemm(m, n, k, accumulate=accumulate),
         rl.gemm(m, n, k, accumulate=accumulate, batch=batch)),
        (rl.gemv(m, n, accumulate=accumulate),
         rl.gemv(m, n, accumulate=accumulate, batch=batch)),
    ]:  # fmt: skip
        assert (many.flops, many.bytes) == (batch * one.flops, batch * one.bytes)
        assert many.intensity == one.intensity
        assert many.unit == one.unit


@given(sizes, sizes, st.integers(2, 5000))
def test_sharing_the_matrix_walks_right(m, n, batch):
    alone, shared = rl.gemv(m, n), rl.gemv(m, n, batch=batch, shared=("a",))
    assert shared.intensity >= alone.intensity
    assert shared.bytes <= rl.gemv(m, n, batch=batch).bytes


def test_unit_tells_matrix_units_from_vector_units():
    tensor = [rl.gemm(8, 8, 8), rl.conv2d(1, 8, 8, 4, 4, 3), rl.gemm(8, 8, 8, batch=2)]
    vector = [rl.axpy(8), rl.dot(8), rl.scale(8), rl.ger(8, 8), rl.gemv(8, 8)]
    vector += [rl.gemv(8, 8, batch=4), rl.elementwise("relu", 8), rl.pool2d(1, 8, 8, 4, 2)]
    assert {op.unit for op in tensor} == {"tensor"}
    assert {op.unit for op in vector} == {"vector"}


def test_names_and_shapes_of_operands():
    op = rl.gemm(2, 3, 5, batch=7, shared=("b",), accumulate=True)
    assert [(o.name, o.shape, o.reads, o.writes) for o in op.operands] == [
        ("a", (7, 2, 5), 1, 0),
        ("b", (5, 3), 1, 0),
        ("c", (7, 2, 3), 1, 1),
    ]
    assert op.batch == 7 and op.shared == ("b",) and op.accumulate
    y = rl.axpy(9).operands[1]
    assert (y.name, y.reads, y.writes, y.nbytes, y.bytes) == ("y", 1, 1, 36, 72)
