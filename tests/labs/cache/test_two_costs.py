"""Two costs of a program: found again where we put them, and refused where nothing can be found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from tests.support.rows import each_row

SIZES = (160, 240, 320, 400)
L1 = rl.cache.Cache("L1", 48 * 1024, ways=12)


def simulated(n: int) -> float:
    """Bytes of the first cache for the textbook's product."""
    return rl.cache.simulate(rl.cache.gemm_stream(4, n, n), L1).bytes() * n / 4


@given(turn=st.floats(1e-11, 1e-8), byte=st.floats(1e-13, 1e-10))
def test_costs_are_found_again(turn, byte):
    turns, moved = [n**3 for n in SIZES], [2.0 * n**3 * (1 + n % 3) for n in SIZES]
    seconds = [turn * a + byte * b for a, b in zip(turns, moved)]
    found = rl.cache.turn_cost(turns, moved, seconds)
    assert found.turn_s == pytest.approx(turn, rel=1e-6)
    assert found.byte_s == pytest.approx(byte, rel=1e-6)
    assert found.seconds(turns[0], moved[0]) == pytest.approx(seconds[0], rel=1e-9)


def test_a_cost_that_would_be_negative_is_none():
    found = rl.cache.turn_cost([1e6, 1e6], [1e6, 2e6], [2e-3, 1e-3])
    assert found.byte_s == 0 and found.turn_s > 0


def test_the_sizes_of_the_lesson_have_different_bytes_for_a_turn():
    """A column of 320 rows of 1280 bytes falls into a quarter of the sets: 192 lines stay."""
    each = {n: simulated(n) / n**3 for n in (240, 320)}
    assert each[240] < 6 and each[320] > 60


def test_the_bytes_of_a_few_rows_are_those_of_all():
    whole = rl.cache.simulate(rl.cache.gemm_stream(160, 160, 160), L1).bytes()
    assert simulated(160) == pytest.approx(whole, rel=0.05)


@each_row(
    (([1], [1], [1]), "1 turns, 1 moved, 1 seconds"),
    (([1, 2], [1], [1, 2]), "as many of each"),
    (([1, 2], [1, 2], [1, 0]), "seconds=0"),
    (([1, float("nan")], [1, 2], [1, 2]), "turns=nan"),
)
def test_what_tells_nothing_is_refused(given_, words):
    with pytest.raises(ValueError, match=words):
        rl.cache.turn_cost(*given_)
