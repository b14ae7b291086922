"""The tables behind a request film: each of their numbers, worked out again one at a time."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.llm.film import words
from rooflab.labs.llm.film.captions import Captions
from rooflab.labs.llm.film.grid import (
    ATTENTION,
    COMPUTE,
    KINDS,
    OTHER,
    WEIGHTS,
    Grid,
    crossing,
    kind_of,
)
from rooflab.labs.llm.film.tables import SCALES, FilmTables
from rooflab.show.rooflines.machine_choices import offers
from rooflab.show.scene import By

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
        whole = steps_of(grid, w, kv, i, j)
        flops, nbytes = 0, 0
        for kind in KINDS:
            row = (w, kv, i, j) if kind is ATTENTION else (w, i)
            mine = grid.steps[kind.name][row]
            flops += sum(s.count * s.op.flops for s in mine)
            nbytes += sum(s.count * s.op.bytes for s in mine)
        assert (flops, nbytes) == (whole.flops, whole.bytes)


def test_intensities_are_flop_over_bytes_of_the_kind(grid):
    for w, kv, i, j in places(grid):
        whole = steps_of(grid, w, kv, i, j)
        for kind in KINDS:
            row = (w, kv, i, j) if kind is ATTENTION else (w, i)
            mine = [s for s in whole.steps if kind_of(s) == kind.name]
            flops = sum(s.count * s.op.flops for s in mine)
            moved = sum(s.count * s.op.bytes for s in mine)
            assert grid.intensities[kind.name][row] == pytest.approx(flops / moved)
    lowest, highest = grid.ends
    everything = np.concatenate([one.ravel() for one in grid.intensities.values()])
    assert lowest == everything.min() > 0 and highest == everything.max()


def test_prompts_and_needs_are_the_models(grid):
    for w, kv, j in np.ndindex(2, 2, 3):
        kinds = KINDS_OF[0][w], KINDS_OF[1][kv], "bf16"
        prompt = grid.model.prefill(1, grid.contexts[j], *kinds)
        assert grid.intensities["prefill"][w, kv, j] == pytest.approx(prompt.intensity)
    for w, kv, i, j in places(grid):
        whole = steps_of(grid, w, kv, i, j)
        need = grid.needs[w, kv, i, j]
        assert need == pytest.approx(whole.memory_bytes, rel=0.01)
        assert need >= whole.memory["weights"] + whole.memory["kv"]


def test_seconds_add_up_to_the_estimate_and_are_missing_where_not_asked(grid):
    each = grid.seconds(H100, [0])
    rest = sum(each[kind.name] for kind in KINDS if kind is not ATTENTION)
    for w, kv, i, j in places(grid):
        total = rest[w, i] + each["attention"][w, kv, i, j]
        if w == 0:
            assert total == pytest.approx(steps_of(grid, w, kv, i, j).seconds(H100))
        else:
            assert math.isnan(total)


def test_what_is_shown_at_a_place_is_the_step_there(grid):
    tables = FilmTables(grid, offers([H100]))
    captions, parts = Captions(tables), tables.parts
    for i, j in np.ndindex(2, 3):
        at, whole = (0, 1, i, j), steps_of(grid, 0, 1, i, j)
        shown = sum(parts[part][0, 0, i] for part in (WEIGHTS, COMPUTE, OTHER))
        shown += sum(one[(0, *at)] for one in tables.attention.values())
        assert shown == pytest.approx(whole.seconds(H100))
        assert tables.total[(0, *at)] == pytest.approx(whole.seconds(H100))
        assert captions.total.values[(0, *at)] == rl.si(whole.seconds(H100), "s")
        assert captions.moved.values[at] == rl.si(whole.bytes, "B")
        assert captions.rate.values[(0, *at)] == words.rate(whole.tokens_per_s(H100))
        assert (tables.fits[(0, *at)] == 2) == whole.fits(H100)


def test_what_is_beyond_training_is_said(grid):
    said = Captions(FilmTables(grid, offers([H100]))).sentence.holes["beyond"]
    assert isinstance(said, By)
    for context, text in zip(grid.contexts, said.values, strict=True):
        assert ("was trained on" in text) is (context > grid.model.context)


def test_a_kind_computes_where_its_intensity_reaches_the_ridge(grid):
    tables = FilmTables(grid, offers([H100]))
    for kind in KINDS:
        x, rates = tables.intensity(kind), tables.on_roof(kind)[0]
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


def test_a_ticks_words_are_its_place():
    for scale in SCALES:
        sizes = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3}
        for seconds, label in scale.ticks[1:]:
            number, prefix = re.fullmatch(r"([\d.]+) (\D?)s", label).groups()
            assert float(number) * sizes[prefix] == pytest.approx(seconds)
        ticks = [seconds for seconds, _ in scale.ticks]
        assert ticks == sorted(set(ticks)) and ticks[0] == 0 and ticks[-1] <= scale.top
        assert np.diff(ticks) == pytest.approx([ticks[1]] * (len(ticks) - 1)), "all as far apart"


@settings(max_examples=50)
@given(st.floats(1e-3, 1e7))
def test_a_rate_is_told_in_three_digits(value):
    number, unit = words.rate(value).rsplit(" ", 1)
    assert unit == "tokens/s"
    assert float(number.replace("\u202f", "")) == pytest.approx(value, rel=5.1e-3)


def test_the_sentences_of_a_crossing():
    narrow = "\u202f"  # a space that does not break, between thousands
    assert f" Up to a context of 131{narrow}072 attention" in words.crossing(math.inf, 131072)
    assert "at every context here" in words.crossing(0, 131072)
    assert f" From a context of 25{narrow}700 on," in words.crossing(25_731.4, 131072)
    said = words.measured(2e-2, 1e-2, 1025, 50.0)
    assert said == (
        " Measured at context 1025: 20.0 ms a step, 50.0 tokens/s, ×2 the estimate of 10.0 ms."
    )
