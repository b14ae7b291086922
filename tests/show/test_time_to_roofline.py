"""The morph: where points, roofs and call lines stand at the named stops, and in between."""

from __future__ import annotations

import math
from itertools import combinations

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
    MEASURED,
    OPS,
    bound,
    lines,
    packed,
    point,
    points,
    says,
    written,
)
from tests.support.scenes import named

PLOT = (76, 34, 704, 436)  # left, top, right and bottom of the axes on the wide sheet


def line_at(picture: module.Morph, mark: object, at: float = 2) -> np.ndarray:
    """The points of a line when the slider stands at ``at``."""
    return picture.scene.value(mark, "points", at=float(at)).reshape(-1, 2)


def roof_at(picture: module.Morph, at: float) -> np.ndarray:
    """The whole roof: its slope, then its flat part."""
    slope, flat = lines(picture.scene, "roof main")
    return np.vstack([line_at(picture, slope, at), line_at(picture, flat, at)])


@pytest.fixture(scope="module")
def picture() -> module.Morph:
    return morph(
        MEASURED, machine=HERE, guesses={"gemm 1024×1024×1024 fp32": 0.2, "axpy 256 fp32": 1e-5}
    )


def test_a_hand_may_rest_between_the_four_stops(picture: module.Morph) -> None:
    assert picture.at == 0 and picture.scene.dim("at").stops == STOPS
    moved = morph(MEASURED, machine=HERE)
    moved.at = 1.5
    assert moved.sentence == says(moved)[1]
    assert moved.still() == morph(MEASURED, machine=HERE).still(), "the ends, wherever it rests"
    with pytest.raises(TraitError):
        moved.at = 3.5


def test_the_words_change_when_the_axes_have_turned(picture: module.Morph) -> None:
    assert [stop_of(at) for at in (0, 0.49, 0.51, 1, 1.5, 1.84)] == [0, 0, 1, 1, 1, 1]
    assert [stop_of(at) for at in (1.85, 2, 2.49, 2.51, 3)] == [2, 2, 2, 3, 3]
    assert STOPS[1] == "speed against intensity", "the word of the sentences"
    assert picture.scene.sentence(at=1.8) == says(picture)[1]
    assert picture.scene.sentence(at=1.85) == says(picture)[2]


def test_over_work_both_axes_start_at_zero_and_are_even(picture: module.Morph) -> None:
    left, _, _, bottom = PLOT
    big, half = point(picture, "GEMM 1024³"), point(picture, "GEMV 2048×2048, batch 64")
    x, y = big["at"][0]
    flops = OPS[9].flops / OPS[8].flops
    seconds = bound(OPS[9]) / bound(OPS[8])
    assert half["at"][0][0] - left == pytest.approx(flops * (x - left), abs=0.2)
    assert bottom - half["at"][0][1] == pytest.approx(seconds * (bottom - y), abs=0.2)


def test_most_points_are_crushed_into_the_corner_over_work_and_none_in_decades(
    picture: module.Morph,
) -> None:
    left, _, _, bottom = PLOT
    spots = [p["at"] for p in points(picture)]
    crushed = [at for at, *_ in spots if at[0] - left < 30 and bottom - at[1] < 30]
    assert len(crushed) >= 6
    touching = [sum(math.dist(a[k], b[k]) < 20 for a, b in combinations(spots, 2)) for k in (0, 2)]
    assert touching[0] >= 15 > 3 >= touching[1], "AXPY is equally fast beyond any small size"


def test_in_decades_a_factor_is_a_length(picture: module.Morph) -> None:
    small, big = point(picture, "AXPY 256")["at"][2], point(picture, "AXPY 20\u202f000")["at"][2]
    assert small[0] == big[0], "AXPY has one intensity whatever its size"
    guess = (
        point(picture, "GEMM 1024³")["guess"]["at"][2][1] - point(picture, "GEMM 1024³")["at"][2][1]
    )
    per_decade = (small[1] - big[1]) / math.log10(
        OPS[3].flops / bound(OPS[3]) / (OPS[0].flops / bound(OPS[0]))
    )
    assert guess == pytest.approx(per_decade * math.log10(0.2 / bound(OPS[8])), abs=0.5)


def test_a_guess_hangs_straight_below_or_above_its_point(picture: module.Morph) -> None:
    for name, off in (("GEMM 1024³", "off by ×11"), ("AXPY 256", "off by ×39")):
        p = point(picture, name)
        for here, guessed in zip(p["at"], p["guess"]["at"], strict=True):
            assert here[0] == guessed[0]
        assert p["guess"]["says"].startswith(off) and off in p["says"]


@pytest.mark.parametrize("t", [0.0, 0.1, 0.35, 0.5, 0.8, 1.0])
def test_on_the_way_to_decades_no_point_rises_above_the_roof(
    picture: module.Morph, t: float
) -> None:
    """A place depends on the two scales alone, so what lies under the roof stays under it."""
    line = roof_at(picture, 1 + t)
    assert (np.diff(line[:, 0]) >= -1e-6).all()
    for p in points(picture):
        x, y = picture.scene.value(p["mark"], "at", at=1 + t)
        over = np.interp(x, line[:, 0], line[:, 1])
        assert y >= over - 3, p["name"]  # y grows downwards; chords of the bend cut off a little


def test_the_roof_has_its_corner_at_the_ridge(picture: module.Morph) -> None:
    slope, flat = lines(picture.scene, "roof main")
    corner = line_at(picture, slope)[-1]
    assert corner == pytest.approx(line_at(picture, flat)[0])
    assert np.ptp(line_at(picture, flat)[:, 1]) < 0.01
    inks = [picture.scene.value(one, "ink") for one in (slope, flat)]
    assert inks == ["carrying", "computing"]
    ridge = rl.Roofline(HERE, "fp32").ridge
    gemm = point(picture, "GEMM 8³")["at"][2][0], point(picture, "GEMM 256³")["at"][2][0]
    per_decade = (gemm[1] - gemm[0]) / math.log10(OPS[7].intensity / OPS[2].intensity)
    x = gemm[0] + per_decade * math.log10(ridge / OPS[2].intensity)
    assert corner[0] == pytest.approx(x, abs=0.5)


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


def test_a_small_point_lies_just_below_its_call_line(picture: module.Morph) -> None:
    path = line_at(picture, lines(picture.scene, "call")[2])
    x, y = point(picture, "GEMM 8³")["at"][2]
    over = np.interp(x, path[:, 0], path[:, 1])
    rates = [OPS[i].flops / bound(OPS[i]) for i in (0, 3)]
    small, big = point(picture, "AXPY 256")["at"][2], point(picture, "AXPY 20\u202f000")["at"][2]
    per_decade = (small[1] - big[1]) / math.log10(rates[1] / rates[0])
    gap = per_decade * math.log10(bound(OPS[2]) / CALLS["gemm"])
    assert y - over == pytest.approx(gap, abs=0.5)


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


def test_state_is_small_and_the_same_every_time(picture: module.Morph) -> None:
    assert packed(picture) < 100_000
    again = morph(MEASURED, machine=HERE, guesses={OPS[8]: 0.2, "AXPY 256": 1e-5})
    assert again.scenes == picture.scenes
    assert again.model_id != picture.model_id and picture.model_id.startswith("rooflab-morph")


def test_once_the_cost_was_seen_it_is_a_floor_under_the_times(picture: module.Morph) -> None:
    scene, call = picture.scene, lines(picture.scene, "call")[0]
    shown = [scene.value(call, "opacity", at=at) for at in range(4)]
    assert shown == [0, 0, 0, 1]
    later = [scene.value(call, "opacity", at=at, seen=True) for at in range(4)]
    assert later == [1, 0, 0, 1] and scene.dim("seen").once == "at"


def test_axes_of_time_and_rate_are_never_there_together(picture: module.Morph) -> None:
    scene = picture.scene
    names = [named(scene, f"axis-{k}")[1] for k in range(3)]
    assert [scene.value(name, "text") for name in names] == [
        "time of one call", "FLOP per second", "FLOP per second, each step a factor of ten",
    ]  # fmt: skip
    for at in np.arange(0, 3.01, 0.05):
        seen = [float(scene.value(name, "opacity", at=float(at))) for name in names]
        assert seen[0] == 0 or seen[1] == seen[2] == 0, at
        if at in (0, 1, 2):
            assert seen == [float(k == at) for k in range(3)]


def test_points_are_told_by_shape_and_guesses_by_colour(picture: module.Morph) -> None:
    shapes = {p["name"].split()[0]: p["shape"] for p in points(picture)}
    assert shapes == {"AXPY": "circle", "GEMV": "square", "GEMM": "diamond"}
    inks = {picture.scene.value(p["mark"], "fill") for p in points(picture)}
    assert inks == {"ink"}
    for guess in named(picture.scene, "guess"):
        assert picture.scene.value(guess, "fill") == "mine"


def test_on_a_narrow_sheet_a_crowd_has_numbers(picture: module.Morph) -> None:
    narrow = picture.sheets[1]
    shown = written(narrow, "name") | written(narrow, "apart")
    assert {str(n) for n in range(1, 11)} <= set(shown)
    key = next(words for kind, words, _ in narrow.notes if kind == "names")
    assert key.startswith("1\u00a0AXPY 256, 2\u00a0GEMV 32×32, 3\u00a0GEMM 8³")
    few = morph(MEASURED[:1], machine=HERE)
    assert not [kind for kind, *_ in few.sheets[1].notes if kind == "names"]
    wide = morph(MEASURED, machine=HERE).scene
    assert not [kind for kind, *_ in wide.notes if kind == "names"], "there each has its name"


def test_a_saved_notebook_keeps_one_picture_and_all_sentences(picture: module.Morph) -> None:
    data, about = picture._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= set(data)
    assert data["text/plain"].count("\n") == 3 + len(OPS)
    assert about["image/png"]["alt"] == data["text/plain"]
    assert picture.still().startswith(b"\x89PNG")
    assert picture.sentence == says(picture)[0]


def test_without_a_known_machine_the_points_still_move(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    moved = morph([measurement(op, "elsewhere", bound(op)) for op in OPS])
    assert not lines(moved.scene, "roof main") and not lines(moved.scene, "call")
    assert "machine=" in says(moved)[2] and "no line" in says(moved)[3]


def test_a_catalogue_machine_has_a_roof_and_no_call_line() -> None:
    scene = morph(MEASURED, machine="h100-sxm").scene
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

    p = points(morph(MEASURED, machine=HERE, guesses={"GEMM 1024³": Kept()}))[8]
    assert "You guessed 5.00 ms" in p["says"]
    Kept.value = None
    p = points(morph(MEASURED, machine=HERE, guesses={"GEMM 1024³": Kept()}))[8]
    assert "guess" not in p


@pytest.mark.parametrize("value", ["soon", 0, -1.0, float("inf"), float("nan"), None, True, [1]])
def test_a_guess_is_a_positive_number_of_seconds(value: object) -> None:
    with pytest.raises(ValueError, match=r"guesses\['axpy 256 fp32'\].*positive number of seconds"):
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


def test_one_measurement_is_told_in_the_singular():
    found = says(morph([measurement(rl.gemm(64, 64, 64), "here", 1e-5)]))
    assert found[0].startswith("Your own measurement, time against work: GEMM 64³ takes 10.0 µs.")
    assert "52.4 GFLOP/s" in found[1]  # 2 · 64³ FLOP in 10 µs
    assert not any("measurements" in one or "points" in one for one in found)
