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
from rooflab.show import free_lunch_picture, free_lunch_words
from rooflab.show.free_lunch_picture import free_lunch
from rooflab.show.guess_axis import guess
from rooflab.show.scene import Scene, drawn
from tests.support.scenes import named, some_states

PNG = b"\x89PNG"


def ideal(carry: float, compute: float, k=(1, 2, 3, 5, 9, 17, 33, 65, 129, 257)) -> FreeLunch:
    """A machine that overlaps perfectly: the time is the longer of the two."""
    seconds = tuple(max(carry, compute * v) for v in k)
    return FreeLunch(k, seconds, (0.0,) * len(k), 1 << 24, 4, 1, "fp32", "host", "Some CPU")


CURVE = ideal(4e-3, 0.2e-3)
SWEEP = CURVE
STOPS = free_lunch_words.stops(SWEEP)
SCENES = [free_lunch_picture.lunch_scene(SWEEP, wide, names=True) for wide in (720, 400)]
each_sheet = pytest.mark.parametrize("scene", SCENES, ids=["wide", "narrow"])


def bars(scene: Scene, view: str) -> tuple[np.ndarray, np.ndarray]:
    """How long the two bars are at every stop."""
    both = (named(scene, f"bar {name}")[0] for name in ("carrying", "computing"))
    return tuple(
        np.array([scene.value(bar, "box", view=view, i=i)[2] for i in range(len(STOPS))])
        for bar in both
    )


def track(scene: Scene, view: str) -> np.ndarray:
    """Where the ring stands at every stop."""
    (ring,) = named(scene, "now")
    return np.array([scene.value(ring, "at", view=view, i=i) for i in range(len(STOPS))])


def test_the_flat_end_gives_the_bandwidth_and_the_result_travels_too() -> None:
    # 2²⁴ fp32 numbers there and back are 134 MB; in 4 ms that is 33.6 GB/s.
    assert CURVE.bandwidth == pytest.approx(2 * 2**24 * 4 / 4e-3)


def test_the_rising_end_gives_the_peak_at_two_flop_a_multiply_add() -> None:
    assert CURVE.peak == pytest.approx(2 * 2**24 / 0.2e-3)


def test_the_bend_is_the_ridge_in_flop_per_byte() -> None:
    sweep = CURVE
    assert sweep.bend == pytest.approx(20)
    # 20 multiply-adds are 40 FLOP on a number of which 4 bytes come and 4 go.
    assert sweep.ridge == pytest.approx(40 / 8)


@settings(deadline=None, max_examples=25)
@given(carry=st.floats(1e-5, 1e-1), bend=st.floats(4, 60))
def test_both_ends_of_any_ideal_machine_are_found(carry: float, bend: float) -> None:
    sweep = ideal(carry, carry / bend)
    assert sweep.carry_s == pytest.approx(carry, rel=0.15)
    assert sweep.compute_s == pytest.approx(carry / bend)


def test_the_sentence_says_which_is_longer_and_that_the_other_is_free() -> None:
    sweep = CURVE
    time, _ = free_lunch_words.sentences(sweep, 9)
    assert time == (
        "9 multiply-adds: carrying 4.0 ms, computing 1.8 ms → 4.0 ms. The arithmetic is free. "
        "You measured 4.0 ms."
    )
    assert "the carrying is free" in free_lunch_words.sentences(sweep, 100)[0]
    assert "bends" in free_lunch_words.sentences(sweep, 20)[0]
    assert "measured" not in free_lunch_words.sentences(sweep, 100)[0]
    assert free_lunch_words.sentences(sweep, 1)[0].startswith("1 multiply-add:")


def test_the_rate_sentence_names_the_lower_roof() -> None:
    rate = free_lunch_words.sentences(CURVE, 100)[1]
    assert re.search(r"\(200 FLOP\).*839 GFLOP/s.*168 GFLOP/s → 168 GFLOP/s", rate)


def test_no_vocabulary_before_the_reveal() -> None:
    scene = free_lunch(CURVE).scene
    said = [scene.sentence(view=view, i=i) for view in ("time", "rate") for i in range(len(STOPS))]
    marks = [str(mark.channels.get("text")) for mark in scene.marks]
    assert not re.search("bandwidth|peak|ridge", " ".join([*said, *marks]))


def test_the_slider_stops_at_every_measured_k_and_at_whole_numbers_between() -> None:
    assert set(CURVE.k) <= set(STOPS)
    assert STOPS[:20] == list(range(1, 21))
    assert sorted(set(STOPS)) == STOPS and STOPS[-1] == 257


@each_sheet
@pytest.mark.parametrize("view", ["time", "rate"])
def test_on_an_ideal_machine_every_dot_lies_on_the_roof(scene: Scene, view: str) -> None:
    dots = [scene.value(dot, "at", view=view) for dot in named(scene, "measured")]
    np.testing.assert_allclose(dots, track(scene, view)[[STOPS.index(k) for k in CURVE.k]])


@each_sheet
def test_time_is_flat_then_rises_and_the_rate_rises_then_is_flat(scene: Scene) -> None:
    bend = STOPS.index(20)
    time, rate = (track(scene, view)[:, 1] for view in ("time", "rate"))
    np.testing.assert_allclose(time[:bend], time[0])
    assert (np.diff(time[bend + 1 :]) < 0).all()  # up is smaller y
    assert (np.diff(rate[:bend]) < 0).all()
    np.testing.assert_allclose(rate[bend + 1 :], rate[-1])


@each_sheet
def test_one_bar_never_moves_and_the_other_grows_in_proportion(scene: Scene) -> None:
    room = scene.value(named(scene, "bed")[0], "box")[2]
    carry, compute = bars(scene, "time")
    rate_carry, rate_compute = bars(scene, "rate")
    for still, grows in ((carry, compute), (rate_compute, rate_carry)):
        np.testing.assert_allclose(still, still[0])
        inside = grows < room
        np.testing.assert_allclose(grows[inside] / still[inside], np.array(STOPS)[inside] / 20)
        assert grows.max() == room, "a longer bar stops at the edge"


@each_sheet
def test_the_bar_that_decides_is_the_strong_one(scene: Scene) -> None:
    """The longer time, the lower rate."""
    for view, slow in (("time", "computing"), ("rate", "computing")):
        shown = scene.value(named(scene, f"bar {slow}")[0], "opacity", view=view, i=len(STOPS) - 1)
        other = scene.value(named(scene, "bar carrying")[0], "opacity", view=view, i=len(STOPS) - 1)
        assert shown == 1 and other < 1


@each_sheet
def test_a_bar_that_goes_on_is_cut_and_says_so(scene: Scene) -> None:
    last = {"view": "time", "i": len(STOPS) - 1}
    assert scene.value(named(scene, "value computing")[0], "text", **last) == "51 ms →"
    cuts = [scene.value(cut, "points", **last) for cut in named(scene, "cut")]
    assert [bool(np.isnan(cut).any()) for cut in cuts] == [True, True, False, False]


@each_sheet
def test_everything_drawn_lies_on_the_sheet(scene: Scene) -> None:
    for state in some_states(scene):
        for mark, held in drawn(scene, **state):
            spot = next(held[name] for name in ("points", "box", "at") if name in held)
            if mark.clip is None:
                xs, ys = (spot[0], spot[1]) if spot.size < 4 else (spot.flat[::2], spot.flat[1::2])
                assert np.min(xs) >= 0 and np.max(xs) <= scene.width, (mark, state)
                assert np.min(ys) >= 0 and np.max(ys) <= scene.height, (mark, state)


def test_the_slope_says_its_formula_and_the_flat_part_its_peak() -> None:
    carry, compute = (named(SCENES[0], f"label {name}")[0] for name in ("carrying", "computing"))
    assert SCENES[0].value(carry, "text", view="rate") == "33.6 GB/s × FLOP/byte"
    assert SCENES[0].value(compute, "text", view="rate") == "peak 168 GFLOP/s"
    assert SCENES[0].value(carry, "text", view="rate", names=0) == "carrying"


def test_a_sweep_that_never_bends_is_still_drawn() -> None:
    flat = free_lunch(ideal(4e-3, 1e-6))
    assert "free" in flat.sentence and flat.still().startswith(PNG)


def test_the_state_is_small_and_deterministic() -> None:
    axis = guess("00-nine", "Seventeen?", result=4.0, unit="ms", low=1, high=200)
    one, two = (free_lunch(CURVE, names=True, after=axis, guess_k=17) for _ in range(2))
    assert one.packed == two.packed
    packed = sum(
        len(json.dumps({**s, "buffer": ""})) + len(s.get("buffer", b"")) * 4 / 3 for s in one.packed
    )
    assert packed < 300e3
    axis.covered = False
    assert one.still() == two.still()


def test_a_file_keeps_one_picture_and_its_sentence() -> None:
    data, metadata = free_lunch(CURVE, start=17)._repr_mimebundle_()
    assert data["text/plain"].startswith("17 multiply-adds: carrying 4.0 ms, computing 3.4 ms")
    assert metadata["image/png"]["alt"] == data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data and data["image/png"]


def test_picture_and_file_say_whose_curve_it_is() -> None:
    curve = dataclasses.replace(CURVE, measured_on="2026-11-21T10:00:00Z", warnings=("noisy",))
    ((_, origin, _),) = free_lunch(curve).scene.notes
    assert origin.endswith(" Some CPU · 1 thread · fp32 · 2026-11-21 · noisy")
    assert origin.startswith("Dots: measured.")


def test_two_pictures_of_one_curve_have_their_own_ids() -> None:
    one, two = free_lunch(CURVE), free_lunch(CURVE)
    assert one.model_id != two.model_id and one.model_id.startswith("free-lunch")


def test_the_picture_waits_for_its_guess() -> None:
    axis = guess("00-nine", "Seventeen?", result=4.0, unit="ms", low=1, high=200)
    picture = free_lunch(CURVE, after=axis, guess_k=17, start=17)
    covered = picture.still()
    assert picture.covered and picture.sentence.startswith("Covered until")
    assert "4.0 ms" not in picture.sentence
    axis.guess_at, axis.covered = 200, False
    assert "4.0 ms" in picture.sentence
    assert picture.still() != covered and picture.still().startswith(PNG)


def test_the_guess_lies_where_its_time_lies() -> None:
    axis = guess("00-nine", "Seventeen?", result=4.0, unit="ms", low=1, high=200)
    picture = free_lunch(CURVE, after=axis, guess_k=17)
    scene, (mine,) = picture.scene, named(picture.scene, "mine")
    assert mine not in [mark for mark, _ in drawn(scene, guess=0)]
    near = int(np.argmin(np.abs(np.array(axis.geometry["values"]) - 4.0)))
    axis.guess_at = near
    assert picture.guess == near + 1
    for view in ("time", "rate"):
        seventeen = named(scene, "measured")[list(CURVE.k).index(17)]
        there = scene.value(mine, "at", view=view, guess=near + 1)
        assert there == pytest.approx(scene.value(seventeen, "at", view=view), abs=3)
    (says,) = named(scene, "mine-says")
    last = len(axis.geometry["values"])
    assert scene.value(says, "text", view="time", guess=last) == "your guess: 200 ms ↑"
    assert scene.value(says, "text", view="rate", guess=last) == "your guess: 2.85 GFLOP/s ↓"


@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        ([1, 2, 3], TypeError, "is no measured curve; pass what rl.free_lunch"),
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
        picture.view == "rate"
        and picture.sentence == free_lunch_words.sentences(picture.sweep, picture.sweep.k[0])[1]
    )
    with pytest.raises(ValueError, match="view='roof' is unknown"):
        free_lunch(CURVE, view="roof")


@pytest.mark.parametrize("scene", SCENES)
def test_the_slider_covers_neither_scale(scene) -> None:
    labels = [mark for mark in scene.marks if mark.kind == "text"]
    feet = [scene.value(mark, "at", view="rate")[1] for mark in labels]
    scales = [foot for foot in feet if foot < free_lunch_picture.SLIDER]
    assert scales and max(scales) + 3 < free_lunch_picture.SLIDER - 12


@pytest.mark.parametrize("scene", SCENES)
def test_letters_on_a_faint_bar_are_ink_and_an_unmeasured_place_says_so(scene) -> None:
    for word in ("carrying", "computing"):
        bar, value = named(scene, f"bar {word}")[0], named(scene, f"value {word}")[0]
        for view in ("time", "rate"):
            for i in range(len(STOPS)):
                if scene.value(bar, "opacity", view=view, i=i) < 1:
                    assert scene.value(value, "fill", view=view, i=i) == "ink"
    told = named(scene, "not-measured")[0]
    for i, k in enumerate(STOPS):
        assert bool(scene.value(told, "opacity", i=i)) == (k not in SWEEP.k.tolist())


def test_in_the_rate_the_smaller_one_decides() -> None:
    assert "the smaller one" in free_lunch_words.sentences(SWEEP, 1)[1]
    shown = named(SCENES[0], "allows")
    assert [SCENES[0].value(mark, "opacity", view="rate") for mark in shown] == [1, 1]
