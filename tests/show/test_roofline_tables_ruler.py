"""A ruler read in the browser says what Python's own formatting says."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rooflab.count.si import percent, si, times
from rooflab.show import roofline_tables as tables


def read(table: dict, decades: float) -> str:
    """The browser's read() of reading.js, step by step."""
    marks = np.frombuffer(table["marks"], "<f4")
    decade = math.floor(decades)
    row = int(np.searchsorted(marks, decades - decade, side="right"))
    if row == len(marks):
        decade, row = decade + 1, 0
    period = len(table["labels"]) // len(marks)
    place = decade - table["lo"]
    turn, within = divmod(place, period)
    return table["labels"][within * len(marks) + row] + table["suffixes"][turn]


def away_from_rounding(value: float, digits: int) -> bool:
    """Whether ``value`` is not within a hundred-thousandth of where its rounding changes."""
    mantissa = value / 10 ** (math.floor(math.log10(value)) - digits + 1)
    return abs(mantissa % 1 - 0.5) > 1e-3


@given(st.floats(1, 9e17))
def test_rates_are_si(value: float) -> None:
    if away_from_rounding(value, 3):
        assert read(tables.rates(), math.log10(value)) == si(value, "FLOP/s")


@given(st.floats(1.1e-6, 9.9))
def test_shares_are_percent(value: float) -> None:
    if away_from_rounding(value, 2) and value < 0.994:
        assert read(tables.shares(), math.log10(value)) == percent(value)


@given(st.floats(1, 990))
def test_gaps_are_times(value: float) -> None:
    if away_from_rounding(value, 3):
        assert "×" + read(tables.gaps(), math.log10(value)) == times(value)


def test_landmarks() -> None:
    rates = tables.rates()
    assert read(rates, 12 + 1e-9) == "1.00 TFLOP/s"
    assert read(rates, math.log10(3.24e12)) == "3.24 TFLOP/s"
    assert read(rates, math.log10(999.7e9)) == "1.00 TFLOP/s", "rounds up into the next prefix"
    assert read(tables.shares(), 0.0) == "100 %"
