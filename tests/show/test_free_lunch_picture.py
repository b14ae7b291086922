"""The free-lunch picture: its two ends, its pixels, its words, and what a file keeps of it."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.measure.free_lunch import FreeLunch
from rooflab.show import free_lunch_picture
from rooflab.show.free_lunch_picture import free_lunch
from rooflab.show.guess_axis import guess

PNG = b"\x89PNG"


def ideal(carry: float, compute: float, k=(1, 2, 3, 5, 9, 17, 33, 65, 129, 257)) -> FreeLunch:
    """A machine that overlaps perfectly: the time is the longer of the two."""
    seconds = tuple(max(carry, compute * v) for v in k)
    return FreeLunch(k, seconds, (0.0,) * len(k), 1 << 24, 4, 1, "fp32", "host", "Some CPU")


CURVE = ideal(4e-3, 0.2e-3)
_GEOMETRY = free_lunch_picture.lunch_geometry(free_lunch_picture.read_curve(CURVE))


def test_the_flat_end_gives_the_bandwidth_and_the_result_travels_too() -> None:
    # 2²⁴ fp32 numbers there and back are 134 MB; in 4 ms that is 33.6 GB/s.
    assert free_lunch_picture.read_curve(CURVE).bandwidth == pytest.approx(2 * 2**24 * 4 / 4e-3)


def test_the_rising_end_gives_the_peak_at_two_flop_a_multiply_add() -> None:
    assert free_lunch_picture.read_curve(CURVE).peak == pytest.approx(2 * 2**24 / 0.2e-3)


def test_the_bend_is_the_ridge_in_flop_per_byte() -> None:
    sweep = free_lunch_picture.read_curve(CURVE)
    assert sweep.bend == pytest.approx(20)
    # 20 multiply-adds are 40 FLOP on a number of which 4 bytes come and 4 go.
    assert sweep.ridge == pytest.approx(40 / 8)


@settings(deadline=None, max_examples=25)
@given(carry=st.floats(1e-5, 1e-1), bend=st.floats(4, 60))
def test_both_ends_of_any_ideal_machine_are_found(carry: float, bend: float) -> None:
    sweep = free_lunch_picture.read_curve(ideal(carry, carry / bend))
    assert sweep.carry_s == pytest.approx(carry, rel=0.15)
    assert sweep.compute_s == pytest.approx(carry / bend)


def test_the_sentence_says_which_is_longer_and_that_the_other_is_free() -> None:
    sweep = free_lunch_picture.read_curve(CURVE)
    time, _ = free_lunch_picture.sentences(sweep, 9)
    assert time == (
        "9 multiply-adds: carrying 4.0 ms, computing 1.8 ms → 4.0 ms. The arithmetic is free. "
        "You measured 4.0 ms."
    )
    assert "the carrying is free" in free_lunch_picture.sentences(sweep, 100)[0]
    assert "bends" in free_lunch_picture.sentences(sweep, 20)[0]
    assert "measured" not in free_lunch_picture.sentences(sweep, 100)[0]
    assert free_lunch_picture.sentences(sweep, 1)[0].startswith("1 multiply-add:")


def test_the_rate_sentence_names_the_lower_roof() -> None:
    rate = free_lunch_picture.sentences(free_lunch_picture.read_curve(CURVE), 100)[1]
    assert re.search(r"\(200 FLOP\).*839 GFLOP/s.*168 GFLOP/s → 168 GFLOP/s", rate)


def test_no_vocabulary_before_the_reveal() -> None:
    for index in range(len(_GEOMETRY["k"])):
        for view in ("time", "rate"):
            words = _GEOMETRY["views"][view]["says"][index]
            assert not re.search("bandwidth|peak|ridge", words)
    assert free_lunch(CURVE).live.names is False


def test_the_slider_stops_at_every_measured_k_and_at_whole_numbers_between() -> None:
    assert set(CURVE.k) <= set(_GEOMETRY["k"])
    assert _GEOMETRY["k"][:20] == list(range(1, 21))
    assert _GEOMETRY["k"] == sorted(set(_GEOMETRY["k"])) and _GEOMETRY["k"][-1] == 257


def test_on_an_ideal_machine_every_dot_lies_on_the_roof_in_both_views() -> None:
    rows = [_GEOMETRY["k"].index(k) for k in CURVE.k]
    for view in _GEOMETRY["views"].values():
        track = [[_GEOMETRY["x"][i], view["track"][i]] for i in rows]
        np.testing.assert_allclose(view["dots"], track, atol=0.11)


def test_time_is_flat_then_rises_and_the_rate_rises_then_is_flat() -> None:
    bend = _GEOMETRY["k"].index(20)
    time, rate = (np.array(_GEOMETRY["views"][view]["track"]) for view in ("time", "rate"))
    assert np.ptp(time[:bend]) == 0 and (np.diff(time[bend + 1 :]) < 0).all()  # up is smaller y
    assert (np.diff(rate[:bend]) < 0).all() and np.ptp(rate[bend + 1 :]) == 0


def test_the_carrying_bar_never_moves_and_the_computing_bar_grows_in_proportion() -> None:
    carry, compute, _ = (np.array(column, float) for column in zip(*_GEOMETRY["bars"], strict=True))
    left, _, right, _ = _GEOMETRY["plot"]
    assert np.ptp(carry) == 0
    inside = compute < right - left
    ratio = np.array(_GEOMETRY["k"])[inside] / 20
    np.testing.assert_allclose(compute[inside] / carry[inside], ratio, rtol=0.02)
    assert compute.max() == right - left, "a longer bar stops at the edge"


def test_everything_drawn_lies_inside_the_picture() -> None:
    left, top, right, bottom = _GEOMETRY["plot"]
    for view in _GEOMETRY["views"].values():
        for x, y in view["dots"]:
            assert left <= x <= right and top <= y <= bottom
        for x, y, _ in view["labels"].values():
            assert 0 <= x <= _GEOMETRY["width"] and 0 <= y <= _GEOMETRY["height"]


def test_a_sweep_that_never_bends_is_still_drawn() -> None:
    flat = free_lunch_picture.lunch_geometry(free_lunch_picture.read_curve(ideal(4e-3, 1e-6)))
    json.dumps(flat, allow_nan=False)
    assert "free" in flat["views"]["time"]["says"][0]


def test_the_state_is_small_and_deterministic() -> None:
    one, two = free_lunch(CURVE), free_lunch(CURVE)
    live = one.live
    assert live.axes_time == two.live.axes_time and live.geometry == two.live.geometry
    state = len(json.dumps(live.geometry)) + len(live._esm) + len(live._css)
    assert state + 4 / 3 * (len(live.axes_time) + len(live.axes_rate)) < 300e3
    assert one.still() == two.still()


def test_a_file_keeps_one_picture_and_its_sentence() -> None:
    data, metadata = free_lunch(CURVE, start=17)._repr_mimebundle_()
    assert data["text/plain"].startswith("17 multiply-adds: carrying 4.0 ms, computing 3.4 ms")
    assert metadata["image/png"]["alt"] == data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data and data["image/png"]


def test_picture_and_file_say_whose_curve_it_is() -> None:
    curve = dataclasses.replace(CURVE, measured_on="2026-11-21T10:00:00Z", warnings=("noisy",))
    origin = free_lunch(curve).live.geometry["origin"]
    assert origin == "Some CPU · 1 thread · fp32 · 2026-11-21 · noisy"
    assert free_lunch(curve).still() != free_lunch(CURVE).still()


def test_two_pictures_of_one_curve_have_their_own_ids() -> None:
    one, two = free_lunch(CURVE), free_lunch(CURVE)
    assert one.model_id != two.model_id and one.model_id.startswith("free-lunch")


def test_the_picture_waits_for_its_guess() -> None:
    axis = guess("00-nine", "Seventeen?", result=4.0, unit="ms", low=1, high=200)
    picture = free_lunch(CURVE, after=axis, guess_k=17, start=17)
    covered = picture.still()
    assert picture.live.covered and "covered" in picture.sentence
    assert "4.0 ms" not in picture.sentence
    # What the browser does on a click; the links between the widgets live there too.
    axis.guess_at, axis.covered = 200, False
    picture.live.covered = False
    assert "4.0 ms" in picture.sentence
    assert picture.still() != covered and picture.still().startswith(PNG)


def test_the_guess_lies_where_its_time_lies() -> None:
    axis = guess("00-nine", "Seventeen?", result=4.0, unit="ms", low=1, high=200)
    picture = free_lunch(CURVE, after=axis, guess_k=17)
    near = int(np.argmin(np.abs(np.array(axis.geometry["values"]) - 4.0)))
    seventeen = picture.live.geometry["views"]["time"]["dots"][list(CURVE.k).index(17)]
    assert picture.live.guesses["time"][near][:2] == pytest.approx(seventeen, abs=3)
    assert picture.live.guesses["time"][-1][2] == "↑" and picture.live.guesses["rate"][-1][2] == "↓"


@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        ([1, 2, 3], TypeError, "has no k, seconds, n, flops, bytes, bandwidth, peak"),
        (dataclasses.replace(CURVE, k=(1, 2)), ValueError, "2 k and 10 seconds"),
        (dataclasses.replace(CURVE, k=CURVE.k[::-1]), ValueError, "must rise"),
        (dataclasses.replace(CURVE, seconds=(0.0,) * 10), ValueError, "must be positive"),
        (dataclasses.replace(CURVE, seconds=(float("nan"),) * 10), ValueError, "must be positive"),
    ],
)
def test_a_bad_curve_is_named(bad: object, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        free_lunch(bad)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="start=400 is outside the sweep"):
        free_lunch(CURVE, start=400)
    with pytest.raises(ValueError, match="guess_k=17 needs after="):
        free_lunch(CURVE, guess_k=17)
    with pytest.raises(TypeError, match="no guess axis"):
        free_lunch(CURVE, after="00-nine")
    axis = guess("x", "How many?", result=4.0, unit="apples", low=1, high=200)
    with pytest.raises(ValueError, match="'ms'"):
        free_lunch(CURVE, after=axis, guess_k=17)


def test_it_may_open_as_work_per_second() -> None:
    picture = free_lunch(CURVE, view="rate")
    assert (
        picture.live.view == "rate"
        and picture.sentence == free_lunch_picture.sentences(picture.sweep, picture.sweep.k[0])[1]
    )
    with pytest.raises(ValueError, match="view='roof' is unknown"):
        free_lunch(CURVE, view="roof")
