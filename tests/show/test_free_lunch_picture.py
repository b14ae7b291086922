"""The free-lunch picture: its two ends, its pixels, its words, and what a file keeps of it."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from rooflab.measure.free_lunch import FreeLunch
from rooflab.show import free_lunch_picture
from rooflab.show.free_lunch_picture import free_lunch
from rooflab.show.guess_axis import guess
from rooflab.show.scene import Scene
from tests.support.scenes import named


def ideal(carry: float, compute: float, k=(1, 2, 3, 5, 9, 17, 33, 65, 129, 257)) -> FreeLunch:
    """A machine that overlaps perfectly: the time is the longer of the two."""
    seconds = tuple(max(carry, compute * v) for v in k)
    return FreeLunch(k, seconds, (0.0,) * len(k), 1 << 24, 4, 1, "fp32", "host", "Some CPU")


CURVE = ideal(4e-3, 0.2e-3)
SWEEP = CURVE
STOPS = free_lunch_picture.stops(SWEEP)
SCENES = [free_lunch_picture.lunch_scene(SWEEP, wide, names=True) for wide in (720, 400)]
each_sheet = pytest.mark.parametrize("scene", SCENES, ids=["wide", "narrow"])


def test_the_ends_give_bandwidth_and_peak_and_the_bend_is_the_ridge() -> None:
    # 2²⁴ fp32 numbers there and back are 134 MB; in 4 ms that is 33.6 GB/s.
    assert CURVE.bandwidth == pytest.approx(2 * 2**24 * 4 / 4e-3)
    assert CURVE.peak == pytest.approx(2 * 2**24 / 0.2e-3)
    # 20 multiply-adds are 40 FLOP on a number of which 4 bytes come and 4 go.
    assert CURVE.bend == pytest.approx(20) and CURVE.ridge == pytest.approx(40 / 8)


def test_the_sentence_says_which_is_longer_and_that_the_other_is_free() -> None:
    sweep = CURVE
    time, _ = free_lunch_picture.sentences(sweep, 9)
    assert time == (
        "9 multiply-adds: carrying 4.0 ms, computing 1.8 ms → 4.0 ms. The arithmetic is free. "
        "Measured: 4.0 ms."
    )
    assert "the carrying is free" in free_lunch_picture.sentences(sweep, 100)[0]
    assert "bends" in free_lunch_picture.sentences(sweep, 20)[0]
    assert "measured" not in free_lunch_picture.sentences(sweep, 100)[0]
    assert free_lunch_picture.sentences(sweep, 1)[0].startswith("1 multiply-add:")


def test_the_rate_sentence_names_the_lower_roof() -> None:
    rate = free_lunch_picture.sentences(CURVE, 100)[1]
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
def test_a_bar_that_goes_on_is_cut_and_says_so(scene: Scene) -> None:
    last = {"view": "time", "i": len(STOPS) - 1}
    assert scene.value(named(scene, "value computing")[0], "text", **last) == "51 ms →"
    cuts = [scene.value(cut, "points", **last) for cut in named(scene, "cut")]
    assert [bool(np.isnan(cut).any()) for cut in cuts] == [True, True, False, False]


def test_the_slope_says_its_formula_and_the_flat_part_its_peak() -> None:
    carry, compute = (named(SCENES[0], f"label {name}")[0] for name in ("carrying", "computing"))
    assert SCENES[0].value(carry, "text", view="rate") == "33.6 GB/s × FLOP/byte"
    assert SCENES[0].value(compute, "text", view="rate") == "peak 168 GFLOP/s"
    assert SCENES[0].value(carry, "text", view="rate", names=0) == "carrying"


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


def test_a_bad_curve_is_named() -> None:
    for bad, error, words in [
        ([1, 2, 3], TypeError, "is no measured curve; pass what rl.free_lunch"),
        (dataclasses.replace(CURVE, k=(1, 2)), ValueError, "with a time for each"),
        (dataclasses.replace(CURVE, k=CURVE.k[::-1]), ValueError, "must rise"),
        (dataclasses.replace(CURVE, seconds=(0.0,) * 10), ValueError, "must be positive"),
        (dataclasses.replace(CURVE, seconds=(float("nan"),) * 10), ValueError, "must be positive"),
    ]:
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
        and picture.sentence == free_lunch_picture.sentences(picture.sweep, picture.sweep.k[0])[1]
    )
    with pytest.raises(ValueError, match="view='roof' is unknown"):
        free_lunch(CURVE, view="roof")
