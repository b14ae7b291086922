"""Exercises of lesson 03, the roofline: ridge, attainable and time, which go into mine.py.

All cases are machines of the catalogue; the learner sees their figures, not their names.
"""

from __future__ import annotations

import random

from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.predict.catalogue import machine

# Machine and number type; ridges from 1.3 to 400 FLOP/byte.
HIDDEN = (
    ("rtx-4090", "fp64"), ("a100-sxm-80", "fp64"), ("h200-sxm", "fp32"), ("m3-pro", "fp32"),
    ("mi300x", "fp16"), ("h100-sxm", "bf16"), ("l4", "fp16"), ("tpu-v5p", "bf16"),
)  # fmt: skip
FLAT = "no arithmetic is done on numbers that have not arrived; the slope counts too."


def peak_and_bandwidth(name: str, kind: str) -> tuple[float, float]:
    """Peak in FLOP/s and bandwidth in byte/s of a catalogue machine; fp64 without matrix units."""
    found = machine(name)
    unit = "vector" if kind == "fp64" else None
    return float(found.peak(kind, unit)), float(found.bandwidth())


def _ridge(peak: float, bandwidth: float) -> float:
    return peak / bandwidth


def _attainable(intensity: float, peak: float, bandwidth: float) -> float:
    return min(peak, intensity * bandwidth)


def _time(flops: int, bytes: int, peak: float, bandwidth: float) -> float:
    return max(flops / peak, bytes / bandwidth)


def _ridge_cases(rng: random.Random) -> list[Case]:
    roofs = [peak_and_bandwidth(*which) for which in rng.sample(HIDDEN, 5)]
    return [{"peak": peak, "bandwidth": bandwidth} for peak, bandwidth in roofs]


def _attainable_cases(rng: random.Random) -> list[Case]:
    """Far left, on the slope, close to the ridge on either side, and far right."""
    drawn = []
    for place, which in zip((None, 0.2, 0.9, 1.3, 20), rng.sample(HIDDEN, 5), strict=True):
        peak, bandwidth = peak_and_bandwidth(*which)
        at = 0.01 if place is None else place * rng.uniform(0.9, 1.1) * peak / bandwidth
        drawn.append({"intensity": round(at, 4), "peak": peak, "bandwidth": bandwidth})
    return drawn


def _time_cases(rng: random.Random) -> list[Case]:
    """Six machines: left of the ridge, near it, right of it; and a copy, which has no FLOPs."""
    drawn = []
    places = (0.01, 0.5, 0.8, 1.2, 2, 30)
    for place, which in zip(places, rng.sample(HIDDEN, len(places)), strict=True):
        peak, bandwidth = peak_and_bandwidth(*which)
        nbytes = rng.randrange(10**7, 10**10)
        flops = round(place * rng.uniform(0.9, 1.1) * nbytes * peak / bandwidth)
        drawn.append({"flops": flops, "bytes": nbytes, "peak": peak, "bandwidth": bandwidth})
    rng.shuffle(drawn)
    return [*drawn, {**drawn[0], "flops": 0}]


RIDGE = Exercise(
    "03-ridge", "The ridge", 1,
    "At which intensity, in FLOP/byte, do the slope and the flat roof meet?",
    "ridge(peak, bandwidth)", _ridge, cases=_ridge_cases, mine="ridge", derives=("Roofline",),
    misconceptions=(
        Misconception("upside down", lambda p, b: b / p,
                      "that is bytes per FLOP; intensity and ridge are FLOPs per byte."),
        Misconception("multiply-adds", lambda p, b: p / (2 * b),
                      "a peak is in FLOP/s already; nothing is left to halve."),
        Misconception("per number", lambda p, b: 4 * p / b,
                      "that is FLOPs per 4-byte number; the bandwidth counts bytes."),
        Misconception("tera over giga", lambda p, b: p / b / 1000,
                      "you divided TFLOP/s by GB/s; between tera and giga is a factor of 1000."),
        Misconception("multiplied", lambda p, b: p * b,
                      "look at the units: FLOP/s and byte/s have to leave FLOP/byte."),
    ),
)  # fmt: skip

ATTAINABLE = Exercise(
    "03-attainable", "Under the roof", 1,
    "How many FLOP/s does the roof allow at this intensity?",
    "attainable(intensity, peak, bandwidth)", _attainable, cases=_attainable_cases,
    mine="attainable", derives=("Roofline",),
    misconceptions=(
        Misconception("max for min", lambda i, p, b: max(p, i * b),
                      "at 0.01 FLOP/byte you promise the full peak; both roofs have to be kept."),
        Misconception("only the slope", lambda i, p, b: i * b,
                      "the slope does not go on for ever; there is a flat roof."),
        Misconception("only the flat roof", lambda i, p, b: p, FLAT),
        Misconception("no overlap", lambda i, p, b: 1 / (1 / p + 1 / (i * b)),
                      "carrying and computing happen at the same time; the roof has a corner."),
        Misconception("bytes, not FLOPs", lambda i, p, b: min(p / i, b),
                      "that is bytes a second; each of them feeds `intensity` FLOPs."),
        Misconception("share of the peak", lambda i, p, b: min(1, i * b / p),
                      "that is the share of the peak; the answer is in FLOP/s."),
        Misconception("divided", lambda i, p, b: min(p, b / i),
                      "look at the units: byte/s and FLOP/byte have to make FLOP/s."),
    ),
)  # fmt: skip

TIME = Exercise(
    "03-time", "The time of any operation", 2,
    "How many seconds does an operation take at least, on machines you have not seen?",
    "time(flops, bytes, peak, bandwidth)", _time, cases=_time_cases, mine="time",
    derives=("Roofline", "HierarchicalRoofline", "predict"),
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
    ),
    errors=(("ZeroDivisionError", "FLOPs ÷ speed", "a copy has 0 FLOPs and the speed 0, and 0 ÷ 0 "
             "is no time; take the longer of two times, that of carrying and that of computing."),),
)  # fmt: skip

EXERCISES = (RIDGE, ATTAINABLE, TIME)
