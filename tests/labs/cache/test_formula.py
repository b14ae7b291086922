"""The ledger of a tiled nest as a formula, against the textbook and the simulator; and bounds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.cache import Cache, gemm_bounds, gemm_stream, simulate, tile_ledger
from rooflab.labs.loops.nest import Nest
from tests.support.rows import each_row

SIDE = st.integers(1, 12)
LARGE = Cache("L1", 1 << 20, line=4)
GEMV = Nest({"i": 30, "j": 40}, "y[i] += A[i,j] * x[j]")
STENCIL = "B[i,j] = A[i-1,j] + A[i,j-1] + A[i,j] + A[i,j+1] + A[i+1,j]"
NESTS = [
    gemm_stream(20, 30, 40), gemm_stream(20, 30, 40, tile=(7, 8, 9)),
    gemm_stream(20, 30, 40, tile=10, c="tile"), GEMV.stream(), GEMV.reorder("j", "i").stream(),
    Nest({"i": 999}, "y[i] = x0[i] + x1[i] + x2[i]").stream(),
    Nest({"i": (1, 19), "j": (1, 29)}, STENCIL).stream(),
    Nest({"i": 30, "j": 50}, "B[j,i] = A[i,j]").tile({"i": 16, "j": 16}).stream(),
]  # fmt: skip


def test_the_textbooks_ledger_of_a_tiled_product():
    """A n/tn times, B m/tm times, C once: 4 bytes each."""
    found = tile_ledger(gemm_stream(60, 80, 90, tile=(20, 16, 30)), 3)
    assert found["A"].bytes == 4 * 60 * 90 * (80 // 16)
    assert found["B"].bytes == 4 * 90 * 80 * (60 // 20)
    assert (found["C"].bytes_in, found["C"].bytes_out) == (4 * 60 * 80, 4 * 60 * 80)


@each_row(
    ("ijk", (5, 3, 1)), ("jik", (5, 3, 1)), ("ikj", (1, 3, 3)), ("kij", (1, 3, 3)),
    ("jki", (5, 1, 3)), ("kji", (5, 1, 3))
)  # fmt: skip
def test_the_innermost_loop_over_tiles_decides_what_stays(order, times):
    """An operand that it does not move is loaded once for all of its turns."""
    m, n, k = 60, 80, 90
    found = tile_ledger(gemm_stream(m, n, k, tile=(20, 16, 30), tile_order=order), 3)
    assert [found[name].bytes_in for name in "ABC"] == [
        4 * size * count for size, count in zip((m * k, k * n, m * n), times, strict=True)
    ]


def test_a_tile_as_long_as_its_loops_stays():
    found = tile_ledger(gemm_stream(25, 9, 3, tile=(10, 9, 3), tile_order="jik"), 3)
    assert found["B"].bytes_in == 3 * 9 * 4


def test_a_tile_that_does_not_divide_costs_no_padding():
    """100 in tiles of 16: seven times each of A and B, of 100×100 and not of 112×112."""
    found = tile_ledger(gemm_stream(100, 100, 100, tile=16), 3)
    assert [found[name].bytes_in for name in "ABC"] == [280_000, 280_000, 40_000]


@given(SIDE, SIDE, SIDE, st.integers(1, 12), st.sampled_from(["ijk", "kij", "jki"]))
@settings(max_examples=30, deadline=None)
def test_a_cache_for_everything_moves_every_operand_once(m, n, k, tile, order):
    stream = gemm_stream(m, n, k, tile=min(tile, m, n, k), order=order)
    once = tile_ledger(stream, 0)
    assert {name: moved.bytes for name, moved in once.items()} == {
        "A": 4 * m * k, "B": 4 * k * n, "C": 8 * m * n,
    }  # fmt: skip
    assert simulate(stream, LARGE).bytes() == sum(moved.bytes for moved in once.values())


def test_the_compulsory_traffic_of_every_nest():
    for stream in NESTS:
        ledger, once = simulate(stream, LARGE), tile_ledger(stream, 0)
        for name, moved in once.items():
            assert ledger.traffic("L1", name).bytes_in == moved.bytes_in, stream
            assert ledger.traffic("L1", name).bytes_out == moved.bytes_out, stream


# Lower bounds


@given(
    st.integers(4, 16), st.integers(4, 16), st.integers(4, 16),
    st.integers(1, 16), st.sampled_from(["ijk", "kij", "ikj"]), st.integers(4, 200),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_no_tile_and_no_order_goes_below_a_bound(m, n, k, tile, order, words):
    stream = gemm_stream(m, n, k, tile=min(tile, m, n, k), order=order)
    seen = simulate(stream, Cache("L1", 4 * words, line=4)).traffic()
    for bound in gemm_bounds(m, n, k, 4 * words):
        assert (seen.bytes_in if bound.counts == "read" else seen.bytes) >= bound.bytes


def test_the_published_constants():
    m = n = k = 1000
    words = 10_000
    found = {bound.name: bound.bytes / 8 for bound in gemm_bounds(m, n, k, 8 * words, "fp64")}
    assert found["Smith et al. 2017"] == 2 * 1e9 / 100 - 2 * words
    assert found["Kwasniewski et al. 2019"] == 2 * 1e9 / 100 + 1e6
    assert found["Irony, Toledo, Tiskin 2004"] == pytest.approx(
        1e9 / (2 * math.sqrt(2) * 100) - words
    )


def test_tall_tiles_of_c_come_near_the_bound():
    """A tile of C of nearly all words, and a column of A and a row of B: 2mnk/√S."""
    b, n = 15, 90
    stream = gemm_stream(n, n, n, tile=(b, b, n), order="kij")
    words = b * b + 3 * b + 1
    ledger = simulate(stream, Cache("L1", 4 * words, line=4))
    assert ledger.traffic().bytes_in < 1.2 * gemm_bounds(n, n, n, 4 * words)[-1].bytes


def test_a_cache_for_all_leaves_only_each_operand_once():
    assert [bound.name for bound in gemm_bounds(50, 50, 50, 1 << 20)] == ["every operand once"]
