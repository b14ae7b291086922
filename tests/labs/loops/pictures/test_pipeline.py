"""Sums under way: latency × units of them leave a vector unit no hole (Little's law)."""

from __future__ import annotations

import itertools

import numpy as np

import rooflab as rl
from rooflab.labs.loops.pictures.pipeline import CYCLES, LATENCY, SUMS, UNITS, schedule
from tests.support.scenes import seen, texts


def test_a_multiply_add_begins_in_each_cycle_with_latency_times_units_sums() -> None:
    """The rate is sums ÷ latency until every unit is busy, as drawn and as written."""
    picture = rl.loops.pipeline()
    for picture.sums, picture.units in itertools.product(SUMS, UNITS):
        rate = min(picture.sums / LATENCY, picture.units)
        drawn, holes = seen(picture), rate < picture.units
        assert drawn.count("full") == drawn.count("begins") == rate * CYCLES
        assert texts(picture, "rate") == [f"{rate:g} of {picture.units}"]
        assert holes == (picture.sums < LATENCY * picture.units)
        assert holes == ("idles" in picture.sentence or "empty" in picture.sentence)


def test_no_result_is_used_before_it_is_there_and_no_unit_begins_two_at_once() -> None:
    for sums, units in itertools.product(SUMS, UNITS):
        begins = np.array(schedule(sums, units))
        assert not (np.diff(begins) < LATENCY).any()
        assert max((begins == cycle).sum() for cycle in range(CYCLES)) <= units
