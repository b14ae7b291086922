"""Exercises of lesson 02 that put two sentences of a public web lesson on trial.

Its sizes fit the cache of the card that the page speaks of, and its table calls a bias add an AXPY.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import accumulate
from math import inf

from rooflab.count import elementwise
from rooflab.exercises.drawing import DTYPES
from rooflab.exercises.exercise import Case, Exercise, Misconception


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
    """One working set or more for every level; two of them would not fit if trips were counted.

    In the first case x and y fit L2 while three arrays would not; in the second x alone fits L1. In
    the sixth as many bytes as they have numbers would fit. In the seventh x and y are exactly as
    large as L2; in the last they are larger than L2, and smaller than L1 and L2 together. In the
    fourth they fit L3, and the loop is slower than the memory could be: a rate below the roof
    proves nothing.
    """
    kib, mib = 2**10, 2**20
    cpu = {"l1": 32 * kib, "l2": rng.choice((512, 1024)) * kib, "l3": rng.choice((16, 32)) * mib}
    gpu = {"l2": rng.choice((50, 72)) * mib}

    def about(nbytes: float) -> float:
        return nbytes * rng.uniform(0.97, 1.03)

    wanted = (  # caches, bytes of x and y together, itemsize, DRAM byte/s, times the roof
        (cpu, about(0.8 * cpu["l2"]), 8, 20e9, 4.0),
        (cpu, about(1.5 * cpu["l1"]), 4, 20e9, 5.0),
        (cpu, about(0.7 * cpu["l1"]), 8, 20e9, 7.5),
        (cpu, about(0.9 * cpu["l3"]), 4, 40e9, 0.8),
        (gpu, about(0.85 * gpu["l2"]), 4, 1.008e12, 2.9),
        (gpu, about(3.0 * gpu["l2"]), 4, 1.008e12, 0.91),
        (cpu, cpu["l2"], 8, 20e9, 3.0),
        (cpu, cpu["l2"] + about(0.5 * cpu["l1"]), 4, 20e9, 2.0),
    )
    drawn = []
    for caches, held, itemsize, bandwidth, times in wanted:
        n = int(held) // (2 * itemsize)
        seconds = round(3 * n * itemsize / (times * rng.uniform(0.95, 1.05) * bandwidth), 12)
        drawn.append({"n": n, "itemsize": itemsize, "seconds": seconds, "bandwidth": bandwidth,
                      "caches": caches})  # fmt: skip
    return drawn


def _wrong(level=None, traffic: int = 3, held: int = 2, farthest: bool = False):
    """A wrong witness: another level, other bytes that travel, or other bytes that stay."""

    def answer(n, itemsize, seconds, bandwidth, caches):
        rate = traffic * n * itemsize / seconds
        order = dict(reversed(caches.items())) if farthest else caches
        where = level(caches) if level else smallest(held * n * itemsize, order)
        return rate, rate / bandwidth, where

    return answer


def _by_rate(n, itemsize, seconds, bandwidth, caches):
    rate, share, level = warm_axpy(n, itemsize, seconds, bandwidth, caches)
    return rate, share, "dram" if rate <= bandwidth else level


def _fast_so_near(nearest):
    """Whatever is faster than the memory was timed in one and the same cache."""

    def answer(n, itemsize, seconds, bandwidth, caches):
        rate, share, _ = warm_axpy(n, itemsize, seconds, bandwidth, caches)
        return rate, share, "dram" if rate <= bandwidth else nearest(caches)

    return answer


def _less_than(n, itemsize, seconds, bandwidth, caches):
    rate, share, _ = warm_axpy(n, itemsize, seconds, bandwidth, caches)
    return rate, share, smallest(2 * n * itemsize + 1, caches)


def _added_up(n, itemsize, seconds, bandwidth, caches):
    together = dict(zip(caches, accumulate(caches.values()), strict=True))
    return warm_axpy(n, itemsize, seconds, bandwidth, together)


def _capped(*case):
    rate, share, level = warm_axpy(*case)
    return rate, min(share, 1.0), level


def _nearest(caches):
    return next(iter(caches))


def _per_cent(n, itemsize, seconds, bandwidth, caches):
    rate, share, level = warm_axpy(n, itemsize, seconds, bandwidth, caches)
    return rate, 100 * share, level


def _in_gb(n, itemsize, seconds, bandwidth, caches):
    rate, share, level = warm_axpy(n, itemsize, seconds, bandwidth, caches)
    return rate / 1e9, share / 1e9, level


def _in_elements(held: int, rate: bool = True):
    """Numbers in place of bytes: where they stay, and in the ``rate`` as well."""

    def answer(n, itemsize, seconds, bandwidth, caches):
        carried = 3 * n * (1 if rate else itemsize) / seconds
        return carried, carried / bandwidth, smallest(held * n, caches)

    return answer


def _too_small(n, itemsize, seconds, bandwidth, caches):
    rate, share, _ = warm_axpy(n, itemsize, seconds, bandwidth, caches)
    held = 2 * n * itemsize
    return rate, share, next((level for level, size in caches.items() if held > size), "dram")


def _share_upside_down(*case):
    rate, share, level = warm_axpy(*case)
    return rate, 1 / share, level


def _rate_upside_down(*case):
    rate, share, level = warm_axpy(*case)
    return 1 / rate, share, level


def _rate_upside_down_share_too(n, itemsize, seconds, bandwidth, caches):
    rate, _, level = warm_axpy(n, itemsize, seconds, bandwidth, caches)
    return 1 / rate, 1 / rate / bandwidth, level


WARM = Exercise(
    "02-claim-warm", "Which memory was timed?", 2,
    "An AXPY on n numbers, called over and over, took `seconds` a call. Return its byte/s, its "
    "share of the memory's bandwidth, and the level that it really timed.",
    "witness(n, itemsize, seconds, bandwidth, caches)", warm_axpy, cases=_tests,
    returns=("byte/s", "share", "level"), lines=3, tolerance=1e-6, derives=("axpy", "explain"),
    errors=(
        ("KeyError", "a cache that is not there", "not every machine has the same caches; go "
         "through those in caches, the nearest first."),
    ),
    insight="A loop of your own over data that fits a cache is such a test too: its byte/s are "
            "the cache's, whatever the label says.",
    misconceptions=(
        Misconception("the claim", _wrong(level=lambda caches: "dram"),
                      "a memory cannot give more than its bandwidth; ask where the data was."),
        Misconception("slow, so it was the memory", _by_rate,
                      "a loop can be slow for other reasons, also on data in a cache; ask where "
                      "both vectors fit."),
        Misconception("always the nearest", _wrong(level=_nearest),
                      "the nearest cache is the smallest; the vectors have to fit into it.",
                      variants=(_wrong(level=lambda caches: "l1"),)),
        Misconception("fast, so it was the nearest", _fast_so_near(_nearest),
                      "a rate above the roof says that it was a cache, not which one; ask which "
                      "holds both vectors.",
                      variants=(_fast_so_near(lambda caches: "l1"),)),
        Misconception("less than the cache", _less_than,
                      "vectors that are together exactly as large as a cache fit into it."),
        Misconception("caches added up", _added_up,
                      "one cache has to hold both vectors by itself; do not add up the caches."),
        Misconception("the largest that fits", _wrong(farthest=True),
                      "several caches hold both vectors, and the nearest of them is where they "
                      "settle. If you go through the caches in order, stop at the first."),
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
        Misconception("elements for bytes", _in_elements(2),
                      "you counted numbers; each has itemsize bytes, on its way and in a cache.",
                      variants=(_in_elements(2, rate=False), _in_elements(1))),
        Misconception("too large for it", _too_small,
                      "that is a cache which cannot hold both vectors; which one can?"),
        Misconception("share upside down", _share_upside_down,
                      "the share is the byte/s divided by the bandwidth."),
        Misconception("rate upside down", _rate_upside_down,
                      "that is seconds per byte; byte/s are bytes divided by seconds.",
                      variants=(_rate_upside_down_share_too,)),
        Misconception("share cut off at 1", _capped,
                      "leave a share above 1 as it is: it says that the memory was not timed."),
        Misconception("per cent", _per_cent, "the share is a ratio: all of the roof is 1."),
        Misconception("GB/s", _in_gb, "byte/s are wanted, and the bandwidth is in byte/s too."),
    ),
)  # fmt: skip


def _matrices(rng: random.Random) -> list[Case]:
    """Few rows and many, so that the row added is no rounding error in the first cases."""
    sizes = [(3, 512, 4), (40, 96, 4), (7, 768, 2), (300, 40, 8), (4096, 4096, 4)]
    return [
        {"m": m + rng.randrange(m // 2), "n": n + rng.randrange(n // 2), "itemsize": size}
        for m, n, size in sizes
    ]


def _bias_add(m: int, n: int, itemsize: int) -> tuple[int, int, float]:
    op = elementwise("add", (m, n), DTYPES[itemsize], inputs={"x": (m, n), "b": (n,)})
    return op.flops, op.bytes, 1 / (2 * itemsize)


BIAS = Exercise(
    "02-claim-bias", "“A bias add is AXPY”", 2,
    "One row of n numbers is added to every row of an m×n matrix, into a new matrix. Return the "
    "FLOPs, the fewest bytes, and the FLOP/byte that it comes to with very many rows.",
    "bias_add(m, n, itemsize)", _bias_add, cases=_matrices,
    returns=("FLOPs", "bytes", "intensity"), lines=3, derives=("elementwise", "axpy"),
    insight="Compare it with the ridge of your machine: does a bias add ever meet the flat roof "
            "there?",
    misconceptions=(
        Misconception("the claim", lambda m, n, s: (2 * m * n, 3 * m * n * s, 2 / (3 * s)),
                      "that is AXPY on m·n numbers: it multiplies as well, and its second array is "
                      "as large as the first."),
        Misconception("a vector add", lambda m, n, s: (m * n, 3 * m * n * s, 1 / (3 * s)),
                      "that adds two arrays of m·n numbers; here one of them is a single row, "
                      "which stays near while the matrix goes by.",
                      variants=(lambda m, n, s: (m * n, 3 * m * n * s, 1 / (2 * s)),
                                lambda m, n, s: (m * n, (2 * m + 1) * n * s, 1 / (3 * s)))),
        Misconception("a column", lambda m, n, s: (m * n, (2 * n + 1) * m * s, 1 / (2 * s)),
                      "one row of n numbers is added; how many has a column?"),
        Misconception("the row forgotten", lambda m, n, s: (m * n, 2 * m * n * s, 1 / (2 * s)),
                      "the row is short, but it travels too: once."),
        Misconception("multiply-adds", lambda m, n, s: (2 * m * n, (2 * m + 1) * n * s, 1 / s),
                      "nothing is multiplied; adding one number is one FLOP."),
        Misconception("the result left out", lambda m, n, s: (m * n, (m + 1) * n * s, 1 / s),
                      "the sums are written: the matrix travels in and out."),
        Misconception("of this matrix",
                      lambda m, n, s: (m * n, (2 * m + 1) * n * s, m / ((2 * m + 1) * s)),
                      "that is the intensity with m rows; which value does it approach?"),
        Misconception("no limit", lambda m, n, s: (m * n, (2 * m + 1) * n * s, 0),
                      "FLOPs and bytes both grow with the rows; their quotient comes to a number "
                      "that is neither 0 nor infinite.",
                      variants=(lambda m, n, s: (m * n, (2 * m + 1) * n * s, inf),)),
        Misconception("one row only", lambda m, n, s: (n, 3 * n * s, 1 / (2 * s)),
                      "the row is added to every row of the matrix, m times.",
                      variants=(lambda m, n, s: (n, (2 * m + 1) * n * s, 1 / (2 * s)),)),
        Misconception("elements", lambda m, n, s: (m * n, (2 * m + 1) * n, 1 / 2),
                      "you counted numbers; each has itemsize bytes."),
        Misconception("4 bytes always", lambda m, n, s: (m * n, (2 * m + 1) * n * 4, 1 / 8),
                      "1/8 is right for 4-byte numbers only; use itemsize.",
                      variants=(lambda m, n, s: (m * n, (2 * m + 1) * n * s, 1 / 8),)),
        Misconception("bytes per FLOP", lambda m, n, s: (m * n, (2 * m + 1) * n * s, 2 * s),
                      "that is bytes for each FLOP; FLOP/byte is the other way round.",
                      variants=(lambda m, n, s: (m * n, (2 * m + 1) * n * s, (2 * m + 1) * s / m),)),
    ),
)  # fmt: skip

EXERCISES = (WARM, BIAS)
