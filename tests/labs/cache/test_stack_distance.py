"""Caches that replace the least recently used line: Mattson's stack, and the smallest one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.cache import Cache, gemm_stream, simulate, smallest_cache, tile_ledger
from rooflab.labs.loops.nest import Nest
from tests.support.rows import each_row


def mattson(trace: list[int]) -> list[int]:
    """The definition: where each line stands in a stack of those used last."""
    stack: list[int] = []
    found = []
    for line in trace:
        found.append(stack.index(line) if line in stack else -1)
        stack = [line, *(other for other in stack if other != line)]
    return found


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=200))
def test_misses_of_every_capacity(trace: list[int]) -> None:
    depths = mattson(trace)
    for lines in range(1, len(set(trace)) + 1):
        ledger = simulate(np.array(trace) * 64, Cache("L1", 64 * lines))
        assert ledger.traffic().misses == sum(not 0 <= depth < lines for depth in depths)


def test_a_cache_is_the_smallest_that_fetches_no_more_than_the_formula() -> None:
    stencil = Nest(
        {"i": (1, 29), "j": (1, 39)}, "B[i,j] = A[i-1,j] + A[i,j-1] + A[i,j] + A[i,j+1] + A[i+1,j]"
    )
    for stream, depth in ((gemm_stream(24, 24, 24, tile=7), 3), (stencil.stream(), 1)):
        goal = sum(moved.bytes_in for moved in tile_ledger(stream, depth).values())
        least = smallest_cache(stream, depth)
        fetched = [
            simulate(stream, Cache("L1", size, line=4)).traffic().bytes_in
            for size in (least - 4, least)
        ]
        assert fetched[0] > goal >= fetched[1]


@each_row(5, 10, 20)
def test_three_tiles_are_not_enough(b: int) -> None:
    """4b² + b words with k innermost: B's last tile is still there while the next one comes in."""
    assert smallest_cache(gemm_stream(60, 60, 60, tile=b), 3) == 4 * (4 * b * b + b)
    outer = gemm_stream(60, 60, 60, tile=b, order="kij")
    assert smallest_cache(outer, 3) == 4 * (b * b + 3 * b + 1)


def test_the_traffic_at_three_and_at_five_squares():
    """×1.8 at 3b², the condition of the textbooks; exactly the formula's at 5.2b²."""
    stream = gemm_stream(100, 100, 100, tile=10)
    formula = sum(moved.bytes for moved in tile_ledger(stream, 3).values())
    assert formula == 880_000
    found = {
        words: simulate(stream, Cache("L1", 4 * words, line=4)).bytes() / formula
        for words in (300, 409, 410, 520)
    }
    assert found[300] == pytest.approx(1.80, abs=0.005)
    assert found[409] > 1.5
    assert found[410] == found[520] == 1.0
