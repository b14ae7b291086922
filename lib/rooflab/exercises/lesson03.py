"""The exercise of lesson 03 that goes into mine.py: the shortest time of any operation.

All cases are machines of the catalogue; the learner sees their figures, not their names.
"""

from __future__ import annotations

import random

from rooflab.exercises.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import Case, Exercise, Misconception

# Machine and number type; ridges from 1.3 to 400 FLOP/byte, those of the first four below 60.
HIDDEN = (
    ("rtx-4090", "fp64"), ("a100-sxm-80", "fp64"), ("h200-sxm", "fp32"), ("m3-pro", "fp32"),
    ("mi300x", "fp16"), ("h100-sxm", "bf16"), ("l4", "fp16"), ("tpu-v5p", "bf16"),
)  # fmt: skip
LOW = 4


def ridge(peak: float, bandwidth: float) -> float:
    """Intensity, in FLOP/byte, at which slope and flat roof meet."""
    return peak / bandwidth


def attainable(intensity: float, peak: float, bandwidth: float) -> float:
    """The highest speed, in FLOP/s, of an operation of this ``intensity``."""
    return min(peak, intensity * bandwidth)


def _time(flops: int, bytes: int, peak: float, bandwidth: float) -> float:
    return max(flops / peak, bytes / bandwidth)


def _time_cases(rng: random.Random) -> list[Case]:
    """Six machines: left of the ridge, near it, right of it; and a copy, which has no FLOPs.

    Farthest left is a machine with a ridge so low that its operation has more bytes than FLOPs.
    """
    drawn = []
    places = (0.01, 0.5, 0.8, 1.2, 2, 30)
    low = rng.choice(HIDDEN[:LOW])
    others = rng.sample([which for which in HIDDEN if which != low], len(places) - 1)
    for place, which in zip(places, (low, *others), strict=True):
        peak, bandwidth = peak_and_bandwidth(*which)
        nbytes = rng.randrange(10**7, 10**10)
        flops = round(place * rng.uniform(0.9, 1.1) * nbytes * peak / bandwidth)
        drawn.append({"flops": flops, "bytes": nbytes, "peak": peak, "bandwidth": bandwidth})
    rng.shuffle(drawn)
    return [*drawn, {**drawn[0], "flops": 0}]


TIME = Exercise(
    "03-time", "The time of any operation", 2,
    "How many seconds does an operation take at least, on machines you have not seen?",
    "time(flops, bytes, peak, bandwidth)", _time, cases=_time_cases, mine="time",
    given=(ridge, attainable), derives=("Roofline", "HierarchicalRoofline", "predict"),
    insight="With the two roofs of your machine, no operation that comes from memory takes less "
            "time than that.",
    misconceptions=(
        Misconception("sum for max", lambda f, n, p, b: f / p + n / b,
                      "that is no overlap, up to 2× too slow: both happen at the same time."),
        Misconception("min for max", lambda f, n, p, b: min(f / p, n / b),
                      "the shorter of the two has to wait for the longer."),
        Misconception("only computing", lambda f, n, p, b: f / p,
                      "at 0.01 FLOP/byte you promise the full peak; the bytes take time too."),
        Misconception("only carrying", lambda f, n, p, b: n / b,
                      "right of the ridge the processor takes longer than the memory."),
        Misconception("multiply-adds", lambda f, n, p, b: max(2 * f / p, n / b),
                      "`flops` counts 2 for each multiply-add already."),
        Misconception("rate, not time", lambda f, n, p, b: min(p, f / n * b),
                      "that is FLOP/s; how long does it take to do `flops` at that rate?"),
        Misconception("times for divided by", lambda f, n, p, b: max(f * p, n * b),
                      "look at the units: FLOP and FLOP/s have to make seconds."),
        Misconception("peak and bandwidth exchanged", lambda f, n, p, b: max(f / b, n / p),
                      "the peak does the FLOPs, the bandwidth carries the bytes."),
        Misconception("the mean of both", lambda f, n, p, b: (f / p + n / b) / 2,
                      "the time is the longer of the two; nothing is averaged."),
        Misconception("elements for bytes", lambda f, n, p, b: max(f / p, 4 * n / b),
                      "`bytes` counts bytes already, whatever a number takes.",
                      variants=(lambda f, n, p, b: max(f / p, 8 * n / b),)),
        Misconception("a copy is free", lambda f, n, p, b: _time(f, n, p, b) if f else 0,
                      "a copy has no FLOPs, and its bytes have to travel all the same."),
        Misconception("upside down", lambda *case: 1 / _time(*case),
                      "that is operations per second; seconds are wanted."),
        Misconception("a border at 1", lambda f, n, p, b: f / p if f > n else n / b,
                      "which of the two takes longer depends on the machine: its ridge is hardly "
                      "ever at 1 FLOP/byte."),
        Misconception("only a copy waits", lambda f, n, p, b: f / p if f else n / b,
                      "an operation with a few FLOPs for many bytes waits for its bytes too."),
    ),
    errors=(("ZeroDivisionError", "FLOPs ÷ attainable", "a copy has 0 FLOPs and the speed 0, and "
             "0 ÷ 0 is no time; take the longer of two times, that of carrying and that of "
             "computing."),),
)  # fmt: skip

EXERCISES = (TIME,)
