"""The words of the morph: caches in one label, what limits a point, and input that is refused."""

from __future__ import annotations

import dataclasses

import pytest

import rooflab as rl
from rooflab.show.guess_axis import guess
from rooflab.show.measured_points import Dot
from rooflab.show.time_to_roofline import morph, short
from tests.support.machine import ROOFS, measurement
from tests.support.morph_example import HERE, MEASURED, OPS, point, points, written

TWO = MEASURED[::8]  # AXPY 256 and GEMM 1024³
SIZES = (1000, 8192, 1_000_000, 2**24)  # of AXPY: they lie in L1, L2, L3 and in memory


def machine(**rates: float) -> rl.Machine:
    """The test machine with other bandwidths of its levels."""
    mixes = ("read", "axpy", "copy", "update")
    own = {
        name: {mix: {"value": rate, "samples": []} for mix in mixes} for name, rate in rates.items()
    }
    roofs = ROOFS | {"bandwidth": ROOFS["bandwidth"] | own}
    return rl.Machine.from_roofs(roofs, id="here", name="A test machine")


def warm(n: int) -> object:
    return dataclasses.replace(measurement(rl.axpy(n), "here", 2e-9 * n), cache="warm")


def names_of_roofs(where: rl.Machine, sizes=SIZES) -> list[str]:
    return [*written(morph([warm(n) for n in sizes], machine=where).scene, "roof-says")]


def test_memory_has_two_names_and_all_caches_share_one() -> None:
    assert names_of_roofs(machine()) == [
        "fp32 120 GFLOP/s", "memory 20.0 GB/s", "caches 60.0 to 400 GB/s",
    ]  # fmt: skip
    assert names_of_roofs(machine(), (8192, 2**24))[2:] == ["L2 150 GB/s"]


def test_a_span_of_caches_names_both_units_where_they_differ() -> None:
    fast = machine(l1=1.12e12, l2=463e9, l3=368e9)
    assert names_of_roofs(fast)[-1] == "caches 368 GB/s to 1.12 TB/s"
    slow = machine(l1=2e9, l2=1e9, l3=0.9e9, dram=0.5e9)
    assert names_of_roofs(slow)[-1] == "caches 900 MB/s to 2.00 GB/s"


def test_a_warm_point_is_told_which_cache_served_it() -> None:
    said = [p["says"] for p in points(morph([warm(n) for n in SIZES], machine=machine()))]
    for text, cache in zip(said, ("L1", "L2", "L3")):
        assert text.endswith(f"The limit is memory, served by the {cache} cache.")
    assert said[3].endswith("The limit is memory.")


def test_a_guess_is_said_with_its_factor_on_either_side() -> None:
    for guessed, words in [
        (1e-3, "spot on"), (1.09e-3, "spot on"), (1.2e-3, "off by ×1.2"), (1e-4, "off by ×10"),
    ]:  # fmt: skip
        dot = Dot(rl.axpy(9), "cold", 1e-3, "AXPY 9", "")
        assert dot.off_by(guessed) == words
        assert dot.guess_told(guessed) == f" You guessed {rl.si(guessed, 's')}: {words}."


def test_a_tick_has_no_zeros_that_say_nothing() -> None:
    for value, unit, text in [
        (5e-3, "s", "5 ms"), (2.5e9, "", "2.5 G"), (1e3, "", "1 k"), (7.0, "s", "7 s"),
        (0.5, "", "500 m"),
    ]:  # fmt: skip
        assert short(value, unit) == text


def test_a_guess_beyond_the_picture_points_to_where_it_is() -> None:
    guesses = {OPS[8]: 1e9, OPS[0]: 1e-30}
    slow, fast = (
        point(morph(TWO, machine=HERE, guesses=guesses), name)["guess"]
        for name in ("GEMM 1024³", "AXPY 256")
    )
    assert slow["says"].endswith(" ↓") and fast["says"].endswith(" ↑")
    heights = [[y for _, y in one["at"]] for one in (slow, fast)]
    assert heights[0] == [34, pytest.approx(436, abs=1), 436], "a rate of nearly zero lies low"
    assert heights[1] == [pytest.approx(436, abs=1), 34, 34], "and so does a time of nearly zero"


def test_what_does_no_flop_has_no_rate_to_show() -> None:
    copied = rl.elementwise("copy", 100, cost={"copy": 0})
    with pytest.raises(ValueError, match="measurements: copy 100 fp32 does no FLOP"):
        morph([measurement(copied, "here", 1e-6)], machine=HERE)


def test_an_axis_in_another_unit_than_time_is_refused() -> None:
    axis = guess("x", "How fast?", result=4.0, unit="GB/s", low=1, high=200)
    with pytest.raises(ValueError, match="is in 'GB/s'; a guess here is a time"):
        morph(TWO, machine=HERE, guesses={OPS[0]: axis})

    class Kept:
        value = 5.0
        question = type("Question", (), {"unit": "GB/s"})

    with pytest.raises(ValueError, match="is in 'GB/s'; a guess here is a time, in seconds"):
        morph(TWO, machine=HERE, guesses={OPS[0]: Kept()})


def test_an_uncovered_axis_gives_its_guess_in_its_own_unit() -> None:
    unit, value, seconds = "µs", 7.0, 7e-6
    axis = guess("x", "How long?", result=value, unit=unit, low=value / 9, high=value * 9)
    axis.guess_at = 120
    axis.covered = False
    p = point(morph(TWO, machine=HERE, guesses={OPS[8]: axis}), "GEMM 1024³")
    assert f"You guessed {rl.si(axis.value * seconds / value, 's')}" in p["says"]
    axis.forget()
    assert axis.value is None and axis.covered
    axis.covered = False  # looked, without a guess
    assert "guess" not in point(morph(TWO, machine=HERE, guesses={OPS[8]: axis}), "GEMM 1024³")
