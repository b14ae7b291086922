"""The morph: where points, roofs and call lines stand at the named stops, and in between."""

from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import pytest

import rooflab as rl
from rooflab.show import time_to_roofline as module
from rooflab.show.time_to_roofline import LAST, PLOT, STOPS, morph, stop_of
from tests.support.machine import measurement
from tests.support.morph_example import CALLS, HERE, MEASURED, OPS, bound, point


@pytest.fixture(scope="module")
def picture() -> module.Morph:
    return morph(
        MEASURED, machine=HERE, guesses={"gemm 1024×1024×1024 fp32": 0.2, "axpy 256 fp32": 1e-5}
    )


def test_the_named_stops_are_a_hundred_apart(picture: module.Morph) -> None:
    assert LAST == 300 == 100 * (len(STOPS) - 1)
    assert picture.at == 0 and len(picture.geometry["says"]) == len(STOPS)


def test_the_words_change_when_the_axes_have_turned() -> None:
    assert [stop_of(at) for at in (0, 49, 51, 100, 150, 184)] == [0, 0, 1, 1, 1, 1]
    assert [stop_of(at) for at in (185, 200, 249, 251, 300)] == [2, 2, 2, 3, 3]
    assert STOPS[1] == "speed against intensity", "the word of the sentences"


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
    spots = [p["at"] for p in picture.geometry["points"]]
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
        assert p["guess"]["says"] == off and off in p["says"]


@pytest.mark.parametrize("t", [0.0, 0.1, 0.35, 0.5, 0.8, 1.0])
def test_on_the_way_to_decades_no_point_rises_above_the_roof(
    picture: module.Morph, t: float
) -> None:
    """A place depends on the two scales alone, so what lies under the roof stays under it."""
    roof = picture.geometry["roofs"][0]
    line = (1 - t) * np.array(roof["path"][1]) + t * np.array(roof["path"][2])
    assert (np.diff(line[:, 0]) >= 0).all()
    for p in picture.geometry["points"]:
        x, y = (1 - t) * np.array(p["at"][1]) + t * np.array(p["at"][2])
        over = np.interp(x, line[:, 0], line[:, 1])
        assert y >= over - 3, p["name"]  # y grows downwards; chords of the bend cut off a little


def test_the_roof_has_its_corner_at_the_ridge(picture: module.Morph) -> None:
    path = np.array(picture.geometry["roofs"][0]["path"][2])
    rising = np.diff(path[:, 1]) < -0.05
    corner = path[:-1][rising][-1], path[1:][rising][-1]
    ridge = rl.Roofline(HERE, "fp32").ridge
    gemm = point(picture, "GEMM 8³")["at"][2][0], point(picture, "GEMM 256³")["at"][2][0]
    per_decade = (gemm[1] - gemm[0]) / math.log10(OPS[7].intensity / OPS[2].intensity)
    x = gemm[0] + per_decade * math.log10(ridge / OPS[2].intensity)
    assert corner[0][0] <= x + 0.2 and corner[1][0] >= x - per_decade / 4


def test_the_call_line_is_flop_over_call_time_and_a_floor_over_work(picture: module.Morph) -> None:
    calls = {line["look"]: line for line in picture.geometry["calls"]}
    assert set(calls) == {"axpy", "gemv", "gemm"}, "the call decides for a small one of each"
    for name, line in calls.items():
        assert rl.si(CALLS[name], "s") in line["says"]
        heights = {y for _, y in line["path"][0]}
        assert len(heights) == 1, "over work the time of a call is the same for all sizes"
        assert line["path"][0][0][0] == PLOT[0] and line["path"][0][-1][0] == PLOT[2]
    path = np.array(calls["gemm"]["path"][2])
    steep = (path[-1, 1] - path[6, 1]) / (path[-1, 0] - path[6, 0])
    one = point(picture, "GEMM 8³")["at"][2], point(picture, "GEMM 256³")["at"][2]
    x_decade = (one[1][0] - one[0][0]) / math.log10(OPS[7].intensity / OPS[2].intensity)
    y_decade = (one[0][1] - one[1][1]) / math.log10(
        OPS[7].flops / bound(OPS[7]) / (OPS[2].flops / bound(OPS[2]))
    )
    assert -steep * x_decade / y_decade == pytest.approx(3, rel=0.02), "FLOP grow with intensity³"


def test_a_small_point_lies_just_below_its_call_line(picture: module.Morph) -> None:
    path = np.array(next(c for c in picture.geometry["calls"] if c["look"] == "gemm")["path"][2])
    x, y = point(picture, "GEMM 8³")["at"][2]
    over = np.interp(x, path[:, 0], path[:, 1])
    rates = [OPS[i].flops / bound(OPS[i]) for i in (0, 3)]
    small, big = point(picture, "AXPY 256")["at"][2], point(picture, "AXPY 20\u202f000")["at"][2]
    per_decade = (small[1] - big[1]) / math.log10(rates[1] / rates[0])
    gap = per_decade * math.log10(bound(OPS[2]) / CALLS["gemm"])
    assert y - over == pytest.approx(gap, abs=0.5)


def test_a_sentence_tells_count_time_rate_and_limit(picture: module.Morph) -> None:
    says = point(picture, "AXPY 256")["says"]
    assert "512 FLOP over 3.07 kB is 0.1667 FLOP/byte" in says
    assert "2.02 GFLOP/s" in says and "limit is the cost of the call" in says
    assert point(picture, "GEMM 1024³")["says"].count("arithmetic") == 1
    time, rate, roof, call = picture.geometry["says"]
    assert "crushed" in time and "points" in rate
    assert "20.0 GB/s" in roof and "120 GFLOP/s" in roof and "ridge at 6" in roof
    assert "100 ns to 200 ns" in call


def test_state_is_small_plain_and_the_same_every_time(picture: module.Morph) -> None:
    text = json.dumps(picture.geometry)
    assert len(text) < 60_000
    again = morph(MEASURED, machine=HERE, guesses={OPS[8]: 0.2, "AXPY 256": 1e-5})
    assert json.dumps(again.geometry) == text
    assert again.model_id != picture.model_id and picture.model_id.startswith("rooflab-morph")


def test_a_saved_notebook_keeps_one_picture_and_all_sentences(picture: module.Morph) -> None:
    data, about = picture._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= set(data)
    assert data["text/plain"].count("\n") == 3 + len(OPS)
    assert about["image/png"]["alt"] == data["text/plain"]
    assert picture.still().startswith(b"\x89PNG")
    assert picture.sentence == picture.geometry["says"][0]


def test_without_a_known_machine_the_points_still_move(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    geometry = morph([measurement(op, "elsewhere", bound(op)) for op in OPS]).geometry
    assert geometry["roofs"] == [] == geometry["calls"]
    assert "machine=" in geometry["says"][2] and "no line" in geometry["says"][3]


def test_a_catalogue_machine_has_a_roof_and_no_call_line() -> None:
    geometry = morph(MEASURED, machine="h100-sxm").geometry
    assert len(geometry["roofs"]) == 1 and geometry["calls"] == []


def test_one_measurement_is_enough_and_a_repeated_one_counts_once() -> None:
    once = morph(MEASURED[0], machine=HERE)
    twice = morph([measurement(OPS[0], "here", 1.0), MEASURED[0]], machine=HERE)
    assert once.geometry["points"] == twice.geometry["points"]
    assert len(once.geometry["points"]) == 1


def test_two_of_a_name_are_told_apart() -> None:
    seen = [measurement(rl.gemm(64, 64, 64, kind), "here", 1e-5) for kind in ("fp32", "fp64")]
    names = [p["name"] for p in morph(seen, machine=HERE).geometry["points"]]
    assert names == ["GEMM 64³, fp32", "GEMM 64³, fp64"]


def test_a_guess_from_the_store_comes_in_its_own_unit() -> None:
    class Kept:
        value = 5.0
        question = type("Question", (), {"unit": "ms"})

    p = morph(MEASURED, machine=HERE, guesses={"GEMM 1024³": Kept()}).geometry["points"][8]
    assert "You guessed 5.00 ms" in p["says"]
    Kept.value = None
    p = morph(MEASURED, machine=HERE, guesses={"GEMM 1024³": Kept()}).geometry["points"][8]
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
    found = morph([measurement(rl.gemm(64, 64, 64), "here", 1e-5)]).geometry["says"]
    assert found[0].startswith("Your own measurement, time against work: GEMM 64³ takes 10.0 µs.")
    assert "52.4 GFLOP/s" in found[1]  # 2 · 64³ FLOP in 10 µs
    assert not any("measurements" in one or "points" in one for one in found)
