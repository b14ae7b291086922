"""Every kernel gives Wx of the weights that it stores, whatever their shape and group."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import rooflab as rl
from rooflab.labs.sparse import kernels

sparse = rl.sparse


def agree(y, w, x):
    """Equal to the product in fp64, to fp32's rounding of its terms."""
    assert y.dtype == np.float32
    w, x = w.astype(np.float64), x.astype(np.float64)
    terms = np.sqrt((w**2).sum(axis=1) * (x**2).sum())
    assert (abs(y - w @ x) <= 16 * 2.0**-24 * np.sqrt(x.size) * terms + 1e-30).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(1, 700), st.integers(1, 150), st.integers(0, 99))
def test_products_are_those_of_what_is_stored(m, k, half, seed):
    random = np.random.default_rng(seed)
    w, x = random.normal(size=(m, k)).astype(np.float32), random.normal(size=k).astype(np.float32)
    w[random.random((m, k)) < random.choice([0, 0.5, 0.99])] = 0
    agree(sparse.gemv_dense(w, x), w, x)
    for bits, gemv in ((8, sparse.gemv_int8), (4, sparse.gemv_int4)):
        q = sparse.quantise_weights(w, bits, 2 * half)
        y, right = gemv(q, x), q.unpack().astype(np.float64) @ x
        scales = np.repeat(q.scales.astype(float), min(q.group, k), axis=1)[:, :k]
        size = (scales * {8: 128, 4: 16}[bits]) @ abs(x)  # what is summed before it cancels
        assert (abs(y - right) <= 4 * 2.0**-24 * np.sqrt(k) * size + 1e-30).all(), bits
    if k % 4 == 0:
        p = sparse.pack(sparse.prune(w))
        agree(sparse.gemv_24(p, x), p.unpack(), x)


def test_a_single_bit_of_a_format_reaches_its_place():
    """Each value of 4 bits at each place of a group, each pair of positions of 2:4."""
    for k, group in ((16, 16), (12, 8), (7, 4), (1, 128)):
        x = np.arange(1, k + 1, dtype=np.float32) ** 2
        for place in range(k):
            w = np.zeros((15, k), np.float32)
            w[:, place] = np.arange(-7, 8)
            q = sparse.quantise_weights(np.vstack([w, np.where(w == 0, 7, w)[:1]]), 4, group)
            np.testing.assert_allclose(sparse.gemv_int4(q, x), q.unpack() @ x, atol=2e-3)
    for k in (4, 8, 12, 260, 516):
        x = np.arange(1, k + 1, dtype=np.float32)
        rows = [(at + a, at + b) for at in range(0, k, 4) for a in range(4) for b in range(a)]
        w = np.zeros((len(rows), k), np.float32)
        for row, (a, b) in zip(w, rows):
            row[a], row[b] = 3, -2
        y = sparse.gemv_24(sparse.pack(w), x)
        np.testing.assert_array_equal(y, [3 * x[a] - 2 * x[b] for a, b in rows])


def test_zeros_give_zeros_and_rows_need_not_lie_together():
    x = np.ones(8, np.float32)
    zeros = np.zeros((2, 8), np.float32)
    for w in (zeros, sparse.quantise_weights(zeros, 8), sparse.quantise_weights(zeros, 4)):
        assert sparse.gemv_dense(w, x).tolist() == [0, 0]
    assert sparse.gemv_24(sparse.pack(zeros), x).tolist() == [0, 0]
    wide = np.arange(32, dtype=np.float32).reshape(4, 8)
    np.testing.assert_array_equal(sparse.gemv_dense(wide.T, wide[:, 0]), wide.T @ wide[:, 0])


def test_the_inner_loops_are_vectors():
    """On x86 with AVX: multiply-adds of eight numbers at a time, and requests ahead of them."""
    for kernel in (kernels.grouped, kernels.int4, kernels.packed):
        options = {k: v for k, v in kernel.targetoptions.items() if k not in ("cache", "nopython")}
        compiled = njit(kernel.signatures[0], **options)(kernel.py_func)  # a cached one has no text
        (listing,) = compiled.inspect_asm().values()
        if "%ymm" in listing:
            assert re.search(r"vfmadd\d+ps.*%[yz]mm", listing), kernel
            assert "prefetcht0" in listing and "gather" not in listing, kernel


def test_bad_input_is_named():
    w, x = np.ones((2, 8), np.float32), np.ones(8, np.float32)
    q, bad = sparse.quantise_weights(w, 8), np.where(np.arange(8) == 3, np.inf, 1)
    for kind, message, call in (
        (
            TypeError,
            "w is float64; it must be .* float32",
            lambda: sparse.gemv_dense(w.astype("d"), x),
        ),
        (TypeError, "w is list", lambda: sparse.gemv_int8([[1.0]], x)),
        (TypeError, "w is float16", lambda: sparse.gemv_24(sparse.pack(0 * w.astype("e")), x)),
        (ValueError, r"w has shape \(0, 8\)", lambda: sparse.gemv_dense(w[:0], x)),
        (ValueError, r"w has shape \(8,\)", lambda: sparse.gemv_dense(x, x)),
        (ValueError, r"x has shape \(2, 8\)", lambda: sparse.gemv_dense(w, w)),
        (ValueError, "x has 7 numbers; it must have 8", lambda: sparse.gemv_int8(q, x[:7])),
        (TypeError, "x is float64", lambda: sparse.gemv_int8(q, bad)),
        (ValueError, r"x\[3\] is inf", lambda: sparse.gemv_int8(q, bad.astype("f"))),
    ):
        with pytest.raises(kind, match=message):
            call()
