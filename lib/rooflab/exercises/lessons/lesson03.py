"""Exercises of lesson 03, the roofline: time, what moves, published figures, timed machines."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise, permutations
from pathlib import Path
from typing import Any

from rooflab.count import gemm
from rooflab.exercises.exercise import ITEMSIZES, Case, any_length, at_least, cases_of
from rooflab.exercises.lessons.drawing import peak_and_bandwidth
from rooflab.exercises.lessons.timed_cases import TimedCase, read_timed_cases
from rooflab.exercises.table import Slip, slip, table
from rooflab.measure.measurement import Measurement
from rooflab.measure.recording import Recording, recording
from rooflab.measure.threads import with_threads
from rooflab.predict.catalogue import machine
from rooflab.predict.estimate import mix_of, overhead
from rooflab.predict.machine import Machine

# The exercise of lesson 03 that goes into mine.py: the shortest time of any operation.
#
# All cases are machines of the catalogue; the learner sees their figures, not their names.


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


def _time_cases(rng: random.Random) -> list[Case]:
    """Six machines: left of the ridge, near it, right of it.

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
    return drawn


# At the ridge and a little beside it, ridges below 1, one FLOP, one byte; and a copy.
EDGES_OF_TIME = cases_of(
    "flops bytes peak bandwidth",
    (2**30, 2**24, 2.0**40, 2.0**34), (10**9, 2 * 10**9, 1e11, 1e12), (10**15 + 7, 1, 9e14, 3e12),
    (1, 10**12, 1e15, 8e12), (99 * 10**8, 10**8, 7e12, 7e10), (101 * 10**8, 10**8, 7e12, 7e10),
    (0, 10**9 + 7, 1.3e13, 2e12),
)  # fmt: skip

TIME = table(
    "03-time", "The time of any operation", 2,
    "How many seconds does an operation take at least, on machines you have not seen?",
    "time(flops, bytes, peak, bandwidth)", cases=_time_cases, fixed=EDGES_OF_TIME,
    domain={"flops": at_least(0), "bytes": at_least(1)}, example=(1e11, 5e9, 5e13, 1e12),
    mine="time", given=(ridge, attainable),
    derives=("Roofline", "HierarchicalRoofline", "predict"),
    insight="With the two roofs of your machine, no operation that comes from memory takes less "
            "time than that.",
    answer={
        "_computing": lambda flops, peak: flops / peak,
        "_carrying": lambda bytes, bandwidth: bytes / bandwidth,
        "time": lambda _computing, _carrying: max(_computing, _carrying),
    },
    slips=(
        slip("sum for max", "that is no overlap, up to 2× too slow: both happen at the same time.",
             time=lambda _computing, _carrying: _computing + _carrying),
        slip("min for max", time=lambda _computing, _carrying: min(_computing, _carrying)),
        slip("only computing", "at 0.01 FLOP/byte you promise the full peak; the bytes take time "
             "too.", time=lambda _computing: _computing),
        slip("only carrying", "right of the ridge the processor takes longer than the memory.",
             time=lambda _carrying: _carrying),
        slip("multiply-adds",
             "`flops` counts 2 for each multiply-add already.", flops=lambda flops: 2 * flops),
        slip("rate, not time", "that is FLOP/s; how long does it take to do `flops` at that rate?",
             time=lambda flops, bytes, peak, bandwidth: min(peak, flops / bytes * bandwidth)),
        slip("a copy is free", "a copy has no FLOPs, and its bytes have to travel all the same.",
             time=lambda flops, _computing, _carrying: max(_computing, _carrying) if flops else 0),
        slip("a border at 1", "which of the two takes longer depends on the machine: its ridge is "
             "hardly ever at 1 FLOP/byte.",
             time=lambda flops, bytes, _computing, _carrying:
                 _computing if flops > bytes else _carrying),
    ),
    errors=(("ZeroDivisionError", "FLOPs ÷ attainable", "a copy has 0 FLOPs and the speed 0, and "
             "0 ÷ 0 is no time; take the longer of two times, that of carrying and that of "
             "computing."),),
)  # fmt: skip


# Exercises of lesson 03 on what moves: the verdict with the number type, the size with the call.
#
# The verdict is that of a square GEMM, 2n³ FLOPs on 3n² numbers: it reaches the ridge at the edge
# n = 1.5 · itemsize · ridge.


# Machine, then (dtype, itemsize) before and after: the verdict moves either way, or hardly.
CHANGES = (
    ("h200-sxm", ("fp32", 4), ("bf16", 2)), ("mi250x-gcd", ("fp64", 8), ("fp32", 4)),
    ("rtx-4090", ("fp64", 8), ("fp32", 4)), ("h100-sxm", ("bf16", 2), ("fp8", 1)),
    ("a100-sxm-80", ("fp64", 8), ("fp32", 4)), ("epyc-9654", ("fp64", 8), ("fp32", 4)),
    ("l4", ("fp32", 4), ("fp16", 2)),
)  # fmt: skip
# Machine, dtype, itemsize, and a plausible time of a call in µs (assumed, not measured). The first
# is always drawn: on an L4 carrying takes longer than computing even if the result is forgotten.
CALLS = (
    ("l4", "fp16", 2, 5), ("h200-sxm", "fp32", 4, 5), ("a100-sxm-80", "fp32", 4, 6),
    ("l40s", "fp16", 2, 3), ("rtx-4090", "fp16", 2, 4), ("m3-pro", "fp32", 4, 8),
)  # fmt: skip


def _change_cases(rng: random.Random) -> list[Case]:
    rows = []
    always, others = CHANGES[:2], rng.sample(CHANGES[2:], 3)
    for name, (before, size_1), (after, size_2) in rng.sample([*always, *others], 5):
        peak_1, bandwidth = peak_and_bandwidth(name, before)
        peak_2, _ = peak_and_bandwidth(name, after)
        rows.append((bandwidth, peak_1, size_1, peak_2, size_2))
    return [*cases_of("bandwidth peak_1 itemsize_1 peak_2 itemsize_2", *rows)]


# Edges that are whole, that stay, and a hundred times those of the text; numbers of 1 to 8 bytes.
EDGES_OF_TYPES = cases_of(
    "bandwidth peak_1 itemsize_1 peak_2 itemsize_2",
    (2.0**40, 2.0**46, 2, 2.0**47, 4), (1e12, 7.3e13, 1, 7.3e13, 1),
    (3.3e12, 1.13e15, 1, 2.7e13, 8), (4e11, 3.13e12, 8, 6.26e12, 4),
    (1e11, 1.0013e15, 1, 1.1917e15, 1), (1.7e12, 4.1e13, 4, 2.3e14, 2),
)  # fmt: skip

WAYS = (math.ceil, math.floor, round)  # to a whole number; the first is right
WHOLE = "the next whole numbers are right too; the edges themselves lie a little below"


def _whole(way: Callable[[float], int]) -> Mapping[str, Callable[..., float]]:
    return {"edge_before": lambda _before: way(_before), "edge_after": lambda _after: way(_after)}


def _edges_slip(name: str, hint: str = "", **changes: object) -> Slip:
    """A slip that is the same one where its edges were made whole numbers."""
    return slip(name, hint, ways=[changes, *({**changes, **_whole(way)} for way in WAYS)])


NUMBER_TYPE = table(
    "03-number-type", "Another type, another verdict", 2,
    "From which edge n on is an n×n×n GEMM limited by computing, before and after the numbers "
    "change their type?",
    "edges(bandwidth, peak_1, itemsize_1, peak_2, itemsize_2)", cases=_change_cases,
    fixed=EDGES_OF_TYPES, domain={"itemsize_1": ITEMSIZES, "itemsize_2": ITEMSIZES},
    example=(1e12, 2e13, 8, 4e13, 4), tolerance=1e-6, lines=2, derives=("gemm", "Roofline"),
    also=((WHOLE, lambda bandwidth, peak_1, itemsize_1, peak_2, itemsize_2: (
        math.ceil(1.5 * itemsize_1 * peak_1 / bandwidth),
        math.ceil(1.5 * itemsize_2 * peak_2 / bandwidth))),),
    insight="A narrower type changes the bytes, and the peak as well. Which of them moves the "
            "edge more depends on the machine.",
    answer={
        "_matrices": 3,
        "_flops": 2,  # times n³
        "_before": lambda _matrices, _flops, bandwidth, peak_1, itemsize_1:
            _matrices * itemsize_1 * peak_1 / bandwidth / _flops,
        "_after": lambda _matrices, _flops, bandwidth, peak_2, itemsize_2:
            _matrices * itemsize_2 * peak_2 / bandwidth / _flops,
        "edge before": lambda _before: _before,
        "edge after": lambda _after: _after,
    },
    slips=(
        _edges_slip("the peak stays", "the peak belongs to the number type; with another type it "
                    "is another.", peak_2=lambda peak_1: peak_1),
        _edges_slip("the bytes stay", "smaller numbers are fewer bytes: the intensity of the GEMM "
                    "changes too.", itemsize_2=lambda itemsize_1: itemsize_1),
        _edges_slip("nothing changes", "the other type has another peak and other bytes.",
                    peak_2=lambda peak_1: peak_1, itemsize_2=lambda itemsize_1: itemsize_1),
        _edges_slip("the ridges", "those are intensities; which n has a GEMM of that intensity?",
                    _before=lambda peak_1, bandwidth: peak_1 / bandwidth,
                    _after=lambda peak_2, bandwidth: peak_2 / bandwidth),
        _edges_slip("multiply-adds", _flops=1),
        _edges_slip("C forgotten", "three matrices travel: the result is written.", _matrices=2),
        _edges_slip("elements for bytes", itemsize_1=1, itemsize_2=1),
        _edges_slip("4 bytes always", itemsize_1=4, itemsize_2=4),
    ),
)  # fmt: skip


def _call_cases(rng: random.Random) -> list[Case]:
    drawn = [_between(rng.randrange(5, 10))]
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


NEXT = 1e-9  # roots are inexact: what is so near to a whole number may be rounded to the next one


def _picked(edge: Callable[..., float]) -> list[Mapping[str, Callable[..., float]]]:
    """Another edge: rounded up, as it comes, and rounded up where the root came out too large."""
    others = (lambda _edge: _edge, lambda _edge: math.ceil(_edge + NEXT))
    return [{"_edge": edge}, *({"_edge": edge, "n": other} for other in others)]


# The smallest product there is, of 2, of thousands, with numbers of 1 and of 8 bytes; and two that
# take exactly as long as their call.
EDGES_OF_CALLS = (
    *cases_of(
        "call peak bandwidth itemsize",
        (1e-9, 1e8, 1e8, 8), (1e-8, 4.4e8, 1e11, 1), (6.1e-5, 2.25e15, 7.9e12, 2),
        (1e-4, 9e15, 3e12, 8), (3e-6, 1e13, 4.1e10, 1), (2e-5, 8e12, 2e10, 8),
    ),
    _on_the_edge(COMPUTED[0]), _carried(CARRIED[0]),
)  # fmt: skip

WORTH = table(
    "03-worth-the-call", "Worth the call", 2,
    "What is the smallest n whose n×n×n GEMM takes as long as the call itself?",
    "worth(call, peak, bandwidth, itemsize)", cases=_call_cases, fixed=EDGES_OF_CALLS,
    domain={"itemsize": ITEMSIZES}, example=(1e-6, 4e12, 1e11, 4),
    tolerance=0.03, lines=4, derives=("gemm", "Roofline"),
    insight="Below that edge a clock shows the call, not the product. With your machine's call "
            "and roofs it tells which sizes are too small to be timed.",
    answer={
        "_computing": lambda call, peak: (call * peak / 2) ** (1 / 3),  # 2n³ FLOPs take the call
        "_matrices": 3,
        "_carrying": lambda call, bandwidth, _matrices, itemsize:  # 3n² numbers do
            math.sqrt(call * bandwidth / (_matrices * itemsize)),
        "_edge": lambda _computing, _carrying: min(_computing, _carrying),
        "n": lambda _edge: math.ceil(_edge - NEXT),
    },
    slips=(
        slip("only computing", "some of these machines carry longer than they compute, at that "
             "size.", ways=_picked(lambda _computing: _computing)),
        slip("only carrying", "some of these machines compute longer than they carry, at that "
             "size.", ways=_picked(lambda _carrying: _carrying)),
        slip("not rounded",
             "half a row does not exist: which is the smallest whole n?", n=lambda _edge: _edge),
        slip("rounded down", "that product is quicker than the call; the next one is not.",
             n=[lambda _edge: max(1, math.floor(_edge + NEXT)), lambda _edge: math.floor(_edge),
                lambda _edge: round(_edge)]),
        slip("one too few", "that is the largest edge that is quicker than the call; the next one "
             "is the smallest that is not.", n=lambda _edge: math.ceil(_edge - NEXT) - 1),
        slip("one too far", "two of these products take exactly as long as their call: they are "
             "the smallest that do, so go on only while a product takes less.",
             n=[lambda _edge: math.floor(_edge + NEXT) + 1, lambda _edge: math.floor(_edge) + 1]),
        slip("no overlap",
             "carrying and computing happen at the same time: the longer, not the sum.",
             whole=lambda call, peak, bandwidth, itemsize: next(
                 n for n in count(1)
                 if 2 * n**3 / peak + 3 * n * n * itemsize / bandwidth >= call)),
        slip("multiply-adds", peak=lambda peak: 2 * peak),
        slip("C forgotten", "three matrices travel: the result is written.", _matrices=2),
        slip("4 bytes always", itemsize=4),
    ),
)  # fmt: skip


# Exercises of lesson 03 that put published sentences on trial.
#
# Thumb rules, "the ridge grows each generation", "raise the intensity".


# Two of each band: the ridge below 4 FLOP/byte, between 4 and 8, above 8.
BANDS = (
    (("rtx-4090", "fp64"), ("rtx-5090", "fp64"), ("b300", "fp64")),
    (("a100-sxm-80", "fp64"), ("a100-sxm-40", "fp64"), ("h200-sxm", "fp64"), ("b200", "fp64")),
    (("a100-sxm-80", "fp32"), ("rtx-4090", "fp32"), ("mi300x", "fp16"), ("m3-pro", "fp32")),
)


def _thumb_cases(rng: random.Random) -> list[Case]:
    which = [one for band in BANDS for one in rng.sample(band, 2)]
    rng.shuffle(which)
    return [*cases_of("peak bandwidth", *(peak_and_bandwidth(*one) for one in which))]


EDGES_OF_RIDGES = cases_of(  # a little below and above 4 and 8, far below and far above
    "peak bandwidth",
    (3.99e12, 1e12), (4.01e12, 1e12), (7.99e11, 1e11), (8.01e13, 1e13), (8.7e12, 1e12),
    (2e11, 1e12), (1e15, 1e12),
)  # fmt: skip

THUMB = table(
    "03-thumb-rules", "“Below 4 memory, above 8 compute”", 2,
    "Two thumb rules: below 4 FLOP/byte everything waits for memory; above 8 everything is limited "
    "by computing. Which of them holds on this machine?",
    "holds(peak, bandwidth)", cases=_thumb_cases, fixed=EDGES_OF_RIDGES, example=(1.2e12, 2e11),
    lines=2, derives=("Roofline",),
    insight="Both rules hold only on machines whose ridge lies between 4 and 8 FLOP/byte. Does "
            "yours?",
    answer={
        "_ridge": lambda peak, bandwidth: peak / bandwidth,
        "first rule": lambda _ridge: _ridge >= 4,
        "second rule": lambda _ridge: _ridge <= 8,
    },
    slips=(
        slip("a law of nature", "4 and 8 stay, the ridge does not: ask where the ridge of this "
             "machine is.", whole=(True, True)),
        slip("never", "a rule may hold by luck: ask where the ridge of this machine is.",
             whole=(False, False)),
        slip("the other way",
             "memory limits what is left of the ridge, computing what is right of it.",
             ways=[{"first_rule": lambda _ridge: _ridge <= 4,
                    "second_rule": lambda _ridge: _ridge >= 8}]),
        slip("the first the other way",
             "the first rule is about what lies left of 4: it is limited by memory if the ridge "
             "lies right of it.", first_rule=lambda _ridge: _ridge <= 4),
        slip("the second the other way",
             "the second rule is about what lies right of 8: it is limited by computing if the "
             "ridge lies left of it.", second_rule=lambda _ridge: _ridge >= 8),
        slip("upside down", "that compares bytes per FLOP with 4 and 8 FLOPs per byte.",
             _ridge=lambda peak, bandwidth: bandwidth / peak),
        slip("both or neither", "judge each rule alone: one may hold where the other fails.",
             whole=lambda peak, bandwidth: (4 <= peak / bandwidth <= 8,) * 2),
        slip("one border for both",
             "each rule has a figure of its own: 4 for the first, 8 for the second.",
             first_rule=lambda _ridge: _ridge >= 8, second_rule=lambda _ridge: _ridge <= 4),
    ),
)  # fmt: skip


def _kernel_cases(rng: random.Random) -> list[Case]:
    """Four kernels for one job on each of six machines, faster from one intensity to the next but
    for one neighbour pair."""
    drawn = []
    for number, which in enumerate(rng.sample([one for band in BANDS for one in band], 6)):
        peak, bandwidth = peak_and_bandwidth(*which)
        shares = [place * rng.uniform(0.8, 1.2) for place in (0.1, 0.4, 1.2, 4)]
        seconds = [1e-3 * rng.uniform(0.9, 1.1) / 1.8**step for step in range(4)]
        swap = number % 3
        seconds[swap], seconds[swap + 1] = seconds[swap + 1], seconds[swap]
        kernels = [
            (round(t * peak * min(1, share)),
             round(t * peak * min(1, share) / share / peak * bandwidth))
            for share, t in zip(shares, seconds, strict=True)
        ]  # fmt: skip
        rng.shuffle(kernels)
        flops, nbytes = (list(column) for column in zip(*kernels, strict=True))
        drawn.append({"flops": flops, "bytes": nbytes, "peak": peak, "bandwidth": bandwidth})
    return drawn


def _first_pair(high: Sequence[float], slow: Sequence[float]) -> tuple[int, int] | None:
    """The first pair (i, j) in which i has more of both; None if there is none."""
    pairs = permutations(range(len(high)), 2)
    return next(((i, j) for i, j in pairs if high[i] > high[j] and slow[i] > slow[j]), None)


def _ends(values: Sequence[float]) -> tuple[int, int]:
    return values.index(max(values)), values.index(min(values))


def _quotients(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(above, below, strict=True)]


def _by(time: Callable[[float, float], float]) -> Callable[..., tuple[int, int] | None]:
    """The pair of kernels that take a ``time`` of computing and carrying; there may be none."""
    return lambda flops, bytes, peak, bandwidth: _first_pair(
        _quotients(flops, bytes),
        [time(f / peak, n / bandwidth) for f, n in zip(flops, bytes, strict=True)],
    )


# Equal times, equal intensities; all on the slope, all under the flat roof; a ridge below 1.
EDGES_OF_KERNELS = cases_of(
    "flops bytes peak bandwidth",
    ([2 * 10**9, 10**9, 18 * 10**8, 8 * 10**8], [10**7, 2 * 10**8, 9 * 10**8, 8 * 10**8],
     1e12, 1e11),
    ([10**9, 1580 * 10**6, 16 * 10**8, 3 * 10**9], [2 * 10**8, 79 * 10**7, 8 * 10**8, 15 * 10**7],
     1e12, 1e11),
    ([840, 600, 900, 625], [280, 300, 120, 250], 1e12, 1e9),
    ([5000, 4000, 9000, 8000], [500, 80, 4500, 640], 2.0**30, 1e12),
    ([63, 20, 30, 60], [70, 160, 10, 72], 3e11, 6e11),
    ([610, 750, 640, 440], [110, 330, 710, 260], 2e12, 5e11),
    ([890, 940, 770, 450], [140, 630, 660, 340], 2e12, 5e11),
)  # fmt: skip

_NO_SLOWER = (
    "a search for a lower speed finds no pair, because a roof never falls. The claim is about "
    "time: which kernel takes longer?"
)

COUNTEREXAMPLE = table(
    "03-counterexample", "“Higher intensity is faster”", 2,
    "Four kernels do the same job. Find the one pair (i, j), counted from 0, in which kernel i has "
    "the higher intensity and yet takes longer than kernel j.",
    "counterexample(flops, bytes, peak, bandwidth)", cases=_kernel_cases, fixed=EDGES_OF_KERNELS,
    example=([2e9, 4e9, 1e9, 8e9], [5e8, 1e8, 2e9, 4e8], 1e12, 1e11),
    lines=6, derives=("Roofline",),
    insight="Intensity tells which roof an operation meets, and not how much work it is. "
            "Compare times.",
    answer={
        "_intensity": lambda flops, bytes: _quotients(flops, bytes),
        "_time": lambda flops, bytes, peak, bandwidth:
            [max(f / peak, n / bandwidth) for f, n in zip(flops, bytes, strict=True)],
        "_pair": lambda _intensity, _time: _first_pair(_intensity, _time),
        "i": lambda _pair: _pair[0],
        "j": lambda _pair: _pair[1],
    },
    slips=(
        slip("exchanged", "i comes first, the one with the higher intensity.",
             ways=[{"i": lambda _pair: _pair[1], "j": lambda _pair: _pair[0]}]),
        slip("highest and lowest intensity", "of that pair the claim is true; look at the times "
             "as well.", _pair=lambda _intensity: _ends(_intensity)),
        slip("slowest and fastest", "slower, yes, but its intensity is lower: the claim is true "
             "of that pair.", _pair=lambda _time: _ends(_time)),
        slip("FLOPs for time", "FLOPs alone are no time: some of these kernels wait for their "
             "bytes.", _time=lambda flops: flops),
        slip("min for max", whole=_by(min)),
        slip("sum for max", "carrying and computing happen at the same time: the longer, not the "
             "sum.", whole=_by(lambda computing, carrying: computing + carrying)),
        slip("counted from 1", "Python counts from 0.",
             ways=[{"i": lambda _pair: _pair[0] + 1, "j": lambda _pair: _pair[1] + 1}]),
    ),
    errors=(
        ("it returned None for every case", "no pair found", "either it never comes to a return, "
         "or its search finds no pair: " + _NO_SLOWER),
        ("StopIteration", "no pair found", _NO_SLOWER),
    ),
)  # fmt: skip

# In the order in which they were sold. 16-bit floating point (fp16) on the matrix unit of each.
NVIDIA = ("nvidia-v100-sxm2", "a100-sxm-40", "a100-sxm-80", "h100-sxm", "h200-sxm", "b200", "gb200")
AMD = ("mi100", "mi210", "mi250x-gcd", "mi300x", "mi325x", "mi355x")
EDGE = 4096  # of the matrix that the m rows are multiplied with


def _sold(names: Sequence[str], m: int) -> Case:
    peaks, bandwidths = zip(*(peak_and_bandwidth(name, "fp16") for name in names), strict=True)
    return {"peaks": list(peaks), "bandwidths": list(bandwidths), "m": m}


def _row_cases(rng: random.Random) -> list[Case]:
    """All of NVIDIA's and of AMD's, and generations that follow each other with some left out, one
    of them sold again under another name.

    AMD's with m just below and above two ridges (m FLOP/byte is on the other side of one of them
    than the product is), and with an m whose doubled intensity is still below the highest ridge.
    """
    left_out = rng.choice(("h200-sxm", "a100-sxm-80"))
    fewer = sorted(rng.sample(range(len(AMD)), 4))
    drawn = [
        _sold(NVIDIA, 256), _sold(AMD, rng.randrange(236, 243)),
        _sold(AMD, rng.randrange(248, 262)), _sold(AMD, rng.randrange(120, 132)),
        _sold([name for name in NVIDIA if name != left_out], rng.randrange(150, 330)),
        _sold([AMD[place] for place in (*fewer[:2], *fewer[1:])], rng.randrange(110, 280)),
    ]  # fmt: skip
    return [drawn[0], *rng.sample(drawn[1:], 5)]


def _falls(values: Sequence[float]) -> list[bool]:
    """For each value but the first, whether it is below the one before."""
    return [b < a for a, b in pairwise(values)]


def _flips(ridges: Sequence[float], at: float) -> list[bool]:
    """For each ridge but the first, whether ``at`` FLOP/byte lie on another side than before."""
    return [(at < a) is not (at < b) for a, b in pairwise(ridges)]


# A small fall, no change at twice of both, many rows, a peak that falls while the ridge rises, and
# ridges on either side of whatever may be taken for the product's intensity.
EDGES_OF_STEPS = cases_of(
    "peaks bandwidths m",
    ([1.002e14, 9.995e13, 1.1e14], [5e11] * 3, 300), ([1e14, 2e14, 2e14], [1e12, 2e12, 1e12], 1),
    ([1.9e15, 2e15, 1.94e15], [1e12] * 3, 40_960),
    ([2e14, 1.8e14, 1.9e14], [1e12, 8e11, 9e11], 230),
    ([1.1e14, 1.2e14, 4.5e14, 4.6e14, 2.27e14, 2.28e14, 2.4e14, 2.42e14, 2.55e14, 2.57e14],
     [1e12] * 10, 256),
)  # fmt: skip

GREW = table(
    "03-ridge-grew", "“The ridge grows with each generation”", 3,
    "GPUs in the order in which they were sold. For each step to the next: did the ridge fall, and "
    "did the verdict change on m rows times a 4096×4096 matrix, in 2-byte numbers?",
    "grew(peaks, bandwidths, m)", cases=_row_cases, fixed=EDGES_OF_STEPS,
    domain={"peaks": any_length(3), "bandwidths": any_length(3), "m": at_least(1)},
    example=([1e14, 3e14, 2e14], [2e12, 4e12, 4e12], 64), lines=4, derives=("gemm", "Roofline"),
    insight="A newer machine may take a program of yours to the other roof, in either "
            "direction: both of its figures tell, one does not.",
    answer={
        "_ridges": lambda peaks, bandwidths: _quotients(peaks, bandwidths),
        "_intensity": lambda m: gemm(m, EDGE, EDGE, "fp16").intensity,
        "steps at which it fell": lambda _ridges: _falls(_ridges),
        "steps at which the verdict changed": lambda _ridges, _intensity:
            _flips(_ridges, _intensity),
    },
    slips=(
        slip("the claim", "at some of these steps only the memory became faster: compute the "
             "ridges.", steps_at_which_it_fell=lambda peaks: [False] * (len(peaks) - 1)),
        slip("the peak fell", "the ridge is peak ÷ bandwidth; a peak alone says nothing of it.",
             steps_at_which_it_fell=lambda peaks: _falls(peaks)),
        slip("upside down",
             "those are the steps at which it rose: bandwidth ÷ peak is its reciprocal.",
             steps_at_which_it_fell=lambda peaks, bandwidths:
                 _falls(_quotients(bandwidths, peaks))),
        slip("no change is a fall",
             "one of these GPUs has the ridge of the one before: it did not fall there.",
             steps_at_which_it_fell=lambda _ridges: [b <= a for a, b in pairwise(_ridges)]),
        slip("the rows are the intensity", "m rows come close to m FLOP/byte only while m is "
             "small beside 4096: the rows and the result travel too.", _intensity=lambda m: m),
        slip("rows or result forgotten", "as many numbers go out as come in, and both travel: the "
             "rows and the result.", _intensity=lambda m: 1 / (1 / m + 1 / EDGE)),
        slip("numbers, not bytes", "each number has two bytes: FLOPs per number are not FLOPs per "
             "byte.", _intensity=lambda m: 2 * gemm(m, EDGE, EDGE, "fp16").intensity),
        slip("multiply-adds", _intensity=lambda m: gemm(m, EDGE, EDGE, "fp16").intensity / 2),
        slip("any change of the ridge",
             "a verdict changes only where the ridge passes the product's intensity.",
             steps_at_which_the_verdict_changed=lambda _ridges:
                 [a != b for a, b in pairwise(_ridges)]),
    ),
)  # fmt: skip


# Exercises of lesson 03 on figures that cannot be: rows of a log, and published figures.
#
# The log is made up; its rows are judged with the catalogue's figures, which a test does again from
# the lesson's table. The published figures are disputed ones of machines.yaml, each with its
# resolution there.


WARM, OTHER_TYPE, GIB, MULTIPLY_ADDS = "warm cache", "other type", "GiB", "multiply-adds"
SPARSE_PEAK_USED, CANNOT_TELL, IN_ORDER = "sparse peak", "cannot tell", "in order"
LOG = (IN_ORDER, WARM, OTHER_TYPE, GIB, IN_ORDER, MULTIPLY_ADDS, SPARSE_PEAK_USED, CANNOT_TELL)


VERDICTS: dict[str, Any] = {
    f"verdict on row {place}": verdict for place, verdict in enumerate(LOG, 1)
}

IMPOSSIBLE = table(
    "03-log", "The impossible rows", 3,
    "Eight rows of a benchmark log: which are in order, and what went wrong in the others?",
    "(row 1, …, row 8)", kind="value",
    insight="Each row could be tried with arithmetic alone. The next table that you are shown "
            "can, too.",
    answer=VERDICTS,
    slips=(
        slip("the log is believed",
             "two rows are faster than their machine can be. Compute each rate from operation and "
             "time before you read what the log says.", whole=(IN_ORDER,) * 8),
        slip("faster than the memory", "compute the byte/s of that row, and hold them against "
             "this memory.", verdict_on_row_2=IN_ORDER),
        slip("faster than the peak", "compute the FLOP/s of that product, and look for a peak of "
             "this machine that allows them.", verdict_on_row_3=IN_ORDER),
        slip("above the roof means warm",
             "a cache brings bytes sooner; it does not make the arithmetic faster. Which peak of "
             "this machine is above that rate?", verdict_on_row_3=WARM),
        slip("7 % is noise", "the log computes its rate from its time, so the two agree to the "
             "last digit or the unit is another.", verdict_on_row_4=[IN_ORDER, CANNOT_TELL]),
        slip("nothing to see in row 6",
             "work out this product's FLOP/s from its shape and its time, and hold them against "
             "the rate in the log.", verdict_on_row_6=[CANNOT_TELL, IN_ORDER]),
        slip("half a rate must be half a share", "a wrong peak spoils the share and leaves the "
             "rate alone; does this rate follow from its time?", verdict_on_row_6=SPARSE_PEAK_USED),
        slip("nothing to see in row 7", "the rate follows from the time; which peak makes it that "
             "share?", verdict_on_row_7=[CANNOT_TELL, IN_ORDER]),
        slip("half a share must be half a rate",
             "a multiply-add counted as 1 FLOP would make the rate too low; this one follows from "
             "its time. What was its share taken of?", verdict_on_row_7=MULTIPLY_ADDS),
        slip("half the roof is no fault",
             "its rate follows from its time, and nothing in the row says why it is half of what "
             "this memory can do: there is a word for that.", verdict_on_row_8=IN_ORDER),
    ),
)  # fmt: skip

RIGHT, SPARSE, TWO_DIES, OTHER_PART = "right", "sparse", "two dies", "other part"
FIGURES: dict[str, Any] = {
    "first row": SPARSE, "second row": TWO_DIES, "third row": OTHER_PART, "fourth row": OTHER_PART,
    "fifth row": RIGHT, "sixth row": OTHER_PART,
}  # fmt: skip

CATALOGUE = table(
    "03-catalogue", "Figures that are true of something else", 2,
    "Six figures as published: which are right, and which belong to sparse products, to two dies, "
    "or to another part?",
    "(first, second, third, fourth, fifth, sixth)", kind="value",
    insight="Five of six figures were true of something else. Those of your own machine deserve "
            "the same look.",
    answer=FIGURES,
    slips=(
        slip("all of them right", "each was found in a public table, and most are true of "
             "something else; compare them with rl.machine(…).", whole=(RIGHT,) * 6),
        slip("the larger figure believed",
             "which peak does the catalogue give for it, and what is the factor?", first_row=RIGHT),
        slip("two dies in an H100",
             "an H100 has one die; what else doubles a rate on paper?", first_row=TWO_DIES),
        slip("two dies as one", "how many GPUs does software see on an MI250X, and whose peak is "
             "this?", second_row=RIGHT),
        slip("twice as much means sparse", "the MI250X has no 2:4 sparsity; how many GPUs does "
             "software see on it?", second_row=SPARSE),
        slip("same die, same machine", "GH100 is the name of the die; two products have it, with "
             "other memories.", third_row=RIGHT),
        slip("same family, same figure", "GB200 and B200 have the same dies and not the same "
             "clocks or power.", fourth_row=RIGHT),
        slip("suspicious of everything",
             "compare this one with the dense figure of the catalogue.", fifth_row=SPARSE),
        slip("three terabytes",
             "look at the bandwidth of an L4; whose figure is this?", sixth_row=RIGHT),
    ),
)  # fmt: skip


def _sparse_cases(rng: random.Random) -> list[Case]:
    """Left of the true ridge, between it and the claimed one (twice), and right of both."""
    machines = (("h100-sxm", "bf16"), ("l4", "fp16"), ("a100-sxm-80", "bf16"), ("b200", "bf16"))
    drawn = []
    for place, which in zip((0.3, 1.25, 1.6, 3), rng.sample(machines, 4), strict=True):
        dense, bandwidth = peak_and_bandwidth(*which)
        at = round(place * rng.uniform(0.9, 1.1) * dense / bandwidth, 1)
        drawn.append({"intensity": at, "claimed": 2 * dense, "bandwidth": bandwidth})
    return drawn


EDGES_OF_CLAIMS = cases_of(  # around the true ridge and the claimed one, far from both
    "intensity claimed bandwidth",
    (499.5, 2e15, 2e12), (500.5, 2e15, 2e12), (1000.0, 2e15, 2e12), (999.0, 2e15, 2e12),
    (1500.0, 2e15, 2e12), (0.125, 2e15, 2e12), (1e5, 2e15, 2e12), (1.3, 3e12, 1.5e12),
)  # fmt: skip

SPARSE_PEAK = table(
    "03-sparse-peak", "How wrong is a wrong peak?", 1,
    "A table lists a peak that is twice the dense one. How many times too short is the time that "
    "you compute with it?",
    "too_short(intensity, claimed, bandwidth)", cases=_sparse_cases, fixed=EDGES_OF_CLAIMS,
    example=(300, 1e15, 2e12), lines=2, derives=("Roofline",),
    insight="On the slope a doubled peak changes nothing; well beyond the ridge every predicted "
            "time is half of the true one.",
    answer={
        "_slope": lambda intensity, bandwidth: intensity * bandwidth,
        "_promised": lambda claimed, _slope: min(claimed, _slope),
        "_true": lambda claimed, _slope: min(claimed / 2, _slope),
        "factor": lambda _promised, _true: _promised / _true,
    },
    slips=(
        slip("always double",
             "left of the ridge the peak plays no part, right or wrong.", factor=[2, 1 / 2]),
        slip("a promise without a slope", "with the claimed peak too, an operation gets no more "
             "than intensity × bandwidth.", _promised=lambda claimed: claimed),
        slip("never", "right of the ridge the peak is all that counts.", factor=1),
        slip("all or nothing", "between the true ridge and the claimed one it is something in "
             "between.", factor=lambda claimed, _slope: 2 if _slope > claimed / 2 else 1),
        slip("beyond the claimed ridge", "left of the claimed ridge the promise is too high "
             "already.", factor=lambda claimed, _slope: 2 if _slope > claimed else 1),
        slip("upside down", "that is the share of the true time; the question is for the factor.",
             factor=lambda _promised, _true: _true / _promised),
        slip("claimed is dense", "the claimed figure is the doubled one; the dense one is half of "
             "it.", claimed=lambda claimed: 2 * claimed),
        slip("no roof",
             "the answer lies between 1 and 2: on the slope both peaks promise the same time.",
             factor=[lambda claimed, _slope: _slope / (claimed / 2),
                     lambda claimed, _promised: _promised / (claimed / 2),
                     lambda claimed, _slope: max(1, 2 * _slope / claimed)]),
    ),
)  # fmt: skip


# What 03-predict may ask: timed operations with the figures of their machine, if asking is fair.
#
# Fairness is a rule, not a choice by hand: an operation is asked only where the model of the lesson
# (call + the longer of computing and carrying, from the level that holds the operands) comes well
# within what is allowed beside the clock, and, with computing and carrying about equally long,
# where the clock can tell the longer of them from their sum. Lesson 03 says so.
#
# ``lesson03_recorded.json`` holds what this rule found in a recording. It is frozen: a class is
# asked the same tomorrow, whatever was recorded since. ``python -m tools.freeze`` made it (see
# timed_cases.py).


FROZEN = Path(__file__).with_name("lesson03_recorded.json")
ROOM = 0.5  # of a cache: operands that fill more than half of it are partly elsewhere
BEYOND = 4  # times the last cache: from there on the operands really come from memory
KINDS = ("both", "cache", "call", "compute", "memory")
FEWEST = 2  # of a kind: a draw has as many
INPUTS = ("flops", "bytes", "peak", "bandwidth", "capacity", "call")  # of the learner's function


@dataclass(frozen=True)
class TimedProduct(TimedCase):
    """A timed operation with the figures of its machine.

    ``case``: FLOP, bytes, FLOP/s, byte/s and bytes of each level (nearest first), seconds of a
    call. ``operation`` and ``machine`` say what ran where, for those who read the file.
    """

    operation: str
    machine: str

    @property
    def kind(self) -> str:
        """Which side of the model it tries: one of ``KINDS``."""
        call, computing, carrying = parts(*self.case.values())
        if call > 2 * max(carrying, computing):
            return "call"
        if min(carrying, computing) > 0.4 * max(carrying, computing):
            return "both"
        if computing > carrying:
            return "compute"
        return "memory" if self._place == len(self.case["capacity"]) - 1 else "cache"

    @property
    def fair(self) -> bool:
        """Whether it may be asked (see the module)."""
        caches, nbytes = self.case["capacity"][:-1], self.case["bytes"]
        if self._place < len(caches):
            sure = nbytes <= ROOM * caches[self._place]
        else:
            sure = not caches or nbytes >= BEYOND * caches[-1]
        return sure and self.close(model) and (self.kind != "both" or self.beyond(sum_for_max))

    @property
    def _place(self) -> int:
        return level(self.case["bytes"], self.case["capacity"])


def level(nbytes: int, capacity: list[float]) -> int:
    """Place of the first level that holds ``nbytes``."""
    return next(place for place, room in enumerate(capacity) if nbytes <= room)


def parts(
    flops: int, bytes: int, peak: float, bandwidth: list[float], capacity: list[float], call: float
) -> tuple[float, float, float]:
    """Seconds of the call, of computing and of carrying."""
    return call, flops / peak, bytes / bandwidth[level(bytes, capacity)]


def model(*case: object) -> float:
    """The lesson's model: the call, then the longer of computing and carrying, in seconds."""
    call, computing, carrying = parts(*case)
    return call + max(computing, carrying)


def sum_for_max(*case: object) -> float:
    """The model without overlap, in seconds."""
    return sum(parts(*case))


def found_in(kept: Recording) -> tuple[TimedProduct, ...]:
    """Every operation of a recording that may be asked, in the order in which they were timed."""
    entries = (_entry(m, kept.at(m.threads)) for m in kept.select(cache="warm"))
    return tuple(entry for entry in entries if entry.fair)


def _entry(measured: Measurement, m: Machine) -> TimedProduct:
    op = measured.op
    case = {
        "flops": op.flops, "bytes": op.bytes, "peak": float(m.peak(op.compute_dtype)),
        "bandwidth": [float(m.bandwidth(level, mix_of(op, m, level))) for level in m.levels],
        "capacity": [m.capacities[level] for level in m.levels], "call": overhead(op, m),
    }  # fmt: skip
    spread = measured.iqr_s / measured.median_s
    return TimedProduct(case, measured.median_s, spread, op.label, with_threads(m.id, m.threads))


def entries_of(name: str) -> tuple[Recording, tuple[TimedProduct, ...]]:
    """The recording ``name``, and what of it may be asked."""
    kept = recording(name)
    return kept, found_in(kept)


@cache
def recorded() -> tuple[TimedProduct, ...]:
    """The frozen operations."""
    return tuple(
        TimedProduct(
            {name: row[name] for name in INPUTS}, row["seconds"], row["spread"],
            row["operation"], row["machine"],
        )
        for row in read_timed_cases(FROZEN)
    )  # fmt: skip


# Accelerators of the catalogue that others timed, as operations that 03-predict may ask.
#
# Sources: the table of achievable matmul FLOPS in stas00/ml-engineering, compute/accelerator (bf16,
# the mean of 100 calls after 50 to warm up, caches emptied; its shapes as m, n, k), and the result
# files of gpu-stream in te42kyfo/gpu-benches (fp64, arrays of 2^27 + 2 numbers, the median of 9;
# the row with all threads). Left out: a GH200 with more memory than the catalogue's, an A100 with
# PCIe. Neither gives a spread or the time of a call, which is short beside these times.


MATMULS = (  # machine, shape, FLOP/s
    ("gaudi2", (14336, 15360, 2048), 418.7e12), ("a100-sxm-80", (1024, 10240, 5120), 271.2e12),
    ("h100-sxm", (2048, 2048, 13312), 794.5e12), ("b300", (12288, 18432, 1024), 1769.0e12),
    ("b200", (1792, 16128, 3072), 1745.0e12), ("gaudi3", (16384, 4096, 768), 1243.0e12),
    ("gb200", (4096, 9728, 2048), 1822.0e12), ("mi355x", (12288, 8192, 8192), 1565.0e12),
    ("mi325x", (13312, 10240, 8192), 784.9e12), ("mi300x", (10240, 15360, 8192), 668.4e12),
)  # fmt: skip
LENGTH = 128 * 2**20 + 2
STREAMS = (  # machine, kernel, byte/s
    ("a100-sxm-40", "scale", 1381e9), ("a100-sxm-40", "triad", 1360e9),
    ("mi100", "scale", 1042e9), ("mi100", "triad", 1006e9),
    ("mi210", "scale", 1358e9), ("mi210", "triad", 1248e9),
    ("h200-sxm", "scale", 3165e9), ("h200-sxm", "triad", 3534e9),
)  # fmt: skip
KERNELS = {"scale": (1, 2), "triad": (2, 3)}  # FLOPs and fp64 numbers carried, for each result


@cache
def timed_elsewhere() -> tuple[TimedProduct, ...]:
    """Those of the published times that are fair to ask, products first."""
    return tuple(entry for entry in (*_matmuls(), *_streams()) if entry.fair)


def _matmuls() -> list[TimedProduct]:
    found = []
    for name, shape, rate in MATMULS:
        op = gemm(*shape, "bf16")
        found.append(_published_entry(op.label, name, "bf16", op.flops, op.bytes, op.flops / rate))
    return found


def _streams() -> list[TimedProduct]:
    found = []
    for name, kernel, rate in STREAMS:
        flops, numbers = (LENGTH * each for each in KERNELS[kernel])
        nbytes = 8 * numbers
        found.append(_published_entry(f"{kernel} fp64", name, "fp64", flops, nbytes, nbytes / rate))
    return found


def _published_entry(
    what: str, name: str, dtype: str, flops: int, nbytes: int, seconds: float
) -> TimedProduct:
    """``seconds`` on a machine of the catalogue, with its one bandwidth and no call."""
    peak, bandwidth = peak_and_bandwidth(name, dtype)
    case = {
        "flops": flops, "bytes": nbytes, "peak": peak, "bandwidth": [bandwidth],
        "capacity": [machine(name).capacities["dram"]], "call": 0.0,
    }  # fmt: skip
    return TimedProduct(case, seconds, 0.0, what, name)


# Predict, then compare with what was measured: the graded kind that nothing is timed live for.
#
# ``predict`` is run on operations of a recorded machine and of accelerators that others timed. The
# right answer of a case is the measured time; what is allowed beside it is the spread of its own
# measurement (IQR ÷ median) plus a margin for what the model leaves out. Which operations may be
# asked is a rule, which stands above.


Inputs = tuple[float, ...]


@cache
def timed() -> Mapping[Inputs, TimedProduct]:
    """Every operation that can be asked, by what tells it apart from the others."""
    return {_key(*entry.case.values()): entry for entry in (*recorded(), *timed_elsewhere())}


def _key(flops: int, bytes: int, peak: float, *_: object) -> Inputs:
    return flops, bytes, peak


def _call_inside(*case: object) -> float:
    return max(parts(*case))


def _grouped(
    entries: Iterable[TimedProduct], by: Callable[[TimedProduct], str]
) -> list[list[TimedProduct]]:
    """``entries`` in groups of the same ``by``, the groups in the order of its values."""
    groups: dict[str, list[TimedProduct]] = {}
    for entry in entries:
        groups.setdefault(by(entry), []).append(entry)
    return [groups[value] for value in sorted(groups)]


def _cases(rng: random.Random) -> list[Case]:
    """Recorded ones of each kind and one that takes call and work one after the other; products and
    streams elsewhere, each on a machine of its own; in any order."""
    kinds = _grouped(recorded(), lambda e: e.kind)
    drawn = [entry for group in kinds for entry in rng.sample(group, FEWEST)]
    drawn.append(rng.choice([e for e in recorded() if e.beyond(_call_inside) and e not in drawn]))
    for group in _grouped(timed_elsewhere(), lambda e: e.kind):
        machines = rng.sample(_grouped(group, lambda e: e.machine), FEWEST)
        drawn += [rng.choice(entries) for entries in machines]
    rng.shuffle(drawn)
    return [entry.case for entry in drawn]


def _allowed(*inputs: object) -> float:
    return timed()[_key(*inputs)].allowed


def _measured(
    flops: int, bytes: int, peak: float, bandwidth: list[float], capacity: list[float], call: float
) -> float:
    """What the clock said; of an operation that was not timed, what the model says."""
    case = flops, bytes, peak, bandwidth, capacity, call
    entry = timed().get(_key(*case))
    return entry.seconds if entry else model(*case)


PREDICT = table(
    "03-predict", "Predict what was measured", 3,
    "Predict the seconds of operations that were timed, from the roofs of their machines. Right is "
    "what comes as close to the clock as its spread and a quarter allow.",
    "predict(flops, bytes, peak, bandwidth, capacity, call)", cases=_cases, margin=_allowed,
    example=(2e9, 1e9, 1e11, [2e11, 2e10], [1e6, 1e10], 1e-6),
    lines=2, derives=("predict", "Roofline", "HierarchicalRoofline"),
    insight="So near come two roofs and the time of a call to what others measured. Where your "
            "own clock is farther off, something else is going on.",
    answer={
        "_computing": lambda flops, peak: flops / peak,
        "_carrying": lambda bytes, bandwidth, capacity: bytes / bandwidth[level(bytes, capacity)],
        "seconds": _measured,
    },
    slips=(
        slip("the roof alone", "that is the bound: the roof of the memory, and nothing else. Here "
             "the call is paid as well, and operands that fit a cache come from there.",
             seconds=lambda _computing, bytes, bandwidth: max(_computing, bytes / bandwidth[-1])),
        slip("the call is free", "some of these operations are so small that the call is most of "
             "their time.", seconds=lambda _computing, _carrying: max(_computing, _carrying)),
        slip("the call overlaps",
             "no number is carried or computed before the call has chosen its routine.",
             seconds=lambda call, _computing, _carrying: max(call, _computing, _carrying)),
        slip("everything comes from memory",
             "operands that fit a cache were in it: these are warm.",
             seconds=lambda call, _computing, bytes, bandwidth:
                 call + max(_computing, bytes / bandwidth[-1])),
        slip("everything comes from the nearest cache",
             "look at the bytes: most of these operands do not fit there.",
             seconds=lambda call, _computing, bytes, bandwidth:
                 call + max(_computing, bytes / bandwidth[0])),
        slip("sum for max", "carrying and computing overlap: after the call, the longer of them "
             "counts.", seconds=lambda call, _computing, _carrying: call + _computing + _carrying),
        slip("only carrying", "at a high intensity the arithmetic takes longer than the bytes.",
             seconds=lambda call, _carrying: call + _carrying),
        slip("multiply-adds", "`flops` counts 2 for each multiply-add already.",
             seconds=lambda call, _computing, _carrying: call + max(2 * _computing, _carrying)),
    ),
)  # fmt: skip


EXERCISES = (
    TIME, THUMB, COUNTEREXAMPLE, IMPOSSIBLE, GREW, NUMBER_TYPE, WORTH, PREDICT, CATALOGUE,
    SPARSE_PEAK,
)  # fmt: skip
