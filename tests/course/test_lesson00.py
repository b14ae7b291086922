"""Facts of lesson 00, its exercises and its sentences."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import rooflab as rl
from rooflab.exercises.sentences import conclude
from rooflab.measure.free_lunch import FreeLunch, K
from rooflab.predict.roofline import Roofline
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.support.rows import each_row

H200, L4, A100 = (Roofline(name, "fp32") for name in ("h200-sxm", "l4", "a100-sxm-80"))
SLIM = Roofline(rl.Machine("slim", peaks={"fp32": 2e11}, bandwidths=1e11), "fp32")


def lunch(
    on: Simulated, carry: float = 1, compute: float = 1, turns: float = 0, **times: float
) -> FreeLunch:
    """The curve of a core that takes so many times as long to ``carry`` and to ``compute``.

    ``turns``: how much of the shorter bar comes on top of the longer one; ``k9=1.6``: the time of
    that point, over and above.
    """
    curve = on.curve()
    carrying = carry * curve.bytes / on.machine.bandwidth(mix="update")
    computing = compute * 2 * curve.k * curve.n / on.machine.peak("fp32", "vector")
    seconds = tuple(
        (max(carrying, own) + turns * min(carrying, own)) * times.get(f"k{k}", 1)
        for k, own in zip(K, computing.tolist(), strict=True)
    )
    return replace(curve, seconds=seconds)


def any_lunch(on: Simulated, rng: random.Random) -> FreeLunch:
    """Overlapping or taking turns, with its bend anywhere, and at times with points disturbed."""
    odd = rng.choice(((), (), (rng.choice(K),), K[4:]))
    times = {f"k{k}": rng.choice((1.15, 1.35, 1.5, 2.5)) for k in odd}
    carry, compute = (rng.choice((1, 1, 1.4, 0.2, 0.07, 6)) * rng.uniform(0.98, 1.02) for _ in "ab")
    return lunch(on, carry, compute, rng.choice((0, 0, 0.1, 0.5, 1)), **times)


TRIALS = {
    "00-nine": lambda on, rng: (any_lunch(on, rng),),
    "00-free": lambda on, rng: (any_lunch(on, rng),),
    "00-agree": lambda on, rng: (any_lunch(on, rng), on.machine),
    "00-elsewhere": lambda on, rng: (any_lunch(on, rng), rng.choice((H200, L4, A100, SLIM))),
    "00-corner": lambda on, rng: (any_lunch(on, rng),),
}


LAPTOP, SMALL, XEON = (MACHINES[n] for n in ("hybrid laptop", "4 MB of L3", "300 MB of L3"))
FLAT = lunch(XEON, compute=0.15)  # the bend is at 284, behind the last point
RISES = {"k2": 1.02, "k3": 1.06, "k5": 1.15, "k9": 1.3, "k17": 1.5, "k33": 1.7}


@each_row(*MACHINES)
@each_row(*K)
def test_no_single_bad_point_makes_the_flat_part_cost_something(k, here):
    """Whatever was disturbed: what is within the flat part is not paid for."""
    for factor in (1.2, 1.4, 1.6, 2.5):
        text = conclude("00-nine", lunch(MACHINES[here], **{f"k{k}": factor})).text
        flat = re.search(r"Up to \*\*(\d+)\*\*", text)
        assert "pay for" not in text or not flat or int(flat.group(1)) < 9, text


def nine(on: Simulated, **times: float):
    return conclude("00-nine", lunch(on, **times))


def agree(carry: float, compute: float):
    return conclude("00-agree", lunch(LAPTOP, carry, compute), LAPTOP.machine)


@each_row(
    # The bend is at 43: one disturbed point does not end the flat part and is not paid for.
    (lambda: nine(XEON, k3=1.3), "free", ["next to nothing", "Up to **33** the clock"], []),
    (lambda: nine(XEON, k9=1.6), "disturbed",
     ["**1.6 times**", "17 multiply-adds took less time than 9", "Up to **33**"], ["you pay"]),
    (lambda: nine(XEON, k1=1.4), "disturbed", ["took less time than 1."], []),
    (lambda: nine(XEON, **{f"k{k}": 1.33 for k in K[4:]}), "free", ["only 33 % more time"], []),
    (lambda: nine(MACHINES["M-series Mac"]), "partly", ["takes twice the time"], []),
    (lambda: nine(LAPTOP, carry=0.01), "mostly", ["rise at its second point"], []),
    # A ridge of 71 FLOP/byte: no point is on the rising end, so the peak is not compared.
    (lambda: conclude("00-nine", FLAT), "free",
     ["Up to **257**, the last point", "never turns"], ["twice the time"]),
    (lambda: nine(XEON, compute=0.15, k257=1.2), "free",
     ["Up to **129** the clock hardly notices; then the curve turns."], []),
    (lambda: conclude("00-elsewhere", FLAT, H200), "more here", ["only a lower bound"], []),
    (lambda: conclude("00-corner", FLAT), "not reached", ["only a lower bound"], []),
    (lambda: conclude("00-agree", FLAT, XEON.machine), "agree", ["only a lower bound"], ["peak ×"]),
    # 61 GFLOP/s and 26 GB/s: 2.35 FLOP/byte, so 9 multiply-adds on each fp32 number; 192 and 18: 43
    (lambda: conclude("00-free", LAPTOP.curve()), "some",
     ["ridge of 2.35", "about **9 multiply-adds on each number**"], ["lower bound"]),
    # Only 129 and 257 take twice as long as the fastest point, or longer; with 4 MB of L3 65 too.
    (lambda: conclude("00-free", XEON.curve()), "some",
     ["about **43 multiply-adds", "Only two points, 129 and 257, carry the peak",
      "rl.free_lunch((*curve.k, 514, 1028))"], []),
    (lambda: conclude("00-corner", XEON.curve()), "nowhere", ["Only two points"], []),
    (lambda: conclude("00-free", SMALL.curve()), "some", [], ["carry the peak"]),
    # By the ridge 43 are free; a curve that has risen by a half at 17 gives away less.
    (lambda: conclude("00-free", lunch(XEON, **RISES)), "round", ["flat part after 3."], []),
    (lambda: conclude("00-free", lunch(XEON, turns=1)), "round", ["overlap only partly"], []),
    (lambda: conclude("00-free", lunch(LAPTOP, carry=0.01)), "none", ["gives nothing away"], []),
    # 10.7 FLOP/byte beside 101, 9.6 and 2
    (lambda: conclude("00-elsewhere", XEON.curve(), L4), "more there", [], []),
    (lambda: conclude("00-elsewhere", XEON.curve(), A100), "alike", [], []),
    (lambda: conclude("00-elsewhere", XEON.curve(), SLIM), "more here",
     ["gives away 5.3 times as many"], []),
    (lambda: agree(1, 1), "agree", ["bandwidth ×1.00, peak ×1.00"], ["**not**"]),
    (lambda: agree(0.7, 1), "bandwidth", ["do **not** agree about the bandwidth ("], []),
    (lambda: agree(1, 1.6), "peak", ["do **not** agree about the peak ("], []),
    (lambda: agree(0.5, 0.5), "bandwidth and peak", ["about the bandwidth and the peak ("], []),
    # The corner is blamed only if it is the worst place: the laptop's bend is at 9.
    (lambda: conclude("00-corner", LAPTOP.curve()), "nowhere", [], []),
    (lambda: conclude("00-corner", lunch(LAPTOP, k1=1.3)), "elsewhere",
     ["worst at 1 multiply-add, 1.30 times"], []),
    (lambda: conclude("00-corner", lunch(LAPTOP, turns=1)), "sum", ["overlap only partly"], []),
    (lambda: conclude("00-corner", lunch(LAPTOP, k9=2.8)), "above the sum",
     ["the sum of both bars", "again"], ["partly"]),
    # Flat up to 17, worst 1.4 times the longer bar at the bend: the longer bar fits better.
    (lambda: conclude("00-corner", lunch(XEON, k33=1.4)), "bend", ["hides behind"], ["partly"]),
    (lambda: conclude("00-free", lunch(XEON, k33=1.4)), "some", [], ["sooner"]),
)  # fmt: skip
def test_what_is_said_and_what_is_not(tell, case, words, never):
    assert not unsaid(tell(), case, words, never)
