"""Lesson 00 says the right thing on every simulated machine, and when a measurement is off."""

from __future__ import annotations

import re
from dataclasses import replace

import rooflab as rl
from rooflab.measure.free_lunch import FreeLunch, K
from tests.conclusions.machines import MACHINES, MiB, Simulated, Trial, core, faults
from tests.support.rows import each_row

H200 = rl.Roofline("h200-sxm", "fp32")


def near_the_bend(here: Simulated):
    """The curve with a round corner: 20 % above the model where both bars are nearly equal."""
    curve = here.curve()
    bend = 4 * curve.ridge
    worst = min(curve.k, key=lambda k: max(k / bend, bend / k))
    seconds = [s * (1.2 if k == worst else 1) for k, s in zip(curve.k, curve.seconds, strict=True)]
    return replace(curve, seconds=tuple(seconds))


# What is given on each machine, and the case that it must choose there.
TABLE: dict[str, Trial] = {
    "00-nine": (
        lambda here: (here.curve(),),
        {
            "hybrid laptop": "free", "M-series Mac": "partly", "4 MB of L3": "free",
            "300 MB of L3": "free", "H200": "free",
        },
    ),
    "00-free": (lambda here: (here.curve(),), dict.fromkeys(MACHINES, "some")),
    "00-agree": (lambda here: (here.curve(), here.machine), dict.fromkeys(MACHINES, "agree")),
    "00-elsewhere": (
        lambda here: (here.curve(), H200),
        {
            "hybrid laptop": "more there", "M-series Mac": "more there",
            "4 MB of L3": "more there", "300 MB of L3": "more there", "H200": "alike",
        },
    ),
    "00-corner": (lambda here: (near_the_bend(here),), dict.fromkeys(MACHINES, "bend")),
}  # fmt: skip


def test_every_machine_gets_its_sentence():
    assert faults("00", TABLE) == []


def test_the_title_is_answered_with_four_times_the_ridge():
    """61 GFLOP/s and 26 GB/s: 2.35 FLOP/byte, so 9 multiply-adds on each fp32 number."""
    said = rl.conclude("00-free", MACHINES["hybrid laptop"].curve()).text
    assert "about **9 multiply-adds on each number**" in said
    curve = MACHINES["300 MB of L3"].curve()  # 192 and 18: 42.7
    assert "about **43 multiply-adds" in rl.conclude("00-free", curve).text


def test_a_round_corner_is_not_called_a_free_lunch():
    """By the ridge 43 are free; a curve that has risen by a half at 17 gives away less."""
    curve = MACHINES["300 MB of L3"].curve()
    rising = {1: 1.0, 2: 1.02, 3: 1.06, 5: 1.15, 9: 1.3, 17: 1.5, 33: 1.7}
    seconds = [s * rising.get(k, 1) for k, s in zip(curve.k, curve.seconds, strict=True)]
    said = rl.conclude("00-free", replace(curve, seconds=tuple(seconds)))
    assert said.case == "round" and "leaves the flat part after 3." in said.text


def test_one_disturbed_point_does_not_end_the_flat_part():
    curve = MACHINES["300 MB of L3"].curve()  # bend at 43
    seconds = [s * (1.3 if k == 3 else 1) for k, s in zip(curve.k, curve.seconds, strict=True)]
    said = rl.conclude("00-nine", replace(curve, seconds=tuple(seconds)))
    assert "Up to **33** the clock hardly notices" in said.text


def slower(curve: FreeLunch, factor: float, *at: int) -> FreeLunch:
    """``curve`` with the points ``at`` taking ``factor`` times as long."""
    return replace(
        curve,
        seconds=tuple(
            s * (factor if k in at else 1) for k, s in zip(curve.k, curve.seconds, strict=True)
        ),
    )


def test_a_disturbed_ninth_point_is_not_paid_for():
    """Flat up to 33, and the point at 9 alone took 1.6 times as long: not "you pay for some"."""
    said = rl.conclude("00-nine", slower(MACHINES["300 MB of L3"].curve(), 1.6, 9))
    assert said.case == "disturbed" and "**1.6 times**" in said.text
    assert "17 multiply-adds took less time than 9" in said.text
    assert "Up to **33** the clock hardly notices" in said.text and "you pay" not in said.text


@each_row(*MACHINES)
@each_row(*K)
def test_no_single_bad_point_makes_the_flat_part_cost_something(k, here):
    """Whatever was disturbed: what is within the flat part is not paid for."""
    for factor in (1.2, 1.4, 1.6, 2.5):
        text = rl.conclude("00-nine", slower(MACHINES[here].curve(), factor, k)).text
        flat = re.search(r"Up to \*\*(\d+)\*\*", text)
        assert "pay for" not in text or not flat or int(flat.group(1)) < 9, text


def test_a_disturbed_first_point_does_not_make_nine_quicker_than_one():
    said = rl.conclude("00-nine", slower(MACHINES["300 MB of L3"].curve(), 1.4, 1))
    assert said.case == "disturbed" and "took less time than 1." in said.text


def test_a_price_of_a_third_is_not_called_next_to_nothing():
    said = rl.conclude("00-nine", slower(MACHINES["300 MB of L3"].curve(), 1.33, *K[4:]))
    assert said.case == "free" and "cost only 33 % more time" in said.text


def test_a_curve_that_never_turns_is_not_said_to_turn():
    """A ridge of 70 FLOP/byte: the bend is at 280, behind the last point."""
    flat = replace(
        MACHINES["300 MB of L3"],
        machine=core(
            "high", peaks={"fp32": 70 * 18e9}, dram=(18e9,) * 4, caches={"l3": (4 * MiB, 3e10)}
        ),
    ).curve()
    said = rl.conclude("00-nine", flat).text
    assert "Up to **257**, the last point" in said and "never turns" in said
    assert "twice the time" not in said
    for name, *more in (("00-free",), ("00-elsewhere", H200), ("00-corner",)):
        assert "only a lower bound" in rl.conclude(name, flat, *more).text
    high = core("high", peaks={"fp32": 9e12}, dram=(18e9,) * 4, caches={"l3": (4 * MiB, 3e10)})
    agreed = rl.conclude("00-agree", flat, high)
    assert agreed.case == "agree" and "peak ×" not in agreed.text and "bound" in agreed.text
    assert rl.conclude("00-corner", flat).case == "not reached"
    barely = rl.conclude("00-nine", slower(flat, 1.2, 257)).text
    assert "Up to **129** the clock hardly notices; then the curve turns." in barely


@each_row("00-free", "00-corner")
def test_a_peak_that_hangs_on_two_points_is_said_to(name):
    """With the bend at 43 only 129 and 257 take twice as long as the fastest point, or longer."""
    few, many = MACHINES["300 MB of L3"].curve(), MACHINES["4 MB of L3"].curve()
    said = rl.conclude(name, few).text
    assert "Only two points, 129 and 257, carry the peak" in said
    assert "rl.free_lunch((*curve.k, 514, 1028))" in said
    assert len(many.rising) == 3 and "carry the peak" not in rl.conclude(name, many).text


def test_a_single_multiply_add_is_one():
    spoiled = slower(MACHINES["hybrid laptop"].curve(), 1.3, 1)
    assert "worst at 1 multiply-add, " in rl.conclude("00-corner", spoiled).text


def test_a_core_without_a_free_lunch_is_told_so():
    curve = MACHINES["M-series Mac"].curve()
    slow = replace(curve, seconds=tuple(k * 1e-3 for k in curve.k))
    assert rl.conclude("00-free", slow).case == "none"
    assert rl.conclude("00-nine", slow).case == "mostly"
    assert "rise with its second point already" in rl.conclude("00-nine", slow).text
    assert rl.conclude("00-elsewhere", slow, H200).case == "more there"


def test_longer_and_shorter_lunches_than_on_a_datasheet():
    curve = MACHINES["300 MB of L3"].curve()  # 10.7 FLOP/byte
    l4, a100 = rl.Roofline("l4", "fp32"), rl.Roofline("a100-sxm-80", "fp32")
    assert rl.conclude("00-elsewhere", curve, l4).case == "more there"  # 101
    assert rl.conclude("00-elsewhere", curve, a100).case == "alike"  # 9.6
    slim = rl.Roofline(rl.Machine("slim", peaks={"fp32": 2e11}, bandwidths=1e11), "fp32")
    said = rl.conclude("00-elsewhere", curve, slim)
    assert said.case == "more here" and "gives away 5.3 times as many" in said.text


@each_row(
    ((1, 1), "agree"), ((1.4, 1), "bandwidth"), ((1, 0.6), "peak"), ((2, 2), "bandwidth and peak")
)
def test_two_ways_that_do_not_agree_are_named(factors, case):
    here = MACHINES["hybrid laptop"]
    faster, stronger = factors
    curve = replace(here, machine=_changed(here, faster, stronger)).curve()
    said = rl.conclude("00-agree", curve, here.machine)
    assert said.case == case
    assert ("do **not** agree" in said.text) == (case != "agree")


def _changed(here: Simulated, faster: float, stronger: float):
    data = here.machine.to_dict()
    data["bandwidths"]["dram"]["update"]["value"] *= faster
    data["peaks"]["fp32"]["value"] *= stronger
    return type(here.machine).from_dict(data)


def test_the_corner_is_blamed_only_if_it_is_the_worst_place():
    curve = MACHINES["hybrid laptop"].curve()
    assert rl.conclude("00-corner", curve).case == "nowhere"
    spoiled = replace(curve, seconds=(curve.seconds[0] * 1.3, *curve.seconds[1:]))
    assert rl.conclude("00-corner", spoiled).case == "elsewhere"


def bars(curve):
    """Seconds of carrying, and of computing for each k, as the curve itself gives them."""
    carrying = curve.bytes / curve.bandwidth
    return [(carrying, 2 * k * curve.n / curve.peak) for k in curve.k]


@each_row("hybrid laptop", "4 MB of L3", "300 MB of L3")
def test_a_core_that_takes_turns_is_said_to_overlap_only_partly(here):
    curve = MACHINES[here].curve()
    turns = replace(curve, seconds=tuple(map(sum, bars(curve))))
    said = rl.conclude("00-corner", turns)
    assert said.case == "sum" and "overlap only partly" in said.text
    rounded = rl.conclude("00-free", turns)
    assert rounded.case == "round" and "overlap only partly" in rounded.text


def test_more_than_both_bars_together_is_blamed_on_something_else():
    curve = MACHINES["hybrid laptop"].curve()  # bend at 9
    seconds = [
        1.4 * sum(pair) if k == 9 else max(pair)
        for k, pair in zip(curve.k, bars(curve), strict=True)
    ]
    said = rl.conclude("00-corner", replace(curve, seconds=tuple(seconds)))
    assert said.case == "above the sum" and "again" in said.text


def test_a_curve_that_overlaps_but_for_the_bend_is_not_said_to_take_turns():
    """Flat up to 17, worst 1.4 times the longer bar at the bend: the longer bar fits better."""
    curve = MACHINES["300 MB of L3"].curve()  # bend at 43
    seconds = [s * (1.4 if k == 33 else 1) for k, s in zip(curve.k, curve.seconds, strict=True)]
    said = replace(curve, seconds=tuple(seconds))
    assert rl.conclude("00-corner", said).case == "bend"
    assert rl.conclude("00-free", said).case == "some"


def test_a_warning_of_the_clock_is_printed_with_the_number():
    curve = MACHINES["H200"].curve(warnings=("on battery",))
    for name, (given, _) in TABLE.items():
        more = given(MACHINES["H200"])[1:]
        assert "*Warning: on battery.*" in rl.conclude(name, curve, *more).text, name
