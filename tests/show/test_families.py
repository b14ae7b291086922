"""What a batch does to the three operations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show.rooflines.tables import FAMILIES, batches, families, sizes

N = st.integers(1, 4096)
BATCH = st.integers(1, 512)


@given(N, BATCH)
def test_gemv_with_a_batch_is_a_matrix_product(n: int, batch: int) -> None:
    op, product = FAMILIES["gemv"].build(n, batch, "fp32"), rl.gemm(n, batch, n)
    assert (op.flops, op.bytes) == (product.flops, product.bytes)


@given(N, BATCH, st.sampled_from(["axpy", "gemm"]))
def test_separate_problems_stay_put(n: int, batch: int, name: str) -> None:
    one, many = (FAMILIES[name].build(n, b, "fp64") for b in (1, batch))
    assert many.intensity == one.intensity
    assert many.flops == batch * one.flops and many.bytes == batch * one.bytes


@given(N, BATCH, st.sampled_from(sorted(FAMILIES)))
def test_the_box_holds_the_multiply_adds(n: int, batch: int, name: str) -> None:
    family = FAMILIES[name]
    m, across, k = family.edges(n, batch)
    boxes = 1 if family.spread else batch
    assert 2 * m * across * k * boxes == family.build(n, batch, "fp32").flops


@given(N)
def test_a_product_is_painted_as_much_as_it_moves(n: int) -> None:
    for name in ("gemv", "gemm"):
        family = FAMILIES[name]
        m, across, k = family.edges(n, 1)
        assert 4 * (m * k + k * across + m * across) == family.build(n, 1, "fp32").bytes


def test_only_gemv_walks() -> None:
    assert [name for name, family in FAMILIES.items() if family.spread] == ["gemv"]


def test_axpy_moves_as_much_as_the_matrix() -> None:
    assert FAMILIES["axpy"].build(1024, 1, "fp32").dims["n"] == 1024**2


def test_sliders() -> None:
    assert sizes()[0] == 64 and sizes()[-1] == 16384 and {64, 1024, 4096} <= set(sizes())
    assert list(sizes()) == sorted(set(sizes()))
    assert batches(64) == (1, 2, 4, 8, 16, 32, 64)


def test_bad_names() -> None:
    with pytest.raises(ValueError, match="ops='gem' is unknown; did you mean 'gemv' or 'gemm'"):
        families(["gem"])
    with pytest.raises(ValueError, match="ops=.*is empty"):
        families([])
    assert [f.name for f in families("gemv")] == ["gemv"]
