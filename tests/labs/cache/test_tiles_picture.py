"""The tiles in motion: what is tinted and what is said is what the simulator counts."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.cache.tiles_picture import MOMENTS, film

N, WORDS = 8, 32


def whole(side: int) -> rl.cache.Ledger:
    tile, order = (None, "ijk") if side == 1 else (side, "kij")
    stream = rl.cache.gemm_stream(N, N, N, tile=tile, order=order)
    return rl.cache.simulate(stream, rl.cache.Cache("L1", 4 * WORDS, line=4))


def test_at_its_end_a_film_has_moved_what_the_whole_nest_moves() -> None:
    for side in [1, 2, 4, 8]:
        moments = film(N, WORDS, side)
        assert moments[-1].moved == whole(side).bytes()
        assert [moment.done for moment in moments] == [N**3 * at // MOMENTS for at in range(33)]
        assert (np.diff([moment.moved for moment in moments]) >= 0).all()


def test_no_more_words_are_tinted_than_the_cache_holds() -> None:
    for side in [1, 2, 4, 8]:
        held = [len(moment.held) for moment in film(N, WORDS, side)]
        assert held[0] == 0
        assert max(held) == WORDS


def test_a_tile_that_fits_stays_and_its_point_lies_furthest_right() -> None:
    """4×4 needs b² + 3b + 1 = 29 words of 32; 8×8 needs 89, and is worse than no tiles."""
    ends = {side: film(N, WORDS, side)[-1].moved for side in (1, 2, 4, 8)}
    assert sorted(ends, key=ends.__getitem__) == [4, 2, 1, 8]
    assert ends[4] == 4 * (2 * N**3 // 4 + 2 * N**2)


def test_refused_with_a_reason() -> None:
    for wrong, said in [
        ({"n": 3}, "n=3 must be an integer, 4 or more"), ({"n": 32}, "n=32 must be at most 16"),
        ({"words": 0}, "words=0 must be a positive"),
        ({"sides": (1, 3)}, "3 does not divide n=8"), ({"sides": (4,)}, "must be two or more"),
        ({"sides": (0, 4)}, "sides\\[0\\]=0 must be"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=said):
            rl.cache.tiles(**wrong)
