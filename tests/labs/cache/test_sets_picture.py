"""Columns in the sets of a cache: what is drawn and said is what the simulator counts."""

from __future__ import annotations

import numpy as np

import rooflab as rl
from rooflab.labs.cache.sets_picture import SETS, SIZES, STOPS, WAYS, column
from tests.support.scenes import texts

L1 = rl.cache.Cache("L1", 32 * 1024, ways=8)


def test_lines_thrown_out_and_misses_of_the_next_column_are_those_of_the_simulator() -> None:
    """Of stores, a line that leaves is written back; the next column is 4 bytes further on."""
    assert (L1.sets, L1.ways) == (SETS, WAYS)
    for size in (*SIZES, 280, 512):
        for rows in STOPS:
            one, first = column(size, rows), 4 * size * np.arange(rows)
            back = rl.cache.simulate(first, L1, writes=np.ones(rows, bool), flush=False)
            both = rl.cache.simulate([*first, *first + 4], L1).traffic("L1")
            assert sum(one.lost) == back.traffic().bytes_out / 64 == rows - sum(one.held)
            assert both.misses == rows + one.misses


def test_of_256_rows_four_sets_keep_32_and_of_its_neighbours_all_stay() -> None:
    picture = rl.cache.sets()
    assert "only 4 of 64 sets: 32 of 256 lines stay, 224 were thrown out" in picture.sentence
    assert texts(picture, "count")[2] == "next column: 256 misses"
    for picture.matrix in (248, 264):
        assert f"all 64 sets: all {picture.matrix} lines stay" in picture.sentence
        assert texts(picture, "count")[1:] == ["thrown out: 0 lines", "next column: 0 misses"]
