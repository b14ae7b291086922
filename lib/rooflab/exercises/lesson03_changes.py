"""Exercises of lesson 03 on what moves: the verdict with the number type, the size with the call.

The verdict is that of a square GEMM, 2n³ FLOPs on 3n² numbers: it reaches the ridge at the edge
n = 1.5 · itemsize · ridge.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from rooflab.exercises.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import Case, Exercise, Misconception

# Machine, then (dtype, itemsize) before and after: the verdict moves either way, or hardly.
CHANGES = (
    ("h200-sxm", ("fp32", 4), ("bf16", 2)),
    ("mi250x-gcd", ("fp64", 8), ("fp32", 4)),
    ("rtx-4090", ("fp64", 8), ("fp32", 4)),
    ("h100-sxm", ("bf16", 2), ("fp8", 1)),
    ("a100-sxm-80", ("fp64", 8), ("fp32", 4)),
    ("epyc-9654", ("fp64", 8), ("fp32", 4)),
    ("l4", ("fp32", 4), ("fp16", 2)),
)
# Machine, dtype, itemsize, and a plausible time of a call in µs (assumed, not measured). The first
# is always drawn: on an L4 carrying takes longer than computing even if the result is forgotten.
CALLS = (
    ("l4", "fp16", 2, 5), ("h200-sxm", "fp32", 4, 5), ("a100-sxm-80", "fp32", 4, 6),
    ("l40s", "fp16", 2, 3), ("rtx-4090", "fp16", 2, 4), ("m3-pro", "fp32", 4, 8),
)  # fmt: skip


def _change_cases(rng: random.Random) -> list[Case]:
    drawn = []
    always, others = CHANGES[:2], rng.sample(CHANGES[2:], 3)
    for name, (before, size_1), (after, size_2) in rng.sample([*always, *others], 5):
        (peak_1, bandwidth), (peak_2, _) = (
            peak_and_bandwidth(name, before),
            peak_and_bandwidth(name, after),
        )
        drawn.append({
            "bandwidth": bandwidth, "peak_1": peak_1, "itemsize_1": size_1,
            "peak_2": peak_2, "itemsize_2": size_2,
        })  # fmt: skip
    return drawn


def _edge(peak: float, bandwidth: float, itemsize: int) -> float:
    """Edge n at which an n×n×n GEMM reaches the ridge."""
    return 1.5 * itemsize * peak / bandwidth


def _edges(
    bandwidth: float, peak_1: float, itemsize_1: int, peak_2: float, itemsize_2: int
) -> tuple[float, float]:
    return _edge(peak_1, bandwidth, itemsize_1), _edge(peak_2, bandwidth, itemsize_2)


Two = Callable[..., tuple[float, float]]  # both edges
WAYS = (math.ceil, math.floor, round)  # to a whole number; the first is right


def _whole(edges: Two) -> tuple[Two, ...]:
    """``edges`` as whole numbers, in each of the three ways."""

    def by(way: Callable[[float], int]) -> Two:
        return lambda *case: tuple(way(edge) for edge in edges(*case))

    return tuple(map(by, WAYS))


def _mistake(name: str, edges: Two, hint: str) -> Misconception:
    """A mistake that is the same one where its edges were made whole numbers."""
    return Misconception(name, edges, hint, variants=_whole(edges))


def _scaled(factor: float) -> Two:
    return lambda *case: tuple(factor * edge for edge in _edges(*case))


WHOLE = "the next whole numbers are right too; the edges themselves lie a little below"

NUMBER_TYPE = Exercise(
    "03-number-type", "Another type, another verdict", 2,
    "From which edge n on is an n×n×n GEMM limited by computing, before and after the numbers "
    "change their type?",
    "edges(bandwidth, peak_1, itemsize_1, peak_2, itemsize_2)", _edges, cases=_change_cases,
    returns=("edge before", "edge after"), tolerance=1e-6, lines=2, derives=("gemm", "Roofline"),
    also=((WHOLE, _whole(_edges)[0]),),
    insight="A narrower type changes the bytes, and the peak as well. Which of them moves the "
            "edge more depends on the machine.",
    misconceptions=(
        _mistake("the peak stays",
                 lambda b, p, s, q, r: (_edge(p, b, s), _edge(p, b, r)),
                 "the peak belongs to the number type; with another type it is another."),
        _mistake("the bytes stay",
                 lambda b, p, s, q, r: (_edge(p, b, s), _edge(q, b, s)),
                 "smaller numbers are fewer bytes: the intensity of the GEMM changes too."),
        _mistake("the ridges", lambda b, p, s, q, r: (p / b, q / b),
                 "those are intensities; which n has a GEMM of that intensity?"),
        _mistake("upside down",
                 lambda b, p, s, q, r: (p / b / (1.5 * s), q / b / (1.5 * r)),
                 "larger numbers mean fewer FLOPs for each byte, so n has to be larger."),
        _mistake("multiply-adds", _scaled(2),
                 "a GEMM has 2n³ FLOPs: a multiply-add is 2."),
        _mistake("C forgotten", _scaled(2 / 3),
                 "three matrices travel: the result is written."),
        _mistake("C read too", _scaled(4 / 3),
                 "for C = A·B the old C is not read."),
        _mistake("elements for bytes", lambda b, p, s, q, r: (1.5 * p / b, 1.5 * q / b),
                 "you counted numbers; each has itemsize bytes."),
        _mistake("4 bytes always", lambda b, p, s, q, r: (6 * p / b, 6 * q / b),
                 "not every number has 4 bytes; itemsize says how many."),
        _mistake("nothing changes",
                 lambda b, p, s, q, r: (_edge(p, b, s), _edge(p, b, s)),
                 "the other type has another peak and other bytes."),
        Misconception("one further", lambda *case: tuple(edge + 1 for edge in _edges(*case)),
                      "the edge need not be whole: nothing comes on top of it."),
    ),
)  # fmt: skip


def _call_cases(rng: random.Random) -> list[Case]:
    drawn = [_on_the_edge(rng.choice(COMPUTED)), _between(rng.randrange(5, 10)),
             _carried(rng.choice(CARRIED))]  # fmt: skip
    for name, kind, itemsize, call in (CALLS[0], *rng.sample(CALLS[1:], 4)):
        peak, bandwidth = peak_and_bandwidth(name, kind)
        seconds = round(call * rng.uniform(0.8, 1.25), 1) * 1e-6
        drawn.append({"call": seconds, "peak": peak, "bandwidth": bandwidth, "itemsize": itemsize})
    rng.shuffle(drawn)
    return drawn


# Edges whose roots come out as n or a little below in every usual way of writing them, so that
# rounding them up is right: from cbrt, a power, logarithms, with the factors in any order.
COMPUTED, CARRIED = (7, 10, 13, 14, 15, 16), (8, 13, 16, 17, 18, 19)


def _on_the_edge(n: int) -> Case:
    """A small processor, made up, on which the product of edge ``n`` takes exactly as long as its
    call: powers of two, so that no rounding decides. Carrying takes half as long."""
    call, itemsize = 2.0**-20, 4
    return {
        "call": call, "peak": 2.0 * n**3 / call, "bandwidth": 2 * 3.0 * n * n * itemsize / call,
        "itemsize": itemsize,
    }  # fmt: skip


def _between(n: int) -> Case:
    """The same with an edge that is no whole number, nearer to ``n`` - 1 than to ``n``: on so
    small a processor an edge that was not rounded, or rounded down, is far off."""
    case = _on_the_edge(n)
    return {**case, "peak": case["peak"] * ((n - 0.6) / n) ** 3}


def _carried(n: int) -> Case:
    """A processor on which carrying the product of edge ``n`` takes exactly as long as its call,
    and computing a sixteenth: with one byte a number it would still be the carrying that counts."""
    case = _on_the_edge(n)
    return {**case, "peak": 16 * case["peak"], "bandwidth": case["bandwidth"] / 2}


def _by_computing(call: float, peak: float) -> float:
    """Edge whose 2n³ FLOPs take as long as the call."""
    return math.cbrt(call * peak / 2)


def _by_carrying(call: float, bandwidth: float, itemsize: float) -> float:
    """Edge whose 3n² numbers take as long as the call."""
    return math.sqrt(call * bandwidth / (3 * itemsize))


def _worth(call: float, peak: float, bandwidth: float, itemsize: float) -> int:
    """Smallest edge whose time is not below ``call``; the roots are a first guess, off by 1."""
    n = max(1, int(min(_by_computing(call, peak), _by_carrying(call, bandwidth, itemsize))) - 1)
    while max(2 * n**3 / peak, 3 * n * n * itemsize / bandwidth) < call:
        n += 1
    return n


Pick = Callable[[float, float], float]
Worth = Callable[[float, float, float, float], float]
NEXT = 1e-9  # roots are inexact: what is so near to a whole number may be rounded to the next one


def _rounded_up(pick: Pick, nudge: float = -NEXT) -> Worth:
    """The edge that ``pick`` chooses of the two, by computing and by carrying, rounded up."""
    return lambda call, peak, bandwidth, itemsize: math.ceil(
        pick(_by_computing(call, peak), _by_carrying(call, bandwidth, itemsize)) + nudge
    )


def _as_it_comes(pick: Pick) -> tuple[Worth, ...]:
    """The same edge not rounded, and rounded up where the root came out too large."""
    return (
        lambda call, peak, bandwidth, itemsize: pick(
            _by_computing(call, peak), _by_carrying(call, bandwidth, itemsize)
        ),
        _rounded_up(pick, NEXT),
    )


def _worth_without_overlap(call: float, peak: float, bandwidth: float, itemsize: int) -> int:
    n = 1
    while 2 * n**3 / peak + 3 * n * n * itemsize / bandwidth < call:
        n += 1
    return n


def _nearly(call: float, peak: float, bandwidth: float, itemsize: float) -> float:
    """Edge by a power for the cube root, which comes out a little below a whole number."""
    return min((call * peak / 2) ** (1 / 3), _by_carrying(call, bandwidth, itemsize))


def _worth_strictly(call: float, peak: float, bandwidth: float, itemsize: int) -> int:
    """Smallest edge that takes longer than the call."""
    n = _worth(call, peak, bandwidth, itemsize)
    while max(2 * n**3 / peak, 3 * n * n * itemsize / bandwidth) <= call:
        n += 1
    return n


WORTH = Exercise(
    "03-worth-the-call", "Worth the call", 2,
    "What is the smallest n whose n×n×n GEMM takes as long as the call itself?",
    "worth(call, peak, bandwidth, itemsize)", _worth, cases=_call_cases, tolerance=0.03, lines=4,
    derives=("gemm", "Roofline"),
    insight="Below that edge a clock shows the call, not the product. With your machine's call "
            "and roofs it tells which sizes are too small to be timed.",
    misconceptions=(
        Misconception("only computing", _rounded_up(lambda computing, carrying: computing),
                      "some of these machines carry longer than they compute, at that size.",
                      variants=_as_it_comes(lambda computing, carrying: computing)),
        Misconception("only carrying", _rounded_up(lambda computing, carrying: carrying),
                      "some of these machines compute longer than they carry, at that size.",
                      variants=_as_it_comes(lambda computing, carrying: carrying)),
        Misconception("both have to be long", _rounded_up(max),
                      "the time is the longer of the two: it is enough if one reaches the call.",
                      variants=_as_it_comes(max)),
        Misconception("not rounded",
                      lambda c, p, b, s: min(_by_computing(c, p), _by_carrying(c, b, s)),
                      "half a row does not exist: which is the smallest whole n?"),
        Misconception("rounded down",
                      lambda c, p, b, s: max(1, math.floor(
                          min(_by_computing(c, p), _by_carrying(c, b, s)) + 1e-9)),
                      "that product is quicker than the call; the next one is not.",
                      variants=(lambda *case: math.floor(_nearly(*case)),)),
        Misconception("one too few", lambda *case: _worth(*case) - 1,
                      "that is the largest edge that is quicker than the call; the next one is "
                      "the smallest that is not."),
        Misconception("one too far", _worth_strictly,
                      "two of these products take exactly as long as their call: they are the "
                      "smallest that do, so go on only while a product takes less.",
                      variants=(lambda *case: math.floor(_nearly(*case)) + 1,)),
        Misconception("no overlap", _worth_without_overlap,
                      "carrying and computing happen at the same time: the longer, not the sum."),
        Misconception("multiply-adds", lambda c, p, b, s: _worth(c, 2 * p, b, s),
                      "a GEMM has 2n³ FLOPs: a multiply-add is 2."),
        Misconception("C forgotten", lambda c, p, b, s: _worth(c, p, 1.5 * b, s),
                      "three matrices travel: the result is written."),
        Misconception("4 bytes always", lambda c, p, b, s: _worth(c, p, b, 4),
                      "not every number has 4 bytes; itemsize says how many."),
        Misconception("elements for bytes", lambda c, p, b, s: _worth(c, p, b, 1),
                      "you counted numbers; each has itemsize bytes."),
        Misconception("C read too", lambda c, p, b, s: _worth(c, p, 0.75 * b, s),
                      "for C = A·B the old C is not read."),
    ),
)  # fmt: skip

EXERCISES = (NUMBER_TYPE, WORTH)
