"""The tiles in motion: what is tinted and what is said is what the simulator counts."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.cache.tiles_picture import MOMENTS, ORDERS, accesses, film

N, WORDS = 8, 32


def nest(side: int, inside: str) -> rl.cache.AccessStream:
    tile, order = (None, "ijk") if side == 1 else (side, inside)
    return rl.cache.gemm_stream(N, N, N, tile=tile, order=order, bases=[0, 4 * N * N, 8 * N * N])


@pytest.mark.parametrize("inside", ORDERS)
@pytest.mark.parametrize("side", [1, 2, 4, 8])
def test_a_film_is_what_a_queue_does_that_throws_out_what_was_touched_longest_ago(
    side: int, inside: str
) -> None:
    stream = nest(side, inside)
    queue: list[int] = []
    done, expected = 0, [([], 0)]
    for one, address, _ in accesses(stream):
        word = address // 4
        queue = [word, *(held for held in queue if held != word)][:WORDS]
        done += one.array == "B"
        if one.array == "B" and done % (N**3 // MOMENTS) == 0:
            expected.append((queue, done))
    moments = film(N, WORDS, side, inside)
    expected[-1] = queue, done
    assert [([*moment.queue], moment.done) for moment in moments] == expected
    for before, moment in zip(moments, moments[1:]):
        assert {*moment.queue[moment.new]} == {*moment.queue} - {*before.queue}
    ledger = rl.cache.simulate(stream, rl.cache.Cache("L1", 4 * WORDS, line=4))
    assert moments[-1].moved == ledger.bytes()
    assert (np.diff([moment.moved for moment in moments]) >= 0).all()


def test_a_tile_that_fits_stays_and_its_point_lies_furthest_right() -> None:
    """4×4 needs b² + 3b + 1 = 29 words of 32; 8×8 needs 89, and is worse than no tiles."""
    ends = {side: film(N, WORDS, side)[-1].moved for side in (1, 2, 4, 8)}
    assert sorted(ends, key=ends.__getitem__) == [4, 2, 1, 8]
    assert ends[4] == 4 * (2 * N**3 // 4 + 2 * N**2)
    assert film(N, WORDS, 4, "ijk")[-1].moved > ends[4]  # k innermost needs 68 words
    assert film(N, 68, 4, "ijk")[-1].moved == ends[4]


def test_refused_with_a_reason() -> None:
    for wrong, said in [
        ({"n": 3}, "n=3 must be an integer, 4 or more"), ({"n": 32}, "even number of at most 16"),
        ({"n": 5}, "n=5 must be an even number"), ({"words": 0}, "words=0 must be a positive"),
        ({"words": 65}, "words=65 must be at most 64"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=said):
            rl.cache.tiles(**wrong)
