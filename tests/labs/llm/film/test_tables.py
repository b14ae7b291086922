"""The tables behind a request film: each of their numbers, worked out again one at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.llm.film import captions as words
from rooflab.labs.llm.film.grid import ATTENTION, KINDS, Grid, TimedRun, kind_of
from rooflab.labs.llm.film.tables import FilmTables, crossing
from rooflab.show.rooflines.machine_choices import offers

NAMES = ["llama-3-8b", "mixtral-8x7b", "deepseek-v2-lite"]
H100 = rl.machine("h100-sxm")
KINDS_OF = ("bf16", "int8"), ("bf16", "fp8")


def grid_of(name: str) -> Grid:
    weights, kvs = (tuple(map(rl.dtype, names)) for names in KINDS_OF)
    return Grid(rl.model(name), weights, kvs, batches=(1, 7), contexts=(32, 100, 5000))


@pytest.fixture(scope="module", params=NAMES)
def grid(request) -> Grid:
    return grid_of(request.param)


def steps_of(grid: Grid, w: int, kv: int, i: int, j: int):
    """The decode step at four places, made by the model alone; the film computes in 16 bits."""
    kinds = KINDS_OF[0][w], KINDS_OF[1][kv], "bf16"
    return grid.model.decode(grid.batches[i], grid.contexts[j], *kinds)


def places(grid: Grid) -> list[tuple[int, int, int, int]]:
    return list(np.ndindex(2, 2, len(grid.batches), len(grid.contexts)))


def test_every_operation_has_one_kind_and_all_of_them_are_there(grid):
    for w, kv, i, j in places(grid):
        whole, every = steps_of(grid, w, kv, i, j), []
        for kind in KINDS:
            row = (w, kv, i, j) if kind is ATTENTION else (w, i)
            mine = [step for step in whole.steps if kind_of(step) == kind.name]
            flops = sum(step.count * step.op.flops for step in mine)
            moved = sum(step.count * step.op.bytes for step in mine)
            every.append(grid.traffic[kind.name][row])
            assert every[-1].tolist() == [flops, moved]
            assert grid.intensities[kind.name][row] == pytest.approx(flops / moved)
        assert sum(every).tolist() == [whole.flops, whole.bytes]
    intensities = np.concatenate([one.ravel() for one in grid.intensities.values()])
    assert grid.ends == (intensities.min(), intensities.max())


def test_a_kind_computes_where_its_intensity_reaches_the_ridge(grid):
    tables = FilmTables(grid, offers([H100]))
    for kind in KINDS:
        x, rates = grid.intensities[kind.name], tables.on_roof(kind)[0]
        for place in np.ndindex(x.shape):
            ridge, peak = tables.ridge[0, place[0]], tables.roofs[1][0, place[0]]
            assert tables.computes(kind)[(0, *place)] == (x[place] >= ridge)
            assert (rates[place] == peak) == (x[place] >= ridge)


RISING = st.lists(st.floats(0.01, 100), min_size=2, max_size=8).map(
    lambda gaps: list(np.cumsum(gaps))
)


@given(RISING, st.floats(0.001, 1000))
def test_a_crossing_lies_where_the_line_reaches_the_rest(times, rest):
    contexts = [10 * n for n in range(1, len(times) + 1)]
    found = crossing(contexts, np.array(times), rest)
    if found == math.inf:
        assert rest > times[-1]
    elif found == 0:
        assert rest <= times[0]
    else:
        assert contexts[0] <= found <= contexts[-1]
        assert np.interp(found, contexts, times) == pytest.approx(rest)


def test_the_sentences_of_a_crossing():
    narrow = "\u202f"  # a space that does not break, between thousands
    assert f" Up to a context of 131{narrow}072 attention" in words.crossing(
        math.inf, f"131{narrow}072"
    )
    assert "at every context here" in words.crossing(0, "")
    assert f" From a context of 25{narrow}700 on," in words.crossing(25_731.4, "")
    said = words.measured(TimedRun((0, 0, 0), 1025, 2e-2, 1e-2, 50.0, {}))
    assert said == (
        " Measured at context 1025: 20.0 ms a step, 50.0 tokens/s, ×2 the estimate of 10.0 ms."
    )
