"""The morph: where points, roofs and call lines stand at the named stops, and in between."""

from __future__ import annotations

import math

import numpy as np
import pytest
from traitlets import TraitError

import rooflab as rl
from rooflab.show import time_to_roofline as module
from rooflab.show.time_to_roofline import STOPS, morph, stop_of
from tests.support.machine import measurement
from tests.support.morph_example import (
    CALLS,
    HERE,
    LESSON,
    MEASURED,
    OPS,
    THERE,
    bound,
    lines,
    point,
    points,
    says,
    written,
)
from tests.support.pictures import made
from tests.support.scenes import named

PLOT = (76, 34, 704, 436)  # left, top, right and bottom of the axes on the wide sheet


def line_at(picture: module.Morph, mark: object, at: float = 2) -> np.ndarray:
    """The points of a line when the slider stands at ``at``."""
    return picture.scene.value(mark, "points", at=float(at)).reshape(-1, 2)


@pytest.fixture(scope="module")
def picture() -> module.Morph:
    """All ten measurements, one of them guessed."""
    return made("morph")


def test_a_hand_may_rest_between_the_four_stops(picture: module.Morph) -> None:
    assert picture.at == 0 and picture.scene.dim("at").stops == STOPS
    moved = morph(MEASURED[:3], machine=HERE)
    moved.at = 1.5
    assert moved.sentence == says(moved)[1]
    assert moved.still() == morph(MEASURED[:3], machine=HERE).still(), "the ends, wherever it rests"
    with pytest.raises(TraitError):
        moved.at = 3.5


def test_the_words_change_when_the_axes_have_turned(picture: module.Morph) -> None:
    assert [stop_of(at) for at in (0, 0.49, 0.51, 1, 1.5, 1.84)] == [0, 0, 1, 1, 1, 1]
    assert [stop_of(at) for at in (1.85, 2, 2.49, 2.51, 3)] == [2, 2, 2, 3, 3]
    assert STOPS[1] == "speed against intensity", "the word of the sentences"
    assert picture.scene.sentence(at=1.8) == says(picture)[1]
    assert picture.scene.sentence(at=1.85) == says(picture)[2]


def test_in_decades_a_factor_is_a_length(picture: module.Morph) -> None:
    small, big = point(picture, "AXPY 256")["at"][2], point(picture, "AXPY 20\u202f000")["at"][2]
    assert small[0] == big[0], "AXPY has one intensity whatever its size"
    large = point(picture, "GEMM 1024³")
    guess = large["guess"]["at"][2][1] - large["at"][2][1]
    per_decade = (small[1] - big[1]) / math.log10(
        OPS[3].flops / bound(OPS[3]) / (OPS[0].flops / bound(OPS[0]))
    )
    assert guess == pytest.approx(per_decade * math.log10(0.2 / bound(OPS[8])), abs=0.5)


def test_the_call_line_is_flop_over_call_time_and_a_floor_over_work(picture: module.Morph) -> None:
    calls = lines(picture.scene, "call")
    told = written(picture.scene, "call-says") | written(picture.scene, "floor-says")
    assert len(calls) == 3, "the call decides for a small one of each"
    assert "the floor: no call below 100 ns" in told
    for name, line in zip(CALLS, calls, strict=True):
        assert f"{name.upper()} call {rl.si(CALLS[name], 's')}" in told
        assert picture.scene.value(line, "ink") == "overhead"
        floor = line_at(picture, line, 0)
        assert np.ptp(floor[:, 1]) == 0, "over work the time of a call is the same for all sizes"
        assert floor[0, 0] == PLOT[0] and floor[-1, 0] == PLOT[2]
    path = line_at(picture, calls[2])
    steep = (path[-1, 1] - path[6, 1]) / (path[-1, 0] - path[6, 0])
    one = point(picture, "GEMM 8³")["at"][2], point(picture, "GEMM 256³")["at"][2]
    x_decade = (one[1][0] - one[0][0]) / math.log10(OPS[7].intensity / OPS[2].intensity)
    y_decade = (one[0][1] - one[1][1]) / math.log10(
        OPS[7].flops / bound(OPS[7]) / (OPS[2].flops / bound(OPS[2]))
    )
    assert -steep * x_decade / y_decade == pytest.approx(3, rel=0.02), "FLOP grow with intensity³"


def test_a_sentence_tells_count_time_rate_and_limit(picture: module.Morph) -> None:
    said = point(picture, "AXPY 256")["says"]
    assert "512 FLOP over 3.07 kB is 0.1667 FLOP/byte" in said
    assert "2.02 GFLOP/s" in said and "limit is the cost of the call" in said
    assert point(picture, "GEMM 1024³")["says"].count("arithmetic") == 1
    time, rate, roof, call = says(picture)
    assert "crushed" in time and "points" in rate
    assert "20.0 GB/s" in roof and "120 GFLOP/s" in roof and "ridge at 6" in roof
    assert "100 ns to 200 ns" in call
    assert "are the dashed lines of AXPY, GEMV and GEMM" in call, "three are drawn"


def test_once_the_cost_was_seen_it_is_a_floor_under_the_times(picture: module.Morph) -> None:
    scene, call = picture.scene, lines(picture.scene, "call")[0]
    shown = [scene.value(call, "opacity", at=at) for at in range(4)]
    assert shown == [0, 0, 0, 1]
    later = [scene.value(call, "opacity", at=at, seen=True) for at in range(4)]
    assert later == [1, 0, 0, 1] and scene.dim("seen").once == "at"


def test_points_are_told_by_shape_and_guesses_by_colour(picture: module.Morph) -> None:
    shapes = {p["name"].split()[0]: p["shape"] for p in points(picture)}
    assert shapes == {"AXPY": "circle", "GEMV": "square", "GEMM": "diamond"}
    inks = {picture.scene.value(p["mark"], "fill") for p in points(picture)}
    assert inks == {"ink"}
    for guess in named(picture.scene, "guess"):
        assert picture.scene.value(guess, "fill") == "mine"


def test_on_a_narrow_sheet_a_crowd_has_numbers(picture: module.Morph) -> None:
    narrow, labels = picture.sheets[1], [dot.label for dot in picture.dots]
    names = set(written(narrow, "name"))
    numbers = [n for n, label in enumerate(labels, 1) if str(n) in names]
    assert 0 < len(numbers) < 6 and len(names) == len(labels)
    assert names == {str(n) if n in numbers else label for n, label in enumerate(labels, 1)}
    key = next(words for kind, words, _ in narrow.notes if kind == "names")
    assert key == ", ".join(f"{n}\u00a0{labels[n - 1]}" for n in numbers) + "."
    few = morph(MEASURED[:1], machine=HERE)
    assert not [kind for kind, *_ in few.sheets[1].notes if kind == "names"]


def test_where_few_names_have_room_all_points_have_numbers() -> None:
    narrow = morph(LESSON, machine=THERE, guesses=dict.fromkeys(OPS, 1e-3)).sheets[1]
    assert all(name.isdigit() for name in written(narrow, "name"))


def test_a_saved_notebook_keeps_one_picture_and_all_sentences(picture: module.Morph) -> None:
    data, about = picture._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= set(data)
    assert data["text/plain"].count("\n") == 3 + len(OPS)
    assert about["image/png"]["alt"] == data["text/plain"]
    assert picture.still().startswith(b"\x89PNG")
    assert picture.sentence == says(picture)[0]


def test_without_a_known_machine_the_points_still_move(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    moved = morph([measurement(op, "elsewhere", bound(op)) for op in OPS[:3]])
    assert not lines(moved.scene, "roof main") and not lines(moved.scene, "call")
    assert "machine=" in says(moved)[2] and "no line" in says(moved)[3]


def test_a_catalogue_machine_has_a_roof_and_no_call_line() -> None:
    scene = morph(MEASURED[:3], machine="h100-sxm").scene
    assert len(lines(scene, "roof main")) == 2 and not lines(scene, "call")


def test_one_measurement_is_enough_and_a_repeated_one_counts_once() -> None:
    once = morph(MEASURED[0], machine=HERE)
    twice = morph([measurement(OPS[0], "here", 1.0), MEASURED[0]], machine=HERE)
    assert once.dots == twice.dots and len(points(once)) == 1


def test_two_of_a_name_are_told_apart() -> None:
    seen = [measurement(rl.gemm(64, 64, 64, kind), "here", 1e-5) for kind in ("fp32", "fp64")]
    names = written(morph(seen, machine=HERE).scene, "name")
    assert set(names) == {"GEMM 64³, fp32", "GEMM 64³, fp64"}


def test_a_guess_from_the_store_comes_in_its_own_unit() -> None:
    class Kept:
        value = 5.0
        question = type("Question", (), {"unit": "ms"})

    for unit in ("s", "ms", "µs", "ns"):
        Kept.question.unit = unit
        p = points(morph(MEASURED[8], machine=HERE, guesses={"GEMM 1024³": Kept()}))[0]
        assert f"You guessed 5.00 {unit}" in p["says"]
    Kept.value = None
    p = points(morph(MEASURED[8], machine=HERE, guesses={"GEMM 1024³": Kept()}))[0]
    assert "guess" not in p


def test_a_guess_is_a_positive_number_of_seconds() -> None:
    for value in ["soon", 0, -1.0, float("inf"), float("nan"), None, True, [1]]:
        with pytest.raises(ValueError, match=r"guesses\['axpy 256.*positive number of seconds"):
            morph(MEASURED, machine=HERE, guesses={"axpy 256 fp32": value})


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="guesses: the operation='gemm 1025.*did you mean"):
        morph(MEASURED, machine=HERE, guesses={"gemm 1025×1024×1024 fp32": 1.0})
    with pytest.raises(TypeError, match="guesses=3 must be a dict"):
        morph(MEASURED, machine=HERE, guesses=3)
    with pytest.raises(ValueError, match="measurements is empty"):
        morph([])
    with pytest.raises(TypeError, match=r"rl.measure\(op\) makes one"):
        morph([rl.axpy(3)])
    with pytest.raises(TypeError, match="measurements='ten'"):
        morph("ten")
    with pytest.raises(ValueError, match="machine='h1000' is unknown"):
        morph(MEASURED, machine="h1000")
