"""The waterfall's geometry: lengths of bars are factors, their product is measured / bound."""

from __future__ import annotations

import dataclasses
import itertools
import math
from base64 import b64decode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.predict.explain import explain
from rooflab.show.falls import Fall, of_explanation, of_prediction, window
from rooflab.show.scene import Scene
from rooflab.show.waterfall_picture import fall_scene, lane
from tests.support.machine import ROOFS, measurement

HERE = rl.Machine.from_roofs(ROOFS, id="here", name="A test machine")
TIMED = dataclasses.replace(HERE, routines={
    "gemv/fp32": {"overhead_s": 1e-7, "cold_overhead_s": 1e-5,
                  "points": [{"level": "dram", "efficiency": 0.5}]},
})  # fmt: skip
OPS = st.sampled_from(
    [rl.axpy(100), rl.axpy(10**7), rl.gemv(64, 64), rl.gemv(4096, 4096), rl.gemm(512, 512, 512)]
)
SECONDS = st.floats(1e-12, 1e6)
MACHINES = st.sampled_from([HERE, TIMED, "h100-sxm", "mi250x-gcd", "raspberry-pi-5"])
CACHES = st.sampled_from(["cold", "warm"])


def bars(scene: Scene) -> list[tuple[float, float]]:
    """Where each bar of a waterfall begins and ends, in pixels."""
    found = [mark for mark in scene.marks if mark.name.startswith("bar ")]
    return [tuple(scene.value(mark, "points")[[0, 2]].tolist()) for mark in found]


def decade(fall: Fall, wide: float = 760) -> float:
    """Pixels of a factor of ten."""
    (left, right), (lo, hi) = lane(wide), window(fall.places, 0.06)
    return (right - left) / (hi - lo)


@settings(max_examples=30, deadline=None)
@given(OPS, MACHINES, SECONDS, CACHES)
def test_the_lengths_multiply_up_to_what_was_measured(op, machine, seconds, cache) -> None:
    e = explain(op, machine, seconds, cache=cache)
    fall = of_explanation(e)
    lengths = [(end - begin) / decade(fall) for begin, end in bars(fall_scene(fall))]
    for length, step in zip(lengths, fall.steps, strict=True):
        assert length == pytest.approx(step.end - step.start, abs=1e-9)
    for (_, end), (begin, _) in itertools.pairwise(bars(fall_scene(fall))):
        assert begin == end, "each starts where the last one ended"
    assert 10**fall.start == pytest.approx(e.bound) and 10**fall.end == pytest.approx(seconds)
    assert [step.explained for step in fall.steps] == [*[True] * (len(fall.steps) - 1), False]
    assert 10 ** sum(lengths) == pytest.approx(e.seconds / e.bound, rel=1e-9)
    product = math.prod(f.factor for f in e.factors)
    assert product == pytest.approx(10 ** sum(lengths), rel=1e-9)


def test_colours_say_what_a_step_is_made_of_and_hollow_bars_make_it_shorter() -> None:
    fall = of_explanation(explain(rl.gemv(64, 64), TIMED, 5e-6, cache="warm", pages=(1e-6, "")))
    scene = fall_scene(fall)
    looks = {
        mark.name.removeprefix("bar "): (mark.channels["ink"], mark.channels["fill"])
        for mark in scene.marks
        if mark.name.startswith("bar ")
    }
    kinds = {step.name: step.kind for step in fall.steps}
    assert kinds["level and mix"] == "faster" and kinds["call overhead"] == "slower"
    assert looks["level-and-mix"] == ("carrying", "paper")
    assert looks["call-overhead"] == ("overhead", "overhead")
    assert looks["new-pages"] == ("overhead", "overhead")
    assert looks["routine-efficiency"] == ("computing", "computing")
    assert looks["unexplained"] == ("soft", "paper")
    said = [scene.value(mark, "text") for mark in scene.marks if mark.name == "factor"]
    assert said[1].endswith(" ←") and said[2].endswith(" →")
    dashed = [mark.name for mark in scene.marks if mark.look.get("dash") and "bar" in mark.name]
    assert dashed == ["bar unexplained"]


@settings(max_examples=30, deadline=None)
@given(OPS, MACHINES, SECONDS, st.sampled_from([450, 760]))
def test_ticks_have_room_and_lie_inside(op, machine, seconds, wide) -> None:
    scene = fall_scene(of_explanation(explain(op, machine, seconds)), wide)
    ticks = [mark for mark in scene.marks if mark.name == "tick"]
    places = sorted(scene.value(mark, "at")[0] for mark in ticks)
    left, right = lane(wide)
    assert left <= places[0] and places[-1] <= right
    assert all(far - near >= 60 for near, far in itertools.pairwise(places))
    assert len({scene.value(mark, "text") for mark in ticks}) == len(ticks)


def test_ticks_name_factors() -> None:
    op = rl.gemm(4096, 4096, 4096, "bf16")  # 139 µs at the peak
    for seconds, factors in (
        (140e-6, {"×1", "×1.5", "×2"}),
        (2e-3, {"×1", "×2", "×5", "×10"}),
        (139e-3, {"×1", "×10", "×100", "×1000"}),
        (139, {"×1", "×100", "×1e4", "×1e6"}),
    ):
        scene = fall_scene(of_explanation(explain(op, "h100-sxm", seconds)))
        ticks = {scene.value(mark, "text") for mark in scene.marks if mark.name == "tick"}
        assert ticks == factors


def test_a_factor_near_one_does_not_fill_the_picture() -> None:
    lo, hi = window([0, 0.001], 0.0)
    assert hi - lo == pytest.approx(0.5) and lo < 0 < hi


def test_the_published_layer_is_two_steps() -> None:
    """8 tokens through a 4096×11008 bf16 weight in 31 µs on an H100: 87 % of the memory roof."""
    fall = of_explanation(explain(rl.gemm(8, 11008, 4096, "bf16"), "h100-sxm", 31e-6))
    assert [step.name for step in fall.steps] == ["measured roof", "unexplained"]
    assert fall.total == "×1.15" and fall.steps[-1].seconds == "31.0 µs"
    assert "87 % of the datasheet roof" in fall.words and "989 TFLOP/s peak" in fall.words


def test_what_was_never_timed_is_no_bar() -> None:
    names = [s.name for s in of_explanation(explain(rl.gemv(64, 64), HERE, 1e-5)).steps]
    assert "routine efficiency" not in names and names[-1] == "unexplained"
    names = [s.name for s in of_explanation(explain(rl.gemv(64, 64), TIMED, 1e-5)).steps]
    assert names == ["level and mix", "call overhead", "routine efficiency", "unexplained"]


def test_a_prediction_has_no_unexplained_bar() -> None:
    op = rl.gemv(4096, 4096)
    predicted = rl.predict(op, TIMED)
    fall = of_prediction(op, TIMED, predicted)
    assert fall.reached == "predicted" and 10**fall.end == pytest.approx(predicted.seconds)
    assert all(step.explained for step in fall.steps) and "stops at the prediction" in fall.words


def overlaps(figure) -> list[tuple[str, str]]:
    figure.draw_without_rendering()
    boxes = [(t.get_text(), t.get_window_extent()) for t in figure.axes[0].texts if t.get_text()]
    return [
        (a, b) for (a, one), (b, two) in itertools.combinations(boxes, 2)
        if one.shrunk(0.98, 0.9).overlaps(two.shrunk(0.98, 0.9))
    ]  # fmt: skip


def test_a_measurement_is_explained_and_a_notebook_shows_it() -> None:
    timed = measurement(rl.gemv(4096, 4096), "here", 0.01)
    figure = rl.show.waterfall(timed, HERE)
    data, about = figure._repr_mimebundle_()
    assert b64decode(data["image/png"]).startswith(b"\x89PNG")
    said = explain(timed, HERE).sentence.replace("gemv", "GEMV")
    assert data["text/plain"].startswith(said), "names as in every other picture"
    assert "the bound is that of memory" in data["text/plain"], "not the peak above it"
    assert about["image/png"]["alt"] == figure.words
    again = rl.show.waterfall(explain(timed, HERE))
    assert again.words == figure.words


def test_times_beyond_every_clock_are_drawn() -> None:
    for seconds in (5e-324, 1e300):
        assert rl.show.waterfall(rl.axpy(100), HERE, seconds).words


def test_bad_questions_are_named() -> None:
    for arguments, options, error, message in [
        ((3,), {}, TypeError, "measured=3 is a int; give a Measurement, an Explanation"),
        ((None, "h100-sxm", 1.0), {}, TypeError, "measured=None"),
        ((rl.axpy(9),), {}, TypeError, "machine=None"),
        ((rl.axpy(9), "h100-sxm"), {}, TypeError, "seconds=None must be a positive time"),
        ((rl.axpy(9), "h100-sxm", 0.0), {}, ValueError, "seconds=0.0 must be a positive time"),
        (
            (rl.axpy(9), "h100-sxm", 1.0),
            {"width": 760},
            ValueError,
            "width=760 is in inches and must be 3 to",
        ),
        ((rl.axpy(9), "h100-sxm", 1.0), {"width": "wide"}, TypeError, "width='wide' must be"),
        ((explain(rl.axpy(9), HERE, 1.0), "h100-sxm"), {}, TypeError, "already has its own"),
    ]:
        with pytest.raises(error, match=message):
            rl.show.waterfall(*arguments, **options)
