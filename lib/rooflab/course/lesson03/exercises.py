"""Exercises of lesson 03, the roofline: time, what moves, published figures, timed machines."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise, permutations
from pathlib import Path

from rooflab.count import dtype, gemm
from rooflab.course.drawing import DTYPES, peak_and_bandwidth
from rooflab.course.timed_cases import TimedCase, read_timed_cases
from rooflab.exercises.exercise import ITEMSIZES, Case, any_length, at_least, cases_of
from rooflab.exercises.table import Slip, drawn, slip, table
from rooflab.predict.catalogue import machine

# Machine and number type, by ridge: below 4 FLOP/byte, from 4 to 8, to 60, to 400. The learner sees
# their figures, not their names.
MACHINES = [
    (("rtx-4090", "fp64"), ("rtx-5090", "fp64"), ("b300", "fp64")),
    (("a100-sxm-80", "fp64"), ("a100-sxm-40", "fp64"), ("h200-sxm", "fp64"), ("b200", "fp64")),
    (("a100-sxm-80", "fp32"), ("h200-sxm", "fp32"), ("m3-pro", "fp32")),
    (("mi300x", "fp16"), ("h100-sxm", "bf16"), ("l4", "fp16"), ("tpu-v5p", "bf16")),
]
ROOFS = {  # of one machine in each of these rows
    "peak": lambda _of: peak_and_bandwidth(*_of)[0],
    "bandwidth": lambda _of: peak_and_bandwidth(*_of)[1],
    "_of": lambda rng, _row: rng.choice(_row), "_row": MACHINES,
}


# ---- 03-time -------------------------------------------------------------------------------------
def ridge(peak: float, bandwidth: float) -> float:
    """Intensity, in FLOP/byte, at which slope and flat roof meet."""
    return peak / bandwidth


def attainable(intensity: float, peak: float, bandwidth: float) -> float:
    """The highest speed, in FLOP/s, of an operation of this ``intensity``."""
    return min(peak, intensity * bandwidth)


TIME = table(
    "03-time", "The time of any operation", 2,
    "How many seconds does an operation take at least, on machines you have not seen?",
    "time(flops, bytes, peak, bandwidth)",
    cases=drawn(4, flops=lambda bytes, peak, bandwidth, _place:
                    round(_place * bytes * ridge(peak, bandwidth)),
                bytes=range(10**7, 10**10), **ROOFS, _place=[0.01, 0.7, 1.2, 30]),
    fixed=cases_of(
        "flops bytes peak bandwidth",
        (2**30, 2**24, 2.0**40, 2.0**34),  # at the ridge
        (10**15 + 7, 1, 9e14, 3e12), (1, 10**12, 1e15, 8e12), (42 * 10**7, 10**9, 4.4e11, 1e12),
        (4419 * 10**5, 10**9, 4.44e11, 1e12), (4449 * 10**5, 10**9, 4.44e11, 1e12),  # beside it
        (0, 1009, 1.3e13, 2e12),  # a small copy
    ),
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
)


# ---- 03-number-type ------------------------------------------------------------------------------
# A square GEMM, 2n³ FLOPs on 3n² numbers, reaches the ridge at the edge n = 1.5 · itemsize · ridge.
NARROWED = {  # itemsize before → machines on which numbers of half as many bytes move the edge
    8: ("mi250x-gcd", "rtx-4090", "a100-sxm-80", "epyc-9654"),  # down, up, hardly
    4: ("h200-sxm", "l4", "mi300x"),
    2: ("h100-sxm", "b200", "l40s"),
}
WAYS = (math.ceil, math.floor, round)  # to a whole number; the first is right


def _whole(way: Callable[[float], int]) -> Mapping[str, Callable[..., float]]:
    return {"edge_before": lambda _before: way(_before), "edge_after": lambda _after: way(_after)}


def _edges_slip(name: str, hint: str = "", **changes: object) -> Slip:
    """A slip that is the same one where its edges were made whole numbers."""
    return slip(name, hint, ways=[changes, *({**changes, **_whole(way)} for way in WAYS)])


NUMBER_TYPE = table(
    "03-number-type", "Another type, another verdict", 2,
    "From which edge n on is an n×n×n GEMM limited by computing, before and after the numbers "
    "change their type?",
    "edges(bandwidth, peak_1, itemsize_1, peak_2, itemsize_2)",
    cases=drawn(3, bandwidth=lambda _before: _before[1],
                peak_1=lambda _before: _before[0], itemsize_1=[8, 4, 2],
                peak_2=lambda _after: _after[0], itemsize_2=lambda itemsize_1: itemsize_1 // 2,
                _before=lambda _name, itemsize_1: peak_and_bandwidth(_name, DTYPES[itemsize_1]),
                _after=lambda _name, itemsize_2: peak_and_bandwidth(_name, DTYPES[itemsize_2]),
                _name=lambda rng, itemsize_1: rng.choice(NARROWED[itemsize_1])),
    fixed=cases_of(
        "bandwidth peak_1 itemsize_1 peak_2 itemsize_2",
        (2.0**40, 2.0**46, 2, 2.0**47, 4),  # edges that are whole
        (1e12, 7.3e13, 1, 7.3e13, 1),  # that stay
        (3.3e12, 1.13e15, 1, 2.7e13, 8), (4e11, 3.13e12, 8, 6.26e12, 4),
        (1e11, 1.0013e15, 1, 1.1917e15, 1),  # a hundred times those of the text
        (1.7e12, 4.1e13, 4, 2.3e14, 2),
    ),
    domain={"itemsize_1": ITEMSIZES, "itemsize_2": ITEMSIZES},
    example=(1e12, 2e13, 8, 4e13, 4), tolerance=1e-6, lines=2, derives=("gemm", "Roofline"),
    also=(("the next whole numbers are right too; the edges themselves lie a little below",
           lambda bandwidth, peak_1, itemsize_1, peak_2, itemsize_2: (
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
)


# ---- 03-worth-the-call ---------------------------------------------------------------------------
NEXT = 1e-9  # roots are inexact: what is so near to a whole number may be rounded to the next one


def _picked(edge: Callable[..., float]) -> list[Mapping[str, Callable[..., float]]]:
    """Another edge: rounded up, as it comes, and rounded up where the root came out too large."""
    others = (lambda _edge: _edge, lambda _edge: math.ceil(_edge + NEXT))
    return [{"_edge": edge}, *({"_edge": edge, "n": other} for other in others)]


WORTH = table(
    "03-worth-the-call", "Worth the call", 2,
    "What is the smallest n whose n×n×n GEMM takes as long as the call itself?",
    "worth(call, peak, bandwidth, itemsize)",
    cases=drawn(4, call=lambda rng: rng.randrange(30, 80) / 1e7, **ROOFS,
                itemsize=lambda _of: dtype(_of[1]).bits // 8),
    fixed=cases_of(
        "call peak bandwidth itemsize",
        (1e-9, 1e8, 1e8, 8),  # the smallest product there is
        (1e-8, 4.4e8, 1e11, 1), (6.1e-5, 2.25e15, 7.9e12, 2), (1e-3, 9e15, 3e12, 8),
        (3e-6, 1e13, 4.1e10, 1), (2e-5, 8e12, 2e10, 8),  # carrying takes longer
        # Computing n = 7 takes exactly as long as the call, and carrying n = 8. Powers of two:
        # no rounding decides, and the roots come out as n or a little below however written.
        (2.0**-20, 2 * 7**3 * 2.0**20, 6 * 7**2 * 4 * 2.0**20, 4),
        (2.0**-20, 32 * 8**3 * 2.0**20, 3 * 8**2 * 4 * 2.0**20, 4),
    ),
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
)


# ---- 03-thumb-rules ------------------------------------------------------------------------------
THUMB = table(
    "03-thumb-rules", "“Below 4 memory, above 8 compute”", 2,
    "Two thumb rules: below 4 FLOP/byte everything waits for memory; above 8 everything is limited "
    "by computing. Which of them holds on this machine?",
    "holds(peak, bandwidth)", cases=drawn(4, **ROOFS), example=(1.2e12, 2e11),
    fixed=cases_of("peak bandwidth",  # a little below and above 4 and 8, far below and far above
        (3.9999e12, 1e12), (4.0001e12, 1e12), (7.9999e11, 1e11), (8.0001e13, 1e13), (8.7e12, 1e12),
        (2e11, 1e12), (1e15, 1e12)),
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
)


# ---- 03-counterexample ---------------------------------------------------------------------------
def _first_pair(high: Sequence[float], slow: Sequence[float]) -> tuple[int, int] | None:
    """The first pair (i, j) in which i has more of both; None if there is none."""
    pairs = permutations(range(len(high)), 2)
    return next(((i, j) for i, j in pairs if high[i] > high[j] and slow[i] > slow[j]), None)


def _by(time: Callable[[tuple[float, float]], float]) -> Callable[..., tuple[int, int] | None]:
    """The pair of kernels that take this ``time`` of computing and carrying; there may be none."""
    return lambda flops, bytes, peak, bandwidth: _first_pair(
        [f / n for f, n in zip(flops, bytes)],
        [time((f / peak, n / bandwidth)) for f, n in zip(flops, bytes)],
    )


_NO_SLOWER = (
    "a search for a lower speed finds no pair, because a roof never falls. The claim is about "
    "time: which kernel takes longer?"
)

COUNTEREXAMPLE = table(
    "03-counterexample", "“Higher intensity is faster”", 2,
    "Four kernels do the same job. Find the one pair (i, j), counted from 0, in which kernel i has "
    "the higher intensity and yet takes longer than kernel j.",
    "counterexample(flops, bytes, peak, bandwidth)",
    cases=drawn(
        4, flops=lambda peak, _kernels: [round(t * peak * min(1, x)) for x, t in _kernels],
        bytes=lambda bandwidth, _kernels: [round(t * bandwidth / max(1, x)) for x, t in _kernels],
        **ROOFS,
        _kernels=lambda rng, _times: rng.sample(  # intensity ÷ ridge and time of each, shuffled
            [(x * rng.uniform(0.8, 1.2), t) for x, t in zip((0.1, 0.4, 1.2, 4), _times)], 4),
        _times=[(3.1e-3, 6e-3, 1.7e-3, 1e-3), (6e-3, 1.7e-3, 3.1e-3, 1e-3),
                (6e-3, 3.1e-3, 1e-3, 1.7e-3)]),
    fixed=cases_of(
        "flops bytes peak bandwidth",
        ([2 * 10**9, 10**9, 18 * 10**8, 8 * 10**8],  # equal times
         [10**7, 2 * 10**8, 9 * 10**8, 8 * 10**8], 1e12, 1e11),
        ([10**9, 1580 * 10**6, 16 * 10**8, 3 * 10**9],  # equal intensities
         [2 * 10**8, 79 * 10**7, 8 * 10**8, 15 * 10**7], 1e12, 1e11),
        ([706, 600, 900, 625], [280, 300, 120, 250], 1e12, 1e9),  # all on the slope
        ([5000, 4000, 9000, 8000], [500, 80, 4500, 640], 2.0**30, 1e12),  # under the flat roof
        ([63, 20, 30, 60], [70, 160, 10, 72], 3e11, 6e11),  # a ridge below 1
        ([610, 750, 640, 440], [110, 330, 710, 260], 2e12, 5e11),
        ([890, 940, 770, 450], [140, 630, 660, 340], 2e12, 5e11),
    ),
    example=([2e9, 4e9, 1e9, 8e9], [5e8, 1e8, 2e9, 4e8], 1e12, 1e11),
    lines=6, derives=("Roofline",),
    insight="Intensity tells which roof an operation meets, and not how much work it is. "
            "Compare times.",
    answer={
        "_intensity": lambda flops, bytes: [f / n for f, n in zip(flops, bytes)],
        "_time": lambda flops, bytes, peak, bandwidth:
            [max(f / peak, n / bandwidth) for f, n in zip(flops, bytes)],
        "_pair": lambda _intensity, _time: _first_pair(_intensity, _time),
        "i": lambda _pair: _pair[0],
        "j": lambda _pair: _pair[1],
    },
    slips=(
        slip("exchanged", "i comes first, the one with the higher intensity.",
             ways=[{"i": lambda _pair: _pair[1], "j": lambda _pair: _pair[0]}]),
        slip("highest and lowest intensity", "of that pair the claim is true; look at the times "
             "as well.", _pair=lambda _intensity:
                 (_intensity.index(max(_intensity)), _intensity.index(min(_intensity)))),
        slip("slowest and fastest",
             "slower, yes, but its intensity is lower: the claim is true of that pair.",
             _pair=lambda _time: (_time.index(max(_time)), _time.index(min(_time)))),
        slip("FLOPs for time", "FLOPs alone are no time: some of these kernels wait for their "
             "bytes.", _time=lambda flops: flops),
        slip("min for max", whole=_by(min)),
        slip("sum for max", "carrying and computing happen at the same time: the longer, not the "
             "sum.", whole=_by(sum)),
        slip("counted from 1", "Python counts from 0.",
             ways=[{"i": lambda _pair: _pair[0] + 1, "j": lambda _pair: _pair[1] + 1}]),
    ),
    errors=(
        ("it returned None for every case", "no pair found", "either it never comes to a return, "
         "or its search finds no pair: " + _NO_SLOWER),
        ("StopIteration", "no pair found", _NO_SLOWER),
    ),
)


# ---- 03-ridge-grew -------------------------------------------------------------------------------
# In the order in which they were sold; fp16 on the matrix unit of each.
NVIDIA = ("nvidia-v100-sxm2", "a100-sxm-40", "a100-sxm-80", "h100-sxm", "h200-sxm", "b200", "gb200")
AMD = ("mi100", "mi210", "mi250x-gcd", "mi300x", "mi325x", "mi355x")


def _falls(values: Sequence[float]) -> list[bool]:
    """For each value but the first, whether it is below the one before."""
    return [b < a for a, b in pairwise(values)]


GREW = table(
    "03-ridge-grew", "“The ridge grows with each generation”", 3,
    "GPUs in the order in which they were sold. For each step to the next: did the ridge fall, and "
    "did the verdict change on m rows times a 4096×4096 matrix, in 2-byte numbers?",
    "grew(peaks, bandwidths, m)",
    cases=drawn(4, peaks=lambda _figures: [peak for peak, _ in _figures],
                bandwidths=lambda _figures: [bandwidth for _, bandwidth in _figures],
                m=range(110, 330),
                _figures=lambda _names: [peak_and_bandwidth(name, "fp16") for name in _names],
                _names=lambda rng, _sold: sorted(rng.sample(_sold, 5), key=_sold.index),
                _sold=[NVIDIA, AMD]),
    fixed=cases_of(
        "peaks bandwidths m",
        ([1.002e14, 1.0019e14, 1.1e14], [5e11] * 3, 300),  # a small fall
        ([1e14, 2e14, 2e14], [1e12, 2e12, 1e12], 1),  # twice of both, and the same ridge
        ([1.9e15, 2e15, 1.94e15], [1e12] * 3, 40_960),
        ([2e14, 1.8e14, 1.9e14], [1e12, 8e11, 9e11], 230),  # a peak falls, and the ridge rises
        # on either side of whatever may be taken for the product's intensity
        ([1.1e14, 1.2e14, 4.5e14, 4.6e14, 2.273e14, 2.28e14, 2.4e14, 2.42e14, 2.55e14, 2.57e14],
         [1e12] * 10, 256),
    ),
    domain={"peaks": any_length(3), "bandwidths": any_length(3), "m": at_least(1)},
    example=([1e14, 3e14, 2e14], [2e12, 4e12, 4e12], 64), lines=4, derives=("gemm", "Roofline"),
    insight="A newer machine may take a program of yours to the other roof, in either "
            "direction: both of its figures tell, one does not.",
    answer={
        "_ridges": lambda peaks, bandwidths: [p / b for p, b in zip(peaks, bandwidths)],
        "_intensity": lambda m: gemm(m, 4096, 4096, "fp16").intensity,
        "steps at which it fell": lambda _ridges: _falls(_ridges),
        "steps at which the verdict changed": lambda _ridges, _intensity:
            [(_intensity < a) is not (_intensity < b) for a, b in pairwise(_ridges)],
    },
    slips=(
        slip("the claim", "at some of these steps only the memory became faster: compute the "
             "ridges.", steps_at_which_it_fell=lambda peaks: [False] * (len(peaks) - 1)),
        slip("the peak fell", "the ridge is peak ÷ bandwidth; a peak alone says nothing of it.",
             steps_at_which_it_fell=lambda peaks: _falls(peaks)),
        slip("upside down",
             "those are the steps at which it rose: bandwidth ÷ peak is its reciprocal.",
             steps_at_which_it_fell=lambda _ridges: _falls([1 / ridge for ridge in _ridges])),
        slip("no change is a fall",
             "one of these GPUs has the ridge of the one before: it did not fall there.",
             steps_at_which_it_fell=lambda _ridges: [b <= a for a, b in pairwise(_ridges)]),
        slip("the rows are the intensity", "m rows come close to m FLOP/byte only while m is "
             "small beside 4096: the rows and the result travel too.", _intensity=lambda m: m),
        slip("rows or result forgotten", "as many numbers go out as come in, and both travel: the "
             "rows and the result.", _intensity=lambda m: 1 / (1 / m + 1 / 4096)),
        slip("numbers, not bytes", "each number has two bytes: FLOPs per number are not FLOPs per "
             "byte.", _intensity=lambda m: 2 * gemm(m, 4096, 4096, "fp16").intensity),
        slip("multiply-adds", _intensity=lambda m: gemm(m, 4096, 4096, "fp16").intensity / 2),
        slip("any change of the ridge",
             "a verdict changes only where the ridge passes the product's intensity.",
             steps_at_which_the_verdict_changed=lambda _ridges:
                 [a != b for a, b in pairwise(_ridges)]),
    ),
)


# ---- 03-log --------------------------------------------------------------------------------------
# The log is made up; a test judges its rows again, from the lesson's table and the catalogue.
LOG = ("in order", "warm cache", "other type", "GiB", "in order", "multiply-adds", "sparse peak",
       "cannot tell")

IMPOSSIBLE = table(
    "03-log", "The impossible rows", 3,
    "Eight rows of a benchmark log: which are in order, and what went wrong in the others?",
    "(row 1, …, row 8)", kind="value",
    insight="Each row could be tried with arithmetic alone. The next table that you are shown "
            "can, too.",
    answer={f"verdict on row {place}": verdict for place, verdict in enumerate(LOG, 1)},
    slips=(
        slip("the log is believed",
             "two rows are faster than their machine can be. Compute each rate from operation and "
             "time before you read what the log says.", whole=("in order",) * 8),
        slip("faster than the memory", "compute the byte/s of that row, and hold them against "
             "this memory.", verdict_on_row_2="in order"),
        slip("faster than the peak", "compute the FLOP/s of that product, and look for a peak of "
             "this machine that allows them.", verdict_on_row_3="in order"),
        slip("above the roof means warm",
             "a cache brings bytes sooner; it does not make the arithmetic faster. Which peak of "
             "this machine is above that rate?", verdict_on_row_3="warm cache"),
        slip("7 % is noise", "the log computes its rate from its time, so the two agree to the "
             "last digit or the unit is another.", verdict_on_row_4=["in order", "cannot tell"]),
        slip("nothing to see in row 6",
             "work out this product's FLOP/s from its shape and its time, and hold them against "
             "the rate in the log.", verdict_on_row_6=["cannot tell", "in order"]),
        slip("half a rate must be half a share", "a wrong peak spoils the share and leaves the "
             "rate alone; does this rate follow from its time?", verdict_on_row_6="sparse peak"),
        slip("nothing to see in row 7", "the rate follows from the time; which peak makes it that "
             "share?", verdict_on_row_7=["cannot tell", "in order"]),
        slip("half a share must be half a rate",
             "a multiply-add counted as 1 FLOP would make the rate too low; this one follows from "
             "its time. What was its share taken of?", verdict_on_row_7="multiply-adds"),
        slip("half the roof is no fault",
             "its rate follows from its time, and nothing in the row says why it is half of what "
             "this memory can do: there is a word for that.", verdict_on_row_8="in order"),
    ),
)


# ---- 03-catalogue --------------------------------------------------------------------------------
# Disputed figures of machines.yaml, each with its resolution there.
CATALOGUE = table(
    "03-catalogue", "Figures that are true of something else", 2,
    "Six figures as published: which are right, and which belong to sparse products, to two dies, "
    "or to another part?",
    "(first, second, third, fourth, fifth, sixth)", kind="value",
    insight="Five of six figures were true of something else. Those of your own machine deserve "
            "the same look.",
    answer={
        "first row": "sparse", "second row": "two dies", "third row": "other part",
        "fourth row": "other part", "fifth row": "right", "sixth row": "other part",
    },
    slips=(
        slip("all of them right", "each was found in a public table, and most are true of "
             "something else; compare them with rl.machine(…).", whole=("right",) * 6),
        slip("the larger figure believed",
             "which peak does the catalogue give for it, and what is the factor?",
             first_row="right"),
        slip("two dies in an H100",
             "an H100 has one die; what else doubles a rate on paper?", first_row="two dies"),
        slip("two dies as one", "how many GPUs does software see on an MI250X, and whose peak is "
             "this?", second_row="right"),
        slip("twice as much means sparse", "the MI250X has no 2:4 sparsity; how many GPUs does "
             "software see on it?", second_row="sparse"),
        slip("same die, same machine", "GH100 is the name of the die; two products have it, with "
             "other memories.", third_row="right"),
        slip("same family, same figure", "GB200 and B200 have the same dies and not the same "
             "clocks or power.", fourth_row="right"),
        slip("suspicious of everything",
             "compare this one with the dense figure of the catalogue.", fifth_row="sparse"),
        slip("three terabytes",
             "look at the bandwidth of an L4; whose figure is this?", sixth_row="right"),
    ),
)


# ---- 03-sparse-peak ------------------------------------------------------------------------------
SPARSE_PEAK = table(
    "03-sparse-peak", "How wrong is a wrong peak?", 1,
    "A table lists a peak that is twice the dense one. How many times too short is the time that "
    "you compute with it?",
    "too_short(intensity, claimed, bandwidth)",
    cases=drawn(4, intensity=lambda rng, claimed, bandwidth, _place:
                    round(_place * rng.uniform(0.9, 1.1) * claimed / 2 / bandwidth, 1),
                claimed=lambda _of: 2 * peak_and_bandwidth(*_of)[0], bandwidth=ROOFS["bandwidth"],
                _of=[("h100-sxm", "bf16"), ("l4", "fp16"), ("a100-sxm-80", "bf16"),
                     ("b200", "bf16")], _place=[0.3, 1.25, 1.6, 3]),
    fixed=cases_of("intensity claimed bandwidth",  # around both ridges, far from both
        (499.5, 2e15, 2e12), (500.5, 2e15, 2e12), (1000.0, 2e15, 2e12), (999.0, 2e15, 2e12),
        (1500.0, 2e15, 2e12), (0.125, 2e15, 2e12), (1e5, 2e15, 2e12), (1.3, 3e12, 1.5e12)),
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
)


# ---- 03-predict ----------------------------------------------------------------------------------
# Whether a timed operation is asked is a rule, not a choice by hand: only where the model of the
# lesson (call + the longer of computing and carrying, from the level that holds the operands) comes
# well within what is allowed beside the clock, and, with computing and carrying about equally long,
# where the clock can tell the longer of them from their sum. Lesson 03 says so. ``recorded.json``
# holds what the rule found in a recording (see timed_cases.py).
FROZEN = Path(__file__).with_name("recorded.json")
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
        shorter, longer = sorted((computing, carrying))
        if call > 2 * longer:
            return "call"
        if shorter > 0.4 * longer:
            return "both"
        if computing > carrying:
            return "compute"
        return "cache" if self._holding else "memory"

    @property
    def fair(self) -> bool:
        """Whether it may be asked (see above)."""
        nbytes, (*caches, _) = self.case["bytes"], self.case["capacity"]
        if self._holding:
            sure = nbytes <= ROOM * self._holding[0]
            sure &= all(nbytes <= room or nbytes >= room / ROOM for room in caches)
        else:
            sure = nbytes >= BEYOND * max(caches, default=0)
        beyond_sum = self.beyond(lambda *case: sum(parts(*case)))
        return sure and self.close(model) and (self.kind != "both" or beyond_sum)

    @property
    def _holding(self) -> list[float]:
        """The caches, by their bytes, that hold the operands."""
        return [room for room in self.case["capacity"][:-1] if self.case["bytes"] <= room]


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


@cache
def recorded() -> tuple[TimedProduct, ...]:
    """The frozen operations."""
    told = ("seconds", "spread", "operation", "machine")
    return tuple(
        TimedProduct({name: row[name] for name in INPUTS}, *(row[name] for name in told))
        for row in read_timed_cases(FROZEN)
    )


# Accelerators of the catalogue that others timed. Sources: the table of achievable matmul FLOPS in
# stas00/ml-engineering, compute/accelerator (bf16, the mean of 100 calls after 50 to warm up,
# caches emptied; its shapes as m, n, k), and the result files of gpu-stream in te42kyfo/gpu-benches
# (fp64, arrays of 2^27 + 2 numbers, the median of 9; the row with all threads). Left out: a GH200
# with more memory than the catalogue's, an A100 with PCIe. Neither gives a spread or the time of a
# call, which is short beside these times.
MATMULS = (  # machine, shape, FLOP/s
    ("gaudi2", (14336, 15360, 2048), 418.7e12), ("a100-sxm-80", (1024, 10240, 5120), 271.2e12),
    ("h100-sxm", (2048, 2048, 13312), 794.5e12), ("b300", (12288, 18432, 1024), 1769.0e12),
    ("b200", (1792, 16128, 3072), 1745.0e12), ("gaudi3", (16384, 4096, 768), 1243.0e12),
    ("gb200", (4096, 9728, 2048), 1822.0e12), ("mi355x", (12288, 8192, 8192), 1565.0e12),
    ("mi325x", (13312, 10240, 8192), 784.9e12), ("mi300x", (10240, 15360, 8192), 668.4e12),
)
LENGTH = 128 * 2**20 + 2
STREAMS = (  # machine, kernel, byte/s
    ("a100-sxm-40", "scale", 1381e9), ("a100-sxm-40", "triad", 1360e9),
    ("mi100", "scale", 1042e9), ("mi100", "triad", 1006e9),
    ("mi210", "scale", 1358e9), ("mi210", "triad", 1248e9),
    ("h200-sxm", "scale", 3165e9), ("h200-sxm", "triad", 3534e9),
)
KERNELS = {"scale": (1, 16), "triad": (2, 24)}  # FLOPs and bytes for each result


@cache
def timed_elsewhere() -> tuple[TimedProduct, ...]:
    """Those of the published times that are fair to ask, products first."""
    found = []
    for name, shape, rate in MATMULS:
        op = gemm(*shape, "bf16")
        found.append(_elsewhere(op.label, name, "bf16", op.flops, op.bytes, op.flops / rate))
    for name, kernel, rate in STREAMS:
        flops, nbytes = (LENGTH * each for each in KERNELS[kernel])
        found.append(_elsewhere(f"{kernel} fp64", name, "fp64", flops, nbytes, nbytes / rate))
    return tuple(entry for entry in found if entry.fair)


def _elsewhere(
    what: str, name: str, kind: str, flops: int, nbytes: int, seconds: float
) -> TimedProduct:
    """``seconds`` on a machine of the catalogue, with its one bandwidth and no call."""
    peak, bandwidth = peak_and_bandwidth(name, kind)
    figures = flops, nbytes, peak, [bandwidth], [machine(name).capacities["dram"]], 0.0
    return TimedProduct(dict(zip(INPUTS, figures, strict=True)), seconds, 0.0, what, name)


@cache
def timed() -> Mapping[tuple[float, ...], TimedProduct]:
    """Every operation that can be asked, by the three inputs that tell it apart from the others."""
    every = (*recorded(), *timed_elsewhere())
    return {tuple(entry.case.values())[:3]: entry for entry in every}


def _cases(rng: random.Random) -> list[Case]:
    """Recorded ones of each kind and one that takes call and work one after the other; products and
    streams elsewhere, each on a machine of its own; in any order."""
    chosen = []
    for kind in KINDS:
        chosen += rng.sample([e for e in recorded() if e.kind == kind], FEWEST)
    after_the_call = [e for e in recorded() if e.beyond(lambda *case: max(parts(*case)))]
    chosen.append(rng.choice([e for e in after_the_call if e not in chosen]))
    for kind in ("compute", "memory"):
        there = [e for e in timed_elsewhere() if e.kind == kind]
        for name in rng.sample(sorted({e.machine for e in there}), FEWEST):
            chosen.append(rng.choice([e for e in there if e.machine == name]))
    return [entry.case for entry in rng.sample(chosen, len(chosen))]


PREDICT = table(
    "03-predict", "Predict what was measured", 3,
    "Predict the seconds of operations that were timed, from the roofs of their machines. Right is "
    "what comes as close to the clock as its spread and a quarter allow.",
    "predict(flops, bytes, peak, bandwidth, capacity, call)", cases=_cases,
    margin=lambda flops, bytes, peak, *_: timed()[flops, bytes, peak].allowed,
    example=(2e9, 1e9, 1e11, [2e11, 2e10], [1e6, 1e10], 1e-6),
    lines=2, derives=("predict", "Roofline", "HierarchicalRoofline"),
    insight="So near come two roofs and the time of a call to what others measured. Where your "
            "own clock is farther off, something else is going on.",
    answer={
        "_computing": lambda flops, peak: flops / peak,
        "_carrying": lambda bytes, bandwidth, capacity: bytes / bandwidth[level(bytes, capacity)],
        "_model": lambda call, _computing, _carrying: call + max(_computing, _carrying),
        "seconds": lambda flops, bytes, peak, _model:  # by the clock, or the model for the example
            getattr(timed().get((flops, bytes, peak)), "seconds", _model),
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
)


EXERCISES = (
    TIME, THUMB, COUNTEREXAMPLE, IMPOSSIBLE, GREW, NUMBER_TYPE, WORTH, PREDICT, CATALOGUE,
    SPARSE_PEAK,
)
