"""Stack distances: Mattson's stack, and caches of every capacity simulated one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.cache import Cache, gemm_stream, simulate, smallest_cache, tile_ledger
from rooflab.labs.cache.formula import lines_of, miss_curve, stack_distance
from rooflab.labs.loops.nest import Nest
from tests.support.rows import each_row

TRACES = st.lists(st.integers(0, 30), min_size=1, max_size=200)
QUICK = settings(max_examples=40, deadline=None)


def mattson(trace: list[int]) -> list[int]:
    """The definition: where each line stands in a stack of those used last."""
    stack: list[int] = []
    found = []
    for line in trace:
        found.append(stack.index(line) if line in stack else -1)
        stack = [line, *(other for other in stack if other != line)]
    return found


@QUICK
@given(TRACES)
def test_the_depth_in_a_stack_of_lines(trace: list[int]) -> None:
    assert stack_distance(np.array(trace)).tolist() == mattson(trace)


@QUICK
@given(TRACES)
def test_misses_of_every_capacity(trace: list[int]) -> None:
    curve = miss_curve(np.array(trace))
    assert curve[0] == len(trace)
    assert curve[-1] == len(set(trace)) == curve.size - 1
    for lines in range(1, curve.size):
        ledger = simulate(np.array(trace) * 64, Cache("L1", 64 * lines))
        assert ledger.traffic().misses == curve[lines]


def test_a_larger_cache_never_misses_more():
    """Replacing the least recently used has the inclusion property; other rules have not."""
    curve = miss_curve(lines_of(gemm_stream(30, 20, 25, tile=(8, 8, 8)), line=64))
    assert (np.diff(curve) <= 0).all()


def test_a_nest_through_caches_of_some_capacities() -> None:
    stencil = Nest(
        {"i": (1, 29), "j": (1, 39)}, "B[i,j] = A[i-1,j] + A[i,j-1] + A[i,j] + A[i,j+1] + A[i+1,j]"
    )
    for stream in (gemm_stream(24, 24, 24, tile=7), stencil.stream()):
        for line in (4, 64):
            curve = miss_curve(lines_of(stream, line))
            for lines in (1, 2, 5, 13, 40, 64):
                if lines < curve.size:
                    ledger = simulate(stream, Cache("L1", line * lines, line=line))
                    assert ledger.traffic().misses == curve[lines], (line, lines)


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
