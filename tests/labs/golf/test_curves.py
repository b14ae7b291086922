"""The valley of pieces and the scatter of scores: what is drawn is what was measured."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from matplotlib.colors import to_hex

import rooflab as rl
from rooflab.labs.golf import ChunkSweep, golf
from rooflab.show import theme

N = 1 << 16


def f(x, chunk):
    return sum(float((2 * x[i : i + chunk]).sum()) for i in range(0, len(x), chunk))


counted = cache(lambda chunk: golf(lambda x: f(x, chunk), np.ones(N), cache=8192))


def swept(*rows: tuple[int, float]) -> ChunkSweep:
    """Chunk sizes with made-up seconds; bytes as golf counts them with a cache of 8 KiB."""
    chunks, seconds = zip(*rows, strict=True)
    return ChunkSweep(chunks, tuple(map(counted, chunks)), seconds, N)


def lines(figure) -> dict[str, np.ndarray]:
    return {to_hex(line.get_color()): line.get_xydata() for line in figure.axes[0].get_lines()}


VALLEY = ((64, 9e-3), (256, 2e-3), (4096, 5e-3), (N, 6e-3))


def test_the_valley_is_bytes_and_calls_and_what_was_measured() -> None:
    figure = rl.show.pieces(swept(*VALLEY))
    found = lines(figure)
    np.testing.assert_allclose(figure.axes[0].lines[2].get_xydata(), VALLEY)
    bytes_, calls = (found[ink.lower()][:, 1] for ink in (theme.CARRYING, theme.OVERHEAD))
    np.testing.assert_allclose(bytes_, [2e-3, 2e-3, 6e-3, 6e-3], rtol=0.02)  # 8 and 24 a number
    np.testing.assert_allclose(calls, [7e-3, 7e-3 / 4, 7e-3 / 64, 7e-3 / 1024], rtol=0.02)
    assert figure.texts[0].get_text() == "A valley: the best piece has 256 numbers"
    assert "256 numbers: measured 2.00 ms; bytes 2.00 ms, calls 1.75 ms, the best." in figure.words
    assert figure.words.count("the best") == 1


def test_where_the_smallest_or_the_largest_is_best_there_is_no_valley() -> None:
    for rows in ([(64, 1e-3), (N, 2e-3)], [(64, 3e-3), (N, 2e-3)]):
        figure = rl.show.pieces(swept(*rows), unit="rows")
        assert "valley" not in figure.texts[0].get_text()
        assert figure.axes[0].get_xlabel() == "rows in a piece"


ROWS = [("hole 1", 3.0, 0.08), ("hole 1", 1.0, 0.03), ("hole 2", 2.5, 0.01)]


def test_every_program_stands_at_its_score_and_its_time_and_mine_is_in_its_colour() -> None:
    figure = rl.show.scores(ROWS, [("hole 2", 1.5, 0.004)])
    (ax,) = figure.axes
    dots = [tuple(point) for line in ax.get_lines() for point in line.get_xydata()]
    assert sorted(dots) == sorted([(s, t) for _, s, t in [*ROWS, ("hole 2", 1.5, 0.004)]])
    mine = theme.colour("mine")
    (own,) = [line for line in ax.get_lines() if line.get_markerfacecolor() == mine]
    assert tuple(own.get_xydata()[0]) == (1.5, 0.004)
    assert [text.get_text() for text in ax.texts] == ["hole 1", "hole 2", "yours"]
    shapes = {line.get_marker() for line in ax.get_lines()}
    assert len(shapes) == 2 and ax.get_legend() is None
    low, high = ax.get_ylim()
    assert low < 0.004 and high > 0.08
    assert "yours, hole 2: score 1.5, 4.00 ms." in figure.words


def test_without_own_functions_nothing_is_called_yours() -> None:
    assert "yours" not in rl.show.scores(ROWS).words


def test_rows_that_cannot_be_drawn() -> None:
    for rows, named in [
        ([], "rows is empty"), ([("a", 0, 1)], "rows.*above 0"), ([("a", 1)], "rows"),
        ([("a", 1, float("nan"))], "rows"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=named):
            rl.show.scores(rows)


def test_a_sweep_without_times_has_no_valley() -> None:
    with pytest.raises(ValueError, match="timed sweep"):
        rl.show.pieces(ChunkSweep((64, N), swept(*VALLEY).golfs[::3], (), N))
    with pytest.raises(TypeError, match="sweep"):
        rl.show.pieces(3)
