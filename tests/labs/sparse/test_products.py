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


def agree(y, w, x, sizes):
    """Equal to the product in fp64, to fp32's rounding of terms of these ``sizes``."""
    assert y.dtype == np.float32
    room = 8 * 2.0**-24 * np.sqrt(x.size) * (sizes.astype(float) @ abs(x)) + 1e-30
    assert (abs(y - w.astype(float) @ x) <= room).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(1, 700), st.integers(1, 150), st.integers(0, 99))
def test_products_are_those_of_what_is_stored(m, k, half, seed):
    random = np.random.default_rng(seed)
    w, x = random.normal(size=(m, k)).astype(np.float32), random.normal(size=k).astype(np.float32)
    w[random.random((m, k)) < random.choice([0, 0.5, 0.99])] = 0
    agree(sparse.gemv(w, x), w, x, abs(w))
    for bits in (8, 4):
        q = sparse.quantise_weights(w, bits, 2 * half)
        scales = np.repeat(q.scales.astype(float), min(q.group, k), axis=1)[:, :k]
        summed = scales * 2**bits  # before it cancels
        agree(sparse.gemv(q, x), q.unpack(), x, summed)
    p = sparse.pack(sparse.prune(np.resize(w, (m, 4 * k))))
    agree(sparse.gemv(p, np.resize(x, 4 * k)), p.unpack(), np.resize(x, 4 * k), abs(p.unpack()))


def test_integers_give_exact_products_at_every_place():
    """Four bits in groups of any size, each pair of positions of 2:4, a transposed matrix."""
    random = np.random.default_rng(3)
    for k, group in ((16, 16), (12, 8), (7, 4), (300, 128), (1, 2)):
        w, x = (random.integers(-7, 8, size=s).astype(np.float32) for s in ((40, k), k))
        w[:, ::group] = 7  # scales of 1
        q = sparse.quantise_weights(w, 4, group)
        np.testing.assert_array_equal(q.unpack(), w)
        np.testing.assert_array_equal(sparse.gemv(q, x), w @ x)
        np.testing.assert_array_equal(sparse.gemv(np.asfortranarray(w), x), w @ x)
    for k in (4, 8, 12, 260, 516):
        x = np.arange(1, k + 1, dtype=np.float32)
        rows = [(at + a, at + b) for at in range(0, k, 4) for a in range(4) for b in range(a)]
        w = np.zeros((len(rows) + 1, k), np.float32)
        for row, (a, b) in zip(w, rows):
            row[a], row[b] = 3, -2
        np.testing.assert_array_equal(sparse.gemv(sparse.pack(w), x), w @ x)


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
        (TypeError, "w is float64; .* float32", lambda: sparse.gemv(w.astype("d"), x)),
        (TypeError, "w is float16", lambda: sparse.gemv(sparse.pack(0 * w.astype("e")), x)),
        (ValueError, r"w has shape \(0, 8\)", lambda: sparse.gemv(w[:0], x)),
        (ValueError, "x has 7 numbers; it must have 8", lambda: sparse.gemv(q, x[:7])),
        (TypeError, "x is float64", lambda: sparse.gemv(q, bad)),
        (ValueError, r"x\[3\] is inf", lambda: sparse.gemv(q, bad.astype("f"))),
    ):
        with pytest.raises(kind, match=message):
            call()
