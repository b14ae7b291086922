"""Values on a graph: along a line, on axes, read as a number exactly as Python formats it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.count.si import percent, si, times
from rooflab.show.scene import By, Dim, Fill, Scene, pack
from rooflab.show.scene.graph import (
    Above,
    Along,
    Either,
    Less,
    OnAxes,
    Reading,
    Ruler,
    gaps,
    rates,
    ridges,
    shares,
)

ROOF = np.array([-3.0, 7.0, 1.0, 11.0, 7.0, 11.0])


def away_from_rounding(value: float, digits: int) -> bool:
    """Whether ``value`` is not within a hundredth of a step of where its rounding changes."""
    mantissa = value / 10 ** (math.floor(math.log10(value)) - digits + 1)
    return abs(mantissa % 1 - 0.5) > 1e-2


@given(st.floats(1, 9e17))
def test_rates_are_si(value: float) -> None:
    if away_from_rounding(value, 3):
        assert rates().read(math.log10(value)) == si(value, "FLOP/s")
        assert rates("B/s").read(math.log10(value)) == si(value, "B/s")


@given(st.floats(1.1e-6, 9.9))
def test_shares_are_percent(value: float) -> None:
    if away_from_rounding(value, 2) and value < 0.994:
        assert shares().read(math.log10(value)) == percent(value)


@given(st.floats(1, 990))
def test_gaps_are_times(value: float) -> None:
    if away_from_rounding(value, 3):
        assert "×" + gaps().read(math.log10(value)) == times(value)


def test_landmarks() -> None:
    assert rates().read(12 + 1e-9) == "1.00 TFLOP/s"
    assert rates().read(math.log10(999.7e9)) == "1.00 TFLOP/s", "rounds up into the next prefix"
    assert shares().read(0.0) == "100 %"
    assert ridges().read(math.log10(13.2)) == "13.2", "as the ridge of a machine is written"
    assert rates().read(-0.5) == "less than 1.00 FLOP/s"
    assert rates().read(18.5).startswith("more than 999 P")


def test_a_roof_is_a_slope_and_a_flat_part() -> None:
    for x, y in [(-3, 7), (0, 10), (1, 11), (1.5, 11), (6.9, 11), (-4, 6)]:
        found = Along(np.array([x]), ROOF).work(np.array([x]), ROOF)
        assert found.tolist() == [pytest.approx(y)]


def scene() -> Scene:
    """A dot that slides along a roof, which a dimension raises, on axes that another one shifts."""
    above = Above(Less(By("n", [[-1.0], [1.0], [3.0]]), np.array([1.0])))
    dims = [
        Dim("n", ["a", "b", "c"]), Dim("up", ["no", "yes"]), Dim("axes", ["fit", "same"]),
        Dim("right", ["no", "yes"], of=above),
    ]  # fmt: skip
    made = Scene(200, 100, dims)
    roof = By("up", [ROOF.tolist(), (ROOF + [0, 1, 0, 1, 0, 1]).tolist()])
    axes = By("axes", [[10, -2, 20, 90, 7, 10], [10, -2, 20, 90, 6, 10]])
    x = By("n", [[-1.0], [1.0], [3.0]])
    rate = Along(x, roof)
    made.dot(OnAxes((x, rate), axes), None, name="dot")
    made.line(OnAxes((roof,), axes), name="roof")
    chosen = Either(By("right", [[0.0], [1.0]]), (rate, np.array([11.0])))
    made.says = Fill(By("right", ["left, {rate}", "right, {rate}"]), rate=Reading(rates(), chosen))
    return made


def test_a_colour_can_be_one_of_several_by_what_is_worked_out() -> None:
    made = scene()
    dot = made.dot(10, 10, fill=Either(By("right", [[0.0], [1.0]]), ("paper", "warn")))
    assert [made.value(dot, "fill", n=n) for n in range(3)] == ["paper", "paper", "warn"]


def test_places_and_words_are_worked_out_in_every_state() -> None:
    made = scene()
    dot, roof = made.marks
    assert made.value(dot, "at").tolist() == [30, 70]  # decades -1 and 9
    assert made.value(dot, "at", up=1).tolist() == [30, 60]
    assert made.value(dot, "at", axes=1).tolist() == [30, 60]
    assert made.value(dot, "at", n=2).tolist() == [110, 50]
    assert made.value(roof, "points").tolist() == [-10, 90, 70, 50, 190, 50]
    assert [made.sentence(n=n) for n in range(3)] == [
        "left, 1.00 GFLOP/s", "left, 100 GFLOP/s", "right, 100 GFLOP/s",
    ]  # fmt: skip
    assert made.places(n=2)["right"] == 1 and made.places(n=1)["right"] == 0


def test_a_number_that_is_missing_is_no_place_and_no_word() -> None:
    line = np.full(6, math.nan)
    assert np.isnan(Along(np.array([0.0]), line).work(np.array([0.0]), line)).all()
    assert Above(np.array([math.nan])).work(np.array([math.nan])).tolist() == [0]
    assert Reading(rates(), np.array([math.nan])).work(np.array([math.nan])) == ""


def test_a_browser_gets_exact_numbers_and_each_ruler_once() -> None:
    packed = pack(scene())[0]
    floats = np.frombuffer(packed["exact"], "<f4")
    assert -1.0 in floats and 11.0 in floats
    assert set(packed["rulers"]) == {"FLOP/s"}
    ruler = packed["rulers"]["FLOP/s"]
    assert ruler["scale"]["labels"].split("|")[0] == "1.00" and ruler["suffixes"][3] == " GFLOP/s"


def test_the_longest_words_keep_room_for_every_number() -> None:
    told = Reading(Ruler("r", (0.5,), ("1", "22"), 0, (" a", " bbb")), np.array([0.0]))
    assert told.longest == "22 bbb"
    assert scene().longest(scene().says, 1)[0].startswith("right, 1.00 ")
