"""Exercises of lesson 02 that put bandwidths on trial: warm for cold (C000-17), GiB as GB.

The two claims are made up; the mistakes in them are not.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.predict.catalogue import machine

GIB = 2**30
_MACHINES = ("h200-sxm", "a100-sxm-80", "rtx-4090", "mi300x", "m3-pro")


def _printed(rng: random.Random) -> list[Case]:
    """What a tool prints that divides by 2**30, on machines of the catalogue.

    A DRAM gives 94 % of its datasheet at most, which is 87 % where GiB are printed as GB.
    """
    drawn: list[Case] = []
    for name in rng.sample(_MACHINES, 4):
        bandwidth = float(machine(name).bandwidth())
        share = rng.uniform(0.70, 0.94)
        drawn.append({"printed": round(bandwidth * share / GIB, 1), "bandwidth": bandwidth})
    return drawn


GIBIBYTES = Exercise(
    "02-claim-gigabytes", "“880 GB/s, 87 % of the card's bandwidth”", 1,
    "A benchmark prints `printed` GB/s, but its source divides by 2**30. Return the true byte/s "
    "and the share of the machine's bandwidth (in byte/s).",
    "unmask(printed, bandwidth)", lambda g, w: (g * GIB, g * GIB / w), cases=_printed,
    returns=("byte/s", "share"), lines=2, tolerance=1e-6,
    misconceptions=(
        Misconception("the claim", lambda g, w: (g * 1e9, g * 1e9 / w),
                      "so the benchmark's author read it; its program divided by 2**30."),
        Misconception("the wrong way", lambda g, w: (g * 1e18 / GIB, g * 1e18 / GIB / w),
                      "a GiB is larger than a GB, so the same speed is a smaller number of them."),
        Misconception("from GB to GiB", lambda g, w: (g * 1e9 / GIB, g * GIB / w),
                      "the tool has divided already: what it prints are GiB/s. Undo its division."),
        Misconception("GB/s, not byte/s", lambda g, w: (g * GIB / 1e9, g * GIB / w),
                      "byte/s are wanted, and the bandwidth is in byte/s too."),
        Misconception("roof in GiB too", lambda g, w: (g * GIB, g * GIB / (w * GIB / 1e9)),
                      "the machine's bandwidth is in byte/s already; leave it."),
        Misconception("per cent", lambda g, w: (g * GIB, 100 * g * GIB / w),
                      "the share is a ratio: all of the roof is 1."),
        Misconception("thousands of MiB", lambda g, w: (g * 1000 * 2**20, g * 1000 * 2**20 / w),
                      "2**30 is 1024 × 2**20, not 1000 × 2**20."),
        Misconception("upside down", lambda g, w: (g * GIB, w / (g * GIB)),
                      "the share is what was reached, divided by what there is."),
    ),
)  # fmt: skip


def warm_axpy(
    n: int, itemsize: int, seconds: float, bandwidth: float, caches: Mapping[str, int]
) -> tuple[float, float, str]:
    """Byte/s, share of the DRAM roof and level of an AXPY in place, called over and over."""
    rate = 3 * n * itemsize / seconds
    return rate, rate / bandwidth, smallest(2 * n * itemsize, caches)


def smallest(nbytes: int, caches: Mapping[str, int]) -> str:
    """The first of ``caches`` (nearest first) that holds ``nbytes``, or "dram"."""
    return next((level for level, size in caches.items() if nbytes <= size), "dram")


def _tests(rng: random.Random) -> list[Case]:
    """One working set for every level; two of them would not fit if trips were counted.

    In the first case x and y fit L2 while three arrays would not; in the second x alone fits L1.
    """
    kib, mib = 2**10, 2**20
    cpu = {"l1": 32 * kib, "l2": rng.choice((512, 1024)) * kib, "l3": rng.choice((16, 32)) * mib}
    gpu = {"l2": rng.choice((50, 72)) * mib}
    wanted = (  # caches, bytes of x and y together, itemsize, DRAM byte/s, times the roof
        (cpu, 0.8 * cpu["l2"], 8, 20e9, 4.0),
        (cpu, 1.5 * cpu["l1"], 4, 20e9, 5.0),
        (cpu, 0.7 * cpu["l1"], 8, 20e9, 7.5),
        (cpu, 0.9 * cpu["l3"], 4, 40e9, 1.7),
        (gpu, 0.85 * gpu["l2"], 4, 1.008e12, 2.9),
        (gpu, 9.0 * gpu["l2"], 4, 1.008e12, 0.91),
    )
    drawn = []
    for caches, held, itemsize, bandwidth, times in wanted:
        n = int(held * rng.uniform(0.97, 1.03)) // (2 * itemsize)
        seconds = round(3 * n * itemsize / (times * rng.uniform(0.95, 1.05) * bandwidth), 12)
        drawn.append({"n": n, "itemsize": itemsize, "seconds": seconds, "bandwidth": bandwidth,
                      "caches": caches})  # fmt: skip
    return drawn


def _wrong(level=None, traffic: int = 3, held: int = 2):
    """A wrong witness: another level, other bytes that travel, or other bytes that stay."""

    def answer(n, itemsize, seconds, bandwidth, caches):
        rate = traffic * n * itemsize / seconds
        where = level(caches) if level else smallest(held * n * itemsize, caches)
        return rate, rate / bandwidth, where

    return answer


def _per_cent(n, itemsize, seconds, bandwidth, caches):
    rate, share, level = warm_axpy(n, itemsize, seconds, bandwidth, caches)
    return rate, 100 * share, level


def _in_gb(n, itemsize, seconds, bandwidth, caches):
    rate, share, level = warm_axpy(n, itemsize, seconds, bandwidth, caches)
    return rate / 1e9, share / 1e9, level


WARM = Exercise(
    "02-claim-warm", "“2.9 TB/s from a memory that gives 1.0”", 2,
    "An AXPY on n numbers, called over and over, took `seconds` a call. Return its byte/s, its "
    "share of the memory's bandwidth, and the level that it really timed.",
    "witness(n, itemsize, seconds, bandwidth, caches)", warm_axpy, cases=_tests,
    returns=("byte/s", "share", "level"), lines=3, tolerance=1e-6, derives=("axpy", "explain"),
    misconceptions=(
        Misconception("the claim", _wrong(level=lambda caches: "dram"),
                      "a memory cannot give more than its bandwidth; ask where the data was."),
        Misconception("always the nearest", _wrong(level=lambda caches: next(iter(caches))),
                      "the nearest cache is the smallest; the vectors have to fit into it."),
        Misconception("always the last", _wrong(level=lambda caches: list(caches)[-1]),
                      "data settles in the nearest cache that holds it all, and some fit none."),
        Misconception("one vector", _wrong(held=1),
                      "x and y both have to stay there from one call to the next."),
        Misconception("trips, not arrays", _wrong(held=3),
                      "y travels twice but lies in the cache once: trips count for the rate, "
                      "arrays for the fit."),
        Misconception("y not read", _wrong(traffic=2),
                      "AXPY reads x, reads y and writes y: count every trip."),
        Misconception("NumPy's trips", _wrong(traffic=5),
                      "AXPY stores no temporary; that would be NumPy's a*x + y."),
        Misconception("per cent", _per_cent, "the share is a ratio: all of the roof is 1."),
        Misconception("GB/s", _in_gb, "byte/s are wanted, and the bandwidth is in byte/s too."),
    ),
)  # fmt: skip

EXERCISES = (GIBIBYTES, WARM)
