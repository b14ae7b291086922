"""Exercises of lesson 01, three operations: FLOPs and bytes, claims on trial, CUDA events."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

from rooflab.count import axpy, dot, gemm, gemv, ger
from rooflab.count.si import rounded
from rooflab.exercises.compare import close, same
from rooflab.exercises.exercise import (
    ITEMSIZES,
    Case,
    Exercise,
    Misconception,
    Observation,
    at_least,
    cases_of,
)
from rooflab.exercises.kinds.timing import (
    ARITHMETIC,
    derived,
    happened,
    operation,
    per_launch,
    regions,
    reordered,
    seconds_of,
    sizes,
)
from rooflab.exercises.lessons.drawing import DTYPES
from rooflab.exercises.table import slip, table
from rooflab.labs.cuda import Device
from rooflab.predict.catalogue import machine
from rooflab.predict.machine import Machine

# Exercises of lesson 01, three operations: FLOPs and bytes, from the ledger of ``count``.
#
# The wrong answers are slips seen in print: β forgotten, elements for bytes, M·K counted twice,
# somebody else's element size, a vector that is not read.


def _shapes(rng: random.Random, count: int = 4) -> list[tuple[int, int, int]]:
    """Distinct sizes: a square product cannot convict a repeated M·K.

    They are small enough for three nested loops, a beginner's first idea, which is right.
    """
    return [tuple(rng.sample(range(2, 60), 3)) for _ in range(count)]


def _ledger_cases(rng: random.Random) -> list[Case]:
    ways = [(4, False), (8, True), (2, False), (1, True), (4, True)]
    return [
        {"m": m, "n": n, "k": k, "itemsize": itemsize, "accumulate": accumulate}
        for (m, n, k), (itemsize, accumulate) in zip(_shapes(rng, len(ways)), ways, strict=True)
    ]


# One of everything, the sizes of one token and of one number, and the last argument left out.
EDGES_OF_PRODUCT = (
    {"m": 7, "n": 5, "k": 3, "itemsize": 2},
    *cases_of(
        "m n k itemsize accumulate",
        (1, 1, 1, 1, False), (1, 40_961, 3, 8, True), (3, 1, 4_099, 4, False),
        (4_097, 2, 1, 1, True), (12, 12, 12, 2, True), (100, 6, 100, 8, False),
    ),
)  # fmt: skip


PRODUCT = table(
    "01-product", "A product, counted", 4,
    "C = A·B with A m×k and B k×n; with accumulate=True C += A·B (β ≠ 0). How many FLOPs, how "
    "many bytes at least, how many FLOPs per byte?",
    "product(m, n, k, itemsize, accumulate=False)", cases=_ledger_cases, fixed=EDGES_OF_PRODUCT,
    domain={"m": at_least(1), "n": at_least(1), "k": at_least(1), "itemsize": ITEMSIZES},
    example=(5, 7, 11, 4),
    insight="Your machine cannot move fewer bytes than that for any product. The intensity tells "
            "on which side of its ridge the product lies.",
    mine="product", lines=4, derives=("gemm", "gemv"),
    answer={
        "FLOPs": lambda m, n, k: 2 * m * n * k,
        "_numbers": lambda m, n, k: m * k + k * n,  # that are read in any case
        "bytes": lambda _numbers, m, n, accumulate, itemsize:
            (_numbers + (1 + accumulate) * m * n) * itemsize,
        "intensity": lambda FLOPs, bytes: FLOPs / bytes,
    },
    slips=(
        slip("multiply-adds", FLOPs=lambda m, n, k: m * n * k),
        slip("square in mind", "that is right for a square product; here m, n and k differ.",
             FLOPs=[lambda m: 2 * m**3, lambda n: 2 * n**3, lambda k: 2 * k**3]),
        slip("K forgotten", "every element of C is a sum over k.", FLOPs=lambda m, n: 2 * m * n),
        slip("one addition fewer",
             "exact, but the convention counts k multiply-adds of 2 FLOPs an element.",
             FLOPs=lambda m, n, k: m * n * (2 * k - 1)),
        slip("old C added at the end",
             "each sum can begin with the old value of C in place of 0; its k multiply-adds are "
             "all there is.",
             FLOPs=[lambda m, n, k, accumulate: 2 * m * n * k + accumulate * m * n,
                    lambda m, n, k: 2 * m * n * k + m * n]),
        slip("elements for bytes", itemsize=1),
        slip("bits for bytes", itemsize=lambda itemsize: 8 * itemsize),
        slip("4 bytes always", itemsize=4),
        slip("β forgotten", "C is read as well as written when the product is added to it (β ≠ 0).",
             accumulate=False),
        slip("C always read",
             "without accumulate C is only written; its old values are not needed.",
             accumulate=True),
        slip("the two cases swapped",
             "accumulate=True is the case in which the old C is read too.",
             accumulate=lambda accumulate: not accumulate),
        slip("M·K twice",
             "you counted M·K twice. A is M×K, B is K×N, C is M×N: square matrices hide this.",
             _numbers=lambda m, k: 2 * m * k,
             bytes=lambda _numbers, m, n, k, accumulate, itemsize:
                 (_numbers + (k + accumulate * n) * m) * itemsize),
        slip("A or B read again",
             "what is read as well as written is C, where the product is added to it; it has "
             "m × n numbers. Do you take the arguments in the order m, n, k?",
             bytes=[lambda _numbers, m, n, k, accumulate, itemsize:
                        (_numbers + m * n + accumulate * k * n) * itemsize,
                    lambda _numbers, m, n, k, accumulate, itemsize:
                        (_numbers + m * n + accumulate * m * k) * itemsize]),
        slip("all three doubled",
             "accumulate makes one trip more, of C alone; A and B are read once in both cases.",
             bytes=lambda _numbers, m, n, accumulate, itemsize:
                 (_numbers + m * n) * (1 + accumulate) * itemsize),
        slip("bytes multiplied",
             "A and B lie beside each other in memory: add up how many numbers they have.",
             _numbers=lambda m, n, k: m * k * k * n,
             bytes=[lambda m, n, k, itemsize: m * k * k * n * itemsize,
                    lambda m, n, k, itemsize: m * k * k * n * m * n * itemsize,
                    lambda m, n, k, itemsize: (m * k * k * n + m * n) * itemsize]),
        slip("C forgotten", "the result travels too.",
             bytes=[lambda _numbers, itemsize: _numbers * itemsize,
                    lambda _numbers, m, n, accumulate, itemsize:
                        (_numbers + accumulate * m * n) * itemsize]),
        slip("no reuse",
             "numbers travel anew for every multiply-add; each need travel only once.",
             bytes=[lambda m, n, k, itemsize: 2 * m * n * k * itemsize,
                    lambda m, n, k, itemsize: (2 * k + 1) * m * n * itemsize,
                    lambda m, n, k, accumulate, itemsize:
                        (2 * k + 1 + accumulate) * m * n * itemsize,
                    lambda m, n, k, itemsize: 3 * m * n * k * itemsize,
                    lambda m, n, k, itemsize: 4 * m * n * k * itemsize,
                    lambda m, n, k, accumulate, itemsize: (3 + accumulate) * m * n * k * itemsize,
                    lambda m, n, k, accumulate, itemsize: (2 + accumulate) * m * n * k * itemsize]),
        slip("upside down", intensity=lambda FLOPs, bytes: bytes / FLOPs),
        slip("// for /", intensity=lambda FLOPs, bytes: FLOPs // bytes),
    ),
)  # fmt: skip


NAMES = ("axpy", "dot", "gemv", "outer", "gemm")


def _counters(rng: random.Random) -> list[Case]:
    """FLOPs and bytes of each operation once, in mixed order."""
    drawn = []
    sizes = [8, 4, 2, 1, 4]
    rng.shuffle(sizes)
    for name, size in zip(NAMES, sizes, strict=True):
        kind, n = DTYPES[size], rng.randrange(60, 900)
        op = {
            "axpy": axpy(n * n, kind), "dot": dot(n * n, kind), "gemv": gemv(n, n, kind),
            "outer": ger(n, n, kind), "gemm": gemm(n, n, n, kind),
        }[name]  # fmt: skip
        drawn.append({"flops": op.flops, "nbytes": op.bytes, "itemsize": size})
    rng.shuffle(drawn)
    return drawn


def _moved(flops: float) -> dict[str, float]:
    """How many numbers each operation would move for ``flops``: n vectors, square matrices."""
    adds = flops / 2
    edge = adds**0.5
    return {
        "axpy": 3 * adds, "dot": 2 * adds + 1, "gemv": adds + 2 * edge,
        "outer": 2 * adds + 2 * edge, "gemm": 3 * adds ** (2 / 3),
    }  # fmt: skip


def _nearest(flops: float, moved: float, **mistaken: float) -> str:
    """The operation whose count of numbers is nearest to ``moved``."""
    there = {**_moved(flops), **mistaken}
    return min(there, key=lambda name: abs(there[name] / moved - 1))


def _exact(flops: float, moved: float, **mistaken: float) -> str:
    """The operation that moves just as many numbers; GEMM if none does."""
    there = {**_moved(flops), **mistaken}
    return next((name for name, count in there.items() if count == moved), "gemm")


def _by_intensity(*borders: tuple[float, str]) -> Callable[[int, int], str]:
    """FLOP/byte and nothing else: the first border that is not reached."""
    return lambda flops, nbytes: next(
        (name for border, name in borders if flops / nbytes < border), "gemm"
    )


NAME = table(
    "01-name", "Which operation was that?", 3,
    "A profiler counted FLOPs and bytes, and lost the name. Was it axpy, dot, gemv, outer or gemm?",
    "name(flops, nbytes, itemsize)", cases=_counters,
    fixed=cases_of(  # edges of 7 and of 10,007, lengths that are no square, several types each
        "flops nbytes itemsize",
        (2 * 1009, 3 * 1009, 1), (2 * 10**8 + 14, 8 * (3 * 10**8 + 21), 8),  # axpy
        (2 * 60, 2 * 121, 2), (2 * 10**8 + 6, 2 * 10**8 + 7, 1),  # dot
        (2 * 49, 2 * (49 + 14), 2), (2 * 10_007**2, 4 * (10_007**2 + 20_014), 4),  # gemv
        (2 * 49, 8 * (98 + 14), 8), (2 * 10_007**2, 2 * 10_007**2 + 20_014, 1),  # outer
        (2 * 343, 3 * 49, 1), (2 * 10_007**3, 6 * 10_007**2, 2), (2 * 61**3, 24 * 61**2, 8),  # gemm
    ),
    domain={"itemsize": ITEMSIZES}, example=(100, 600, 4),
    lines=5, derives=("axpy", "dot", "gemv", "ger", "gemm"),
    insight="The counters of your own machine give the same two numbers. They tell the operation, "
            "and the operation tells what would make it faster.",
    answer={
        "_moved": lambda nbytes, itemsize: nbytes / itemsize,
        "answer": lambda flops, _moved: _nearest(flops, _moved),
    },
    slips=(
        slip("multiply-adds",
             "flops counts 2 for each multiply-add; halve it before you take an edge.",
             flops=lambda flops: 2 * flops),
        slip("y not read",
             "AXPY reads x and y and writes y: three numbers for each multiply-add.",
             answer=lambda flops, _moved: _nearest(flops, _moved, axpy=flops + 0.5)),
        slip("dot and outer share an intensity",
             "both move about two numbers for each multiply-add, if A is read before it is "
             "written. Count to the last number what either of them moves.",
             answer=[lambda flops, _moved: _nearest(flops, _moved, outer=inf),
                     lambda flops, _moved: _nearest(flops, _moved, dot=inf)]),
        slip("a border for FLOP/byte",
             "FLOP/byte changes with itemsize, and the operations with it: count numbers, bytes ÷ "
             "itemsize, beside multiply-adds, flops ÷ 2.",
             answer=[_by_intensity((0.3, "axpy"), (1, "gemv")),
                     _by_intensity((0.2, "axpy"), (0.26, "dot"), (0.3, "outer"), (1, "gemv")),
                     _by_intensity((1, "axpy"))]),
        slip("the result of dot forgotten", "dot writes one number too, its result.",
             answer=lambda flops, _moved: _exact(flops, _moved, dot=flops)),
        slip("one vector of GEMV",
             "GEMV carries two vectors beside its matrix: x is read, y is written.",
             answer=lambda flops, _moved:
                 _exact(flops, _moved, gemv=flops / 2 + (flops / 2) ** 0.5)),
        slip("elements for bytes", "bytes are not numbers; each has itemsize of them.", itemsize=1),
        slip("4 bytes always", itemsize=4),
        slip("one name for all",
             "every case is another operation: the name follows from the counters.",
             answer=[*NAMES]),
        slip("matrix or vector",
             "AXPY, dot, GEMV and the outer product differ in their bytes alone.",
             answer=lambda flops, _moved: "gemm" if _moved < 0.4 * flops else "gemv"),
    ),
)  # fmt: skip


# Exercises of lesson 01 that put witnesses and published sentences on trial.
#
# The sentences are of one public web lesson on AXPY, GEMV and GEMM; none of the wrong ones is made
# up. The witnesses are measurements of hidden machines, one of which may have timed a cache.


MACHINES = ("h200-sxm", "a100-sxm-80", "rtx-4090", "mi300x", "m3-pro")
LEAVES_TWO = (1025, 1040, 1055, 1088, 1100, 1127)  # divided by 3: n // 3 is off by 2/n
SHOWN = 0.0016  # relative: less than that, and more than the 1/n of either value of GEMV


def _large(rng: random.Random) -> list[Case]:
    return [{"n": rng.choice(LEAVES_TWO)}, *({"n": rng.randrange(1500, 9000)} for _ in range(3))]


def _gemv_of_large(n: int) -> float:
    """Halfway between its value at n and the limit for large n: both are right."""
    return (gemv(n, n, "fp16").intensity + 1) / 2


THREE = table(
    "01-three-intensities", "Three intensities", 2,
    "Large N, 2-byte numbers: the intensity of AXPY on N² numbers, of GEMV and of GEMM on N×N "
    "matrices?",
    "intensities(n)", cases=_large, fixed=cases_of("n", (1025,), (4096,), (12_289,), (81_920,)),
    tolerance=SHOWN, example=(30_000,), lines=3, derives=("axpy", "gemv", "gemm"),
    also=(("0.33 stands for 1/3", lambda n: (0.33, _gemv_of_large(n), n / 3)),),
    insight="The first two are the same for every N. Of the three, only GEMM walks towards the "
            "ridge of your machine as N grows.",
    answer={
        "AXPY intensity": lambda n: axpy(n * n, "fp16").intensity,
        "GEMV intensity": _gemv_of_large,
        "GEMM intensity": lambda n: gemm(n, n, n, "fp16").intensity,
    },
    slips=(
        slip("AXPY has about 1",
             "AXPY does 2 FLOPs on 3 numbers that travel, and a number has 2 bytes.",
             AXPY_intensity=1),
        slip("GEMV has about 2",
             "2 FLOPs per number of the matrix, yes, but a number has 2 bytes.", GEMV_intensity=2),
        slip("GEMM has N", "2N FLOPs for every 3 numbers that travel, and a number has 2 bytes.",
             GEMM_intensity=lambda n: n),
        slip("4-byte elements",
             "either your numbers have 4 bytes, or you counted a multiply-add as 1 FLOP.",
             whole=lambda n: (1 / 6, 1 / 2, n / 6),
             GEMM_intensity=lambda n: n / 6, GEMV_intensity=1 / 2),
        slip("y not read", "AXPY reads x, reads y and writes y: three numbers travel, not two.",
             AXPY_intensity=1 / 2),
        slip("C forgotten", "three matrices travel: A and B are read, C is written.",
             GEMM_intensity=lambda n: n / 2),
        slip("FLOPs per number",
             "that is FLOPs for each number that travels; a number has 2 bytes.",
             whole=lambda n: (2 / 3, 2, 2 * n / 3),
             AXPY_intensity=2 / 3, GEMM_intensity=lambda n: 2 * n / 3),
        slip("another power of N",
             "divide all FLOPs by all bytes: AXPY and GEMV have N² above and below, GEMM N³ above "
             "and N² below.",
             AXPY_intensity=[lambda n: n / 3, lambda n: n * n / 3],
             GEMV_intensity=[lambda n: n, lambda n: n / 2, lambda n: n / 3],
             GEMM_intensity=lambda n: n * n / 3, whole=lambda n: (n / 3, n, n / 3)),
        slip("// for /", "// and int() drop what stands after the point; divide with /.",
             whole=[lambda n: (1 / 3, 1, n // 3), lambda n: (0, 1, n // 3),
                    lambda n: (0, 0, n // 3)]),
        slip("upside down",
             whole=[lambda n: (3, 1, 3 / n), lambda n: (6, 2, 6 / n), lambda n: (12, 4, 12 / n)]),
    ),
)  # fmt: skip


def _roofs(rng: random.Random) -> list[Case]:
    """Hidden catalogue machines with different element sizes."""
    drawn = []
    for name in rng.sample(MACHINES, 4):
        for itemsize, kind in ((4, "fp32"), (2, "fp16")):
            hidden = machine(name)
            if hidden.has_peak(kind):
                peak, bandwidth = float(hidden.peak(kind)), float(hidden.bandwidth())
                drawn.append({"peak": peak, "bandwidth": bandwidth, "itemsize": itemsize})
    return drawn


LIMIT = table(
    "01-speed-limit", "The ratio at the roofs", 2,
    "GEMM on the flat roof, AXPY on the slope: how many times as fast is GEMM, in FLOP/s, on "
    "machines you have not seen?",
    "speed_limit(peak, bandwidth, itemsize)", cases=_roofs,
    fixed=cases_of(  # a ridge at 1 and below, none of the catalogue's figures
        "peak bandwidth itemsize",
        (3.3e12, 4.7e11, 8), (2.0**40, 2.0**40, 2), (7.1e13, 1.3e12, 1), (3e9, 8e8, 4),
        (4.1e15, 1.9e12, 2),
    ),
    domain={"itemsize": ITEMSIZES}, example=(1e13, 5e11, 4), lines=2, derives=("axpy", "Roofline"),
    insight="With the peak and the bandwidth of your machine, this is the most by which a GEMM can "
            "beat an AXPY there, however much larger its intensity is.",
    answer={
        "_axpy": lambda bandwidth, itemsize: bandwidth * 2 / (3 * itemsize),  # its FLOP/s
        "answer": lambda peak, _axpy: peak / _axpy,
    },
    slips=(
        slip("the ridge alone", "that is GEMM against 1 FLOP per byte; AXPY has less than that.",
             _axpy=lambda bandwidth: bandwidth),
        slip("one speed alone",
             "that is how fast one of the two is; divide GEMM's FLOP/s by AXPY's.",
             answer=[lambda peak: peak, lambda _axpy: _axpy]),
        slip("times for divided by",
             "AXPY's speed is its intensity times the bandwidth; divide the peak by it.",
             _axpy=[lambda bandwidth, itemsize: bandwidth / 2 * (3 * itemsize),
                    lambda bandwidth: bandwidth * 6]),
        slip("no parentheses",
             "2 / 3 * itemsize divides by 3 alone; larger numbers are more bytes.",
             _axpy=lambda bandwidth, itemsize: bandwidth * 2 / 3 * itemsize),
        slip("the ratio of the intensities",
             "GEMM would be that much faster if its slope did not end at the roof.", answer=4096),
        slip("elements for bytes", "AXPY has 2 FLOPs for 3 numbers; each has itemsize bytes.",
             itemsize=1),
        slip("4 bytes always", itemsize=4),
        slip("vector add", "AXPY does 2 FLOPs an element, a multiplication and an addition.",
             _axpy=lambda bandwidth, itemsize: bandwidth / (3 * itemsize)),
        slip("y not read", "AXPY reads x, reads y and writes y: three numbers travel, not two.",
             _axpy=lambda bandwidth, itemsize: bandwidth / itemsize),
        slip("upside down", "that is AXPY's speed over GEMM's.",
             answer=[lambda peak, _axpy: _axpy / peak, lambda peak, bandwidth: bandwidth / peak]),
    ),
)  # fmt: skip

_TRUE = gemm(4096, 4096, 4096).intensity

CLAIM_1365 = table(
    "01-claim-1365", "“A 4096 fp32 GEMM has 1365 FLOP/byte”", 2,
    "Find the error: which intensity is right, and with how many bytes an element would 1365 be?",
    "(intensity, itemsize)", kind="value", tolerance=0.001, derives=("gemm",),
    insight="On your roofline too, the page's dot would stand at twice the intensity that the "
            "product has.",
    answer={"intensity": lambda: _TRUE, "element size": lambda: 2},
    slips=(
        slip("the claim", "that is what the page printed; run its formula with 4-byte elements.",
             intensity=2 * _TRUE),
        slip("fp64 for fp32", "that is 8-byte elements (or a multiply-add counted as 1 FLOP).",
             intensity=_TRUE / 2),
        slip("C read too", "that is C += A·B; the claim has three matrices, each moved once.",
             intensity=512),
        slip("FLOPs per number",
             "that is FLOPs for each number that travels; a number has 4 bytes.",
             intensity=4 * _TRUE),
        slip("C forgotten", "three matrices travel: A and B are read, C is written.",
             intensity=1024),
        slip("upside down", intensity=1 / _TRUE),
        slip("N", "“N FLOP/byte” forgets the 2, the 3 matrices and the bytes.", intensity=4096),
        slip("fp32 after all",
             "with 4 bytes the formula does not give 1365; try other element sizes.",
             element_size=4),
        slip("the wrong way", "larger elements mean more bytes and a lower intensity.",
             element_size=8),
        slip("bits for bytes", "that many bits; how many bytes are they?", element_size=16),
    ),
)  # fmt: skip


APART = 2.0  # the two mixes of reading and writing differ by less than that on these machines
HONEST, CACHED = (0.58, 0.95), (2.3, 5.0)  # one byte/s over the other's: of two mixes, of a cache


def _reports(rng: random.Random) -> list[Case]:
    """Three timings each of six hidden machines: AXPY lies on two, GEMV on two, nobody on two."""
    drawn, slower = [], rng.sample(("axpy", "gemv"), 2)  # of two who both tell the truth
    for itemsize, liar in zip((4, 8, 4, 8, 2, 4), ("axpy", "gemv", "nobody") * 2, strict=True):
        n, kind = rng.randrange(3000, 9000), DTYPES[itemsize]
        bandwidth = rng.uniform(1e10, 4e11)
        rates = {"axpy": bandwidth, "gemv": bandwidth}
        if liar == "nobody":
            rates[slower.pop()] *= rng.uniform(*HONEST)
        else:
            rates[liar] *= rng.uniform(*CACHED)
        seconds = {
            "t_axpy": axpy(n * n, kind).bytes / rates["axpy"],
            "t_gemv": gemv(n, n, kind).bytes / rates["gemv"],
            "t_gemm": gemm(n, n, n).flops / (rng.uniform(20, 90) * bandwidth / itemsize),
        }
        rows = {name: rounded(t, 6) for name, t in seconds.items()}
        drawn.append({"n": n, "itemsize": itemsize, **rows})
    rng.shuffle(drawn)
    return drawn


def _suspect(_axpy: float, _gemv: float) -> str:
    """Who timed a cache: whose byte/s are more than any mix allows."""
    if _axpy > APART * _gemv:
        return "axpy"
    return "gemv" if _gemv > APART * _axpy else "nobody"


def _memory(pick: Callable[..., float]) -> Callable[[str, float, float], float]:
    """The byte/s of who did not lie, or ``pick`` of both where nobody did."""
    return lambda _liar, _axpy, _gemv: {"axpy": _gemv, "gemv": _axpy}.get(_liar, pick(_axpy, _gemv))


def _by_flops(t_axpy: float, t_gemv: float) -> str:
    """Compare FLOP/s in place of byte/s: GEMV's are three times as high on any machine."""
    return _suspect(1 / t_axpy, 1 / t_gemv)  # both do as many FLOPs


WITNESSES = table(
    "01-witnesses", "Three witnesses", 4,
    "Three timings of an unknown machine: its peak, its memory's bandwidth, and who timed a cache?",
    "witnesses(n, itemsize, t_axpy, t_gemv, t_gemm)", cases=_reports,
    fixed=cases_of(  # honest rates apart by 1.94, 1.96 and 1, those of a cache by 2.13, 2.16 and 40
        "n itemsize t_axpy t_gemv t_gemm",
        (2111, 1, 4.45632e-05, 2.87777e-05, 0.00209051), (30011, 8, 2.16158, 0.367641, 180.198),
        (9001, 2, 4.85574e-05, 3.44834e-05, 0.00182311),
        (5003, 4, 0.00136527, 0.000210775, 2.27682),
        (4099, 8, 0.00672072, 0.00224133, 0.0688706), (2203, 2, 8.08868e-05, 0.00107947, 0.712775),
    ),
    domain={"itemsize": ITEMSIZES}, example=(1000, 4, 1.2e-4, 5.01e-5, 2e-3),
    lines=8, tolerance=0.001,
    insight="Put your own three timings of this lesson to the same test: is one byte/s more than "
            "twice the other?",
    answer={
        "_axpy": lambda n, itemsize, t_axpy: 3 * n * n * itemsize / t_axpy,  # byte/s of both
        "_gemv": lambda n, itemsize, t_gemv: (n * n + 2 * n) * itemsize / t_gemv,
        "_liar": _suspect,
        "peak": lambda n, t_gemm: 2 * n**3 / t_gemm,
        "bandwidth": _memory(max),
        "liar": lambda _liar: _liar,
    },
    slips=(
        slip("everybody believed",
             "two mixes differ by less than a factor of 2; a rate above that is a cache's.",
             _liar="nobody", liar="nobody",
             ways=[{"_liar": "nobody", "bandwidth": lambda _axpy, _gemv: min(_axpy, _gemv)},
                   {"_liar": "nobody", "bandwidth": lambda _axpy: _axpy},
                   {"_liar": "nobody", "bandwidth": lambda _gemv: _gemv}]),
        slip("FLOP/s compared",
             "GEMV does three times AXPY's FLOPs per byte; compare byte/s, not FLOP/s.",
             _liar=_by_flops,
             ways=[{"_liar": _by_flops, "bandwidth": bandwidth} for bandwidth in (
                 _memory(lambda axpy, gemv: gemv), _memory(lambda axpy, gemv: axpy), _memory(min),
                 lambda _axpy, _gemv: min(_axpy, _gemv))]),
        slip("y not read", "AXPY reads x and y and writes y: three trips.",
             _axpy=lambda n, itemsize, t_axpy: 2 * n * n * itemsize / t_axpy),
        slip("multiply-adds", peak=lambda n, t_gemm: n**3 / t_gemm),
        slip("elements for bytes", itemsize=1),
        slip("4 bytes always", itemsize=4),
        slip("the slower one always",
             "where nobody timed a cache both rates are the memory's, and it can do the higher "
             "one.", bandwidth=_memory(min)),
        slip("the right liar, its own byte/s",
             "you found who timed a cache, and took the bandwidth from that one; take the other's.",
             bandwidth=lambda _liar, _axpy, _gemv:
                 _gemv if _liar == "gemv" else _axpy if _liar == "axpy" else max(_axpy, _gemv)),
        slip("the wrong name for the liar",
             "the bandwidth is the honest one's, and the third value is the name of the other, who "
             "timed a cache.",
             liar=lambda _liar: {"axpy": "gemv", "gemv": "axpy"}.get(_liar, _liar)),
        slip("times for rates",
             "AXPY carries three times GEMV's bytes, so its seconds are longer on an honest clock "
             "too; compare byte/s.",
             _liar=lambda t_axpy, t_gemv: "axpy" if t_axpy < t_gemv else "gemv"),
        slip("the faster one always lies",
             "two honest witnesses need not agree: how far apart may their rates be?",
             _liar=lambda _axpy, _gemv: "axpy" if _axpy > _gemv else "gemv"),
    ),
)  # fmt: skip

# The page's sentences as the lesson prints them, A to F; B and C hold for some shapes only.
CLAIMS = table(
    "01-claims", "Six sentences of one page", 3,
    "A to F: right, wrong, or sometimes (right for some shapes only)?",
    '("…", "…", "…", "…", "…", "…")', kind="value", derives=("axpy", "gemm"),
    insight="Five of six sentences did not survive a count. It is the same count on every machine, "
            "and takes a minute.",
    answer={
        "A": lambda: "wrong", "B": lambda: "sometimes", "C": lambda: "sometimes",
        "D": lambda: "wrong", "E": lambda: "right", "F": lambda: "wrong",
    },
    slips=(
        slip("the page believed", "only one of the six holds for every shape.",
             whole=lambda: ("right",) * 6),
        slip("nothing believed", "one of the six holds for every shape, and others hold for some.",
             whole=lambda: ("wrong",) * 6),
        slip("D depends on the shape",
             "AXPY has as many FLOPs for each byte at every n: right or wrong for all.",
             D="sometimes"),
        slip("A @ x adds to y", "does A @ x look at what y was before?", A="right"),
        slip("attention is always GEMM",
             "count the rows of Q when a model writes one token after another.", B="right"),
        slip("attention is never GEMM", "count the rows of Q when a whole text is read at once.",
             B="wrong"),
        slip("one K for all",
             "an element of A is used once for each column of B; how many are there?", C="right"),
        slip("no K at all", "with square matrices the three counts are the same number.",
             C="wrong"),
        slip("vector add for AXPY",
             "0.083 is 1 FLOP for 12 bytes; how many FLOPs has AXPY on each element?", D="right"),
        slip("N³ over N² is N",
             "FLOPs grow with N³ and bytes with N²; divide them, and compare two sizes.",
             E="wrong"),
        slip("two types on one page",
             "look which type NumPy's random numbers have, and how many bytes that is.", F="right"),
    ),
)  # fmt: skip


# How a GPU timing goes wrong, and how the log shows it.


QUEUE = 10  # launches between two events
TENS = (*range(-15, 0), *range(1, 16))  # powers of ten that turn a unit into another
SOME = 0.10  # a share large enough to move the result beyond the tolerance

Shows = Callable[[Case, Observation], bool]


def not_synchronised(case: Case, seen: Observation) -> bool:
    """An elapsed time was asked for before the device had reached the event."""
    return happened(seen, "not ready")


def host_timer(case: Case, seen: Observation) -> bool:
    """A number came out although no elapsed time was ever read from events."""
    return "value" in seen and not happened(seen, "elapsed")


def milliseconds(case: Case, seen: Observation) -> bool:
    """The number is a thousand times what the learner's own events say."""
    own, mine = per_launch(seen), seconds_of(seen)
    return own is not None and mine is not None and close(own * 1e3, mine, SOME)


def not_divided(case: Case, seen: Observation) -> bool:
    """The number is that of a whole queue of the operation."""
    mine, op = seconds_of(seen), operation(case)
    return mine is not None and any(
        len(region.of(op)) > 1 and close(region.seconds, mine, SOME) for region in regions(seen)
    )


def divided_again(case: Case, seen: Observation) -> bool:
    """The number is that of a launch, divided by ten, by the length of the queue, or a queue or a
    sum of samples divided by one more than it has."""
    own, mine = per_launch(seen), seconds_of(seen)
    if own is None or mine is None:
        return False
    queues = [len(region.kernels) for region in regions(seen)]
    lengths = {QUEUE, *queues} - {0, 1}
    return any(close(own / length, mine, SOME) for length in lengths) or any(
        close(own * length / (length + 1), mine, ARITHMETIC) for length in {len(queues), *queues}
    )


def added_up(case: Case, seen: Observation) -> bool:
    """The number is the sum of several samples."""
    mine, found = seconds_of(seen), [region for region in regions(seen) if region.kernels]
    total = sum(region.seconds / len(region.kernels) for region in found)
    return mine is not None and len(found) > 1 and close(total, mine, SOME)


def beside_the_work(case: Case, seen: Observation) -> bool:
    """Between the events whose time was read nothing was launched."""
    found = regions(seen)
    return bool(found) and not any(region.kernels for region in found)


def exchanged_events(case: Case, seen: Observation) -> bool:
    """A time was read from the later event to the earlier one."""
    return any(region.seconds < 0 for region in regions(seen))


def power_of_ten(case: Case, seen: Observation) -> bool:
    """The seconds, or what follows from them, are off by a power of ten."""
    own, mine, value = per_launch(seen), seconds_of(seen), seen.get("value")
    if own is None or not mine:
        return False
    pairs = zip([own, *derived(case, mine)], value if isinstance(value, list) else [value])
    return any(
        same(right * 10.0**power, given, ARITHMETIC) for right, given in pairs for power in TENS
    )


def new_array(case: Case, seen: Observation) -> bool:
    """A launch between the events put its result into an array that was made there."""
    return any(region.made and region.of(operation(case)) for region in regions(seen))


def other_work(case: Case, seen: Observation) -> bool:
    """Something else ran between the events: a flush, a second kernel."""
    op = operation(case)
    return any(
        len(region.of(op)) < sum(kernel["apart"] for kernel in region.kernels)
        for region in regions(seen)
    )


def no_warm_up(case: Case, seen: Observation) -> bool:
    """The first use of a kernel, with its compilation or library handle, is in the number.

    A minimum or a median over samples of which only the first was cold is not moved by it.
    """
    mine, found = seconds_of(seen), [region for region in regions(seen) if region.kernels]
    cold = [region for region in found if any(kernel["setup"] for kernel in region.kernels)]
    others = [region.seconds / len(region.kernels) for region in found if region not in cold]
    return bool(cold) and mine is not None and mine > (1 + SOME) * max(others, default=0.0)


def warm_cache(case: Case, seen: Observation) -> bool:
    """The operands were still in L2."""
    op = operation(case)
    read = [k["l2_bytes"] / k["bytes"] for region in regions(seen) for k in region.of(op)]
    return bool(read) and sum(read) / len(read) > SOME


def written_flush(case: Case, seen: Observation) -> bool:
    """The operation had to write back what a flush had left dirty in L2."""
    op = operation(case)
    back = [k["written_back"] / k["bytes"] for region in regions(seen) for k in region.of(op)]
    return bool(back) and sum(back) / len(back) > SOME


def idle_gpu(case: Case, seen: Observation) -> bool:
    """The device waited for Python between the events."""
    return any(
        region.kernels
        and region.seconds > (1 + SOME) * sum(k["end"] - k["begin"] for k in region.kernels)
        for region in regions(seen)
    )


def few_launches(case: Case, seen: Observation) -> bool:
    """No ten launches were ever queued between two events."""
    return max((len(region.of(operation(case))) for region in regions(seen)), default=0) < QUEUE


def waited_inside(case: Case, seen: Observation) -> bool:
    """Python waited for the device between two events, and then queued more."""
    return any(region.waits > 1 and len(region.kernels) > 1 for region in regions(seen))


def small_flush(case: Case, seen: Observation) -> bool:
    """What ran before most starts carried far less than four times L2."""
    carried = [region.before for region in regions(seen)]
    return bool(carried) and statistics.median(carried) < 3.5 * case["device"]["l2_bytes"]


def part(number: int, wrong: Callable[[Case, float], float]) -> Shows:
    """The learner's value ``number`` is what ``wrong`` makes of the learner's own seconds."""

    def shows(case: Case, seen: Observation) -> bool:
        value, seconds = seen.get("value"), seconds_of(seen)
        if not isinstance(value, list) or len(value) <= number or not seconds:
            return False
        mine = value[number]
        return isinstance(mine, (int, float)) and close(wrong(case, seconds), mine, 0.01)

    return shows


# Exercises of lesson 01 that time AXPY, GEMV and GEMM with CUDA events.
#
# Each mistake is a whole timing function, so that the tests can prove that it gives a wrong number
# and is recognised from the log; all of them are variations of :func:`timing_with`.


GPUS = ("h200-sxm", "a100-sxm-80", "h100-pcie")  # those whose L2 bandwidth somebody measured

Launch = Callable[[], object]
Clock = Callable[..., float]  # clock(cp, launch) → seconds
Answer = Callable[..., object]  # what a learner writes
Shares = tuple[float, float, float]
Share = Callable[[float, float], float]  # of a rate and its roof


def timing_with(
    cp: Any,
    launch: Launch,
    *,
    warm_up: bool = True,
    flush: str = "",
    queue: int = 1,
    synchronise: bool = True,
    unit: float = 1e-3,
    divide: bool = True,
    samples: int = 7,
    backwards: bool = False,
) -> float:
    """Median seconds of ``launch`` by CUDA events; every argument's default is the right way.

    ``flush``, which reads a buffer of 4 × L2: "before" each start, "inside" the timed region,
    "waiting" for it before the start; "written": it overwrites the buffer instead.
    """
    size = cp.cuda.Device().attributes["L2CacheSize"] if flush else 1
    big, total = cp.ones(size, dtype=cp.float32), cp.zeros((), dtype=cp.float32)
    if warm_up:
        launch()
    times = []
    for _ in range(samples):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        if flush in ("before", "waiting"):
            big.sum(out=total)
        elif flush == "written":
            big.fill(0)
        if flush == "waiting":
            cp.cuda.Device().synchronize()
        start.record()
        if flush == "inside":
            big.sum(out=total)
        for _ in range(queue):
            launch()
        stop.record()
        if synchronise:
            stop.synchronize()
        marks = (stop, start) if backwards else (start, stop)
        times.append(cp.cuda.get_elapsed_time(*marks) * unit / (queue if divide else 1))
    return statistics.median(times)


def _host_timed(cp: Any, launch: Launch, *, synchronise: bool) -> float:
    launch()
    began = time.perf_counter()
    for _ in range(20):
        launch()
    if synchronise:
        cp.cuda.runtime.deviceSynchronize()
    return (time.perf_counter() - began) / 20


def _axpy(clock: Clock) -> Answer:
    return lambda cp, x, y, a: clock(cp, lambda: cp.cublas.axpy(a, x, y))


def _share(rate: float, roof: float) -> float:
    return rate / roof


def _gemv(
    clock: Clock, nbytes: Callable[..., float] | None = None, share: Share = _share
) -> Answer:
    def answer(cp: Any, matrix: Any, x: Any, y: Any, bandwidth: float) -> Shares:
        seconds = clock(cp, lambda: cp.matmul(matrix, x, out=y))
        size = nbytes(matrix, x, y) if nbytes else matrix.nbytes + x.nbytes + y.nbytes
        rate = size / seconds
        return seconds, rate, share(rate, bandwidth)

    return answer


def _gemm(
    clock: Clock, flops: Callable[[int], float] | None = None, share: Share = _share
) -> Answer:
    def answer(cp: Any, a: Any, b: Any, c: Any, peak: float) -> Shares:
        seconds = clock(cp, lambda: cp.matmul(a, b, out=c))
        rate = (flops(a.shape[0]) if flops else 2 * a.shape[0] ** 3) / seconds
        return seconds, rate, share(rate, peak)

    return answer


CLOCK = 0.1  # relative: tolerance of seconds that were timed on a GPU
_QUEUED = partial(timing_with, queue=10)
_COLD = partial(timing_with, flush="before")
_LONG = partial(timing_with, queue=2)


def _procedural(time_of: Callable[[Clock], Answer], right: Clock) -> tuple[Misconception, ...]:
    """The mistakes that all three exercises share, all but one: see :func:`_cold_start`."""
    return (
        Misconception(
            "no synchronise", time_of(partial(right, synchronise=False)),
            "the launches were only queued; wait for the stop event before you read the time.",
            not_synchronised),
        Misconception(
            "host timer", time_of(partial(_host_timed, synchronise=True)),
            "no time was read from two cp.cuda.Event; the host's clock also counts Python and the "
            "wait.",
            host_timer),
        Misconception(
            "events exchanged", time_of(partial(right, backwards=True)),
            "a time that runs backwards is negative: the earlier event comes first in "
            "get_elapsed_time.", exchanged_events),
        Misconception(
            "events beside the work", time_of(partial(right, queue=0, divide=False)),
            "nothing was launched between your two events: record one before the launches and one "
            "after them.", beside_the_work),
        Misconception(
            "samples added up", time_of(partial(right, unit=7e-3)),
            "you added up several samples; take their median.", added_up),
        Misconception(
            "milliseconds", time_of(partial(right, unit=1.0)),
            "get_elapsed_time gives milliseconds; seconds are wanted.", milliseconds),
        Misconception(
            "divided too often", time_of(partial(right, unit=1e-4)),
            "you divided by more launches than you timed between your events.",
            divided_again),
    )  # fmt: skip


def _power_of_ten(time_of: Callable[[Clock], Answer], right: Clock, units: str) -> Misconception:
    """Named after the units that have a name of their own."""
    return Misconception(
        "a power of ten", time_of(partial(right, unit=1e-6)),
        f"is there a milli, kilo, giga or tera in it, or a zero too many? {units} are wanted.",
        power_of_ten,
    )  # fmt: skip


def _another_order(answer: Answer, returns: Sequence[str]) -> Misconception:
    return Misconception(
        "another order", lambda *given: answer(*given)[::-1],
        f"these are the right values in another order: {', '.join(returns)}.",
        partial(reordered, tolerance=CLOCK),
    )  # fmt: skip


def _cold_start(time_of: Callable[[Clock], Answer], right: Clock) -> Misconception:
    """Named after other work in the timed region, which would be in its first use too."""
    return Misconception(
        "no warm-up", time_of(partial(right, warm_up=False, samples=1)),
        "the first launch also compiles and sets up the library; run it once before you time.",
        no_warm_up,
    )  # fmt: skip


BYTES, FLOPS = (("seconds", rate, "share of the roof") for rate in ("byte/s", "FLOP/s"))
_NEW_ARRAY = (
    "but your product made a new array between the two events: with out={} it writes into one "
    "that is there, and a real GPU need not wait until memory is found"
)
_TOTAL = "your number is for the whole queue; divide by the number of launches."
_INSIDE = "something else ran between your two events; only the operation may be there."


def _one_of(device: Device, rng: random.Random) -> Device:
    """A device slower than published, by shares that can be timed and not looked up."""
    carrying, computing = rng.uniform(0.5, 0.9), rng.uniform(0.5, 0.9)
    return replace(
        device, bandwidth=carrying * device.bandwidth,
        l2_bandwidth=carrying * device.l2_bandwidth,
        peak={kind: computing * peak for kind, peak in device.peak.items()},
    )  # fmt: skip


def _cases(op: str, roof: Callable[[Machine], float] | None, rng: random.Random) -> list[Case]:
    drawn = []
    for name in rng.sample(GPUS, 2):
        hidden = machine(name)
        device = _one_of(Device.from_machine(hidden), rng)
        case = {"op": op, "device": device.to_dict(), **sizes(op, device.l2_bytes)}
        drawn.append(case if roof is None else {**case, "roof": float(roof(hidden))})
    return drawn


_IMAGINED = Device("imagined GPU", 3e11, 1.2e12, 4 << 20, {"float32": 8e12, "float64": 2.5e11})


def _imagined(op: str, **more: float) -> tuple[Case, ...]:
    """A GPU that nobody sells, with a small L2, and sizes that 8 does not divide."""
    return ({"op": op, "device": _IMAGINED.to_dict(), **more},)


CUDA_AXPY = Exercise(
    "01-cuda-axpy", "Time AXPY on a GPU", 2,
    "Return the seconds of one cp.cublas.axpy(a, x, y), by CUDA events; x and y are far beyond L2.",
    "time_axpy(cp, x, y, a)", _axpy(_QUEUED), kind="timing", timed="axpy", lines=8,
    returns=("seconds",), cases=partial(_cases, "axpy", None), tolerance=CLOCK,
    fixed=_imagined("axpy", n=8_400_003),
    remarks=(
        ("but you were asked to queue ten launches between the two events: on a real GPU the start "
         "of a single one counts", few_launches),
        ("but Python waited inside the queue: wait once, after the stop event, or the GPU idles "
         "between two launches", waited_inside),
    ),
    misconceptions=(
        *_procedural(_axpy, _QUEUED),
        Misconception("whole queue", _axpy(partial(_QUEUED, divide=False)), _TOTAL,
                      not_divided),
        Misconception(
            "two kernels",
            lambda cp, x, y, a: _QUEUED(cp, lambda: cp.add(cp.multiply(a, x), y, out=y)),
            "a*x + y is two kernels with a stored temporary: five trips, not three. "
            "Use cp.cublas.axpy.", other_work),
        _cold_start(_axpy, _QUEUED),
        _power_of_ten(_axpy, _QUEUED, "Seconds"),
    ),
)  # fmt: skip


def _rate(scale: float = 1.0, elements: bool = False) -> Shows:
    """Wrong byte rates of a GEMV, from the learner's own seconds."""

    def wrong(case: Case, seconds: float) -> float:
        op = operation(case)
        return op.bytes / (4 if elements else 1) * scale / seconds

    return part(1, wrong)


CUDA_GEMV = Exercise(
    "01-cuda-gemv", "Time GEMV on a GPU, cold", 3,
    "Return seconds, byte/s and the share of the bandwidth roof of one cp.matmul(A, x, out=y) that "
    "finds nothing in L2, although A would fit.",
    "gemv_share(cp, A, x, y, bandwidth)", _gemv(_COLD), kind="timing", timed="gemv", lines=11,
    returns=BYTES, tolerance=CLOCK, cases=partial(_cases, "gemv", lambda gpu: gpu.bandwidth()),
    fixed=_imagined("gemv", m=201, n=3001, roof=3.4e11),
    remarks=(
        (_NEW_ARRAY.format("y"), new_array),
        ("but your flush carries less than 4 × L2: this cache forgets the oldest first, and a real "
         "one need not", small_flush),
    ),
    misconceptions=(
        _another_order(_gemv(_COLD), BYTES),
        *_procedural(_gemv, _COLD),
        Misconception("flush inside", _gemv(partial(timing_with, flush="inside")), _INSIDE,
                      other_work),
        _cold_start(_gemv, _COLD),
        Misconception(
            "warm L2", _gemv(partial(timing_with, queue=10)),
            "the matrix was still in L2 from the launch before; read a buffer of 4 × L2 before "
            "each start.", warm_cache),
        Misconception(
            "written flush", _gemv(partial(timing_with, flush="written")),
            "your flush wrote its buffer, and L2 kept what was written; your launch then paid for "
            "carrying it to memory. Read the buffer instead.", written_flush),
        Misconception(
            "idle GPU", _gemv(partial(timing_with, flush="waiting")),
            "the GPU waited for Python between your events; queue the launch while it is still "
            "busy with the flush.", idle_gpu),
        Misconception("elements for bytes", _gemv(_COLD, lambda a, x, y: a.size + x.size + y.size),
                      "you counted elements; each has itemsize bytes.", _rate(elements=True)),
        Misconception("vectors like a matrix", _gemv(_COLD, lambda a, x, y: 3 * a.nbytes),
                      "x and y are vectors, with far fewer numbers than the matrix.",
                      part(1, lambda c, s: 12 * c["m"] * c["n"] / s)),
        Misconception("2-byte elements",
                      _gemv(_COLD, lambda a, x, y: 2 * (a.size + x.size + y.size)),
                      "that is 2-byte elements; yours have 4.", _rate(scale=0.5)),
        Misconception("GB/s",
                      _gemv(_COLD, lambda a, x, y: (a.nbytes + x.nbytes + y.nbytes) / 1e9),
                      "that is in GB/s; byte/s are wanted, no prefix.", _rate(scale=1e-9)),
        Misconception("share in per cent", _gemv(_COLD, share=lambda rate, roof: 100 * rate / roof),
                      "a share is between 0 and 1; that is in per cent.",
                      part(2, lambda c, s: 100 * operation(c).bytes / s / c["roof"])),
        Misconception("share upside down", _gemv(_COLD, share=lambda rate, roof: roof / rate),
                      "the share is your rate divided by the roof.",
                      part(2, lambda c, s: c["roof"] / (operation(c).bytes / s))),
        _power_of_ten(_gemv, _COLD, "Seconds and byte/s"),
    ),
)  # fmt: skip

CUDA_GEMM = Exercise(
    "01-cuda-gemm", "Time GEMM on a GPU", 3,
    "Return seconds, FLOP/s and the share of the compute roof of one cp.matmul(A, B, out=C).",
    "gemm_share(cp, A, B, C, peak)", _gemm(_LONG), kind="timing", timed="gemm", lines=9,
    returns=FLOPS, tolerance=CLOCK,
    cases=partial(_cases, "gemm", lambda gpu: gpu.peak("fp32", "vector")),
    fixed=_imagined("gemm", n=1501, roof=9e12),
    remarks=((_NEW_ARRAY.format("C"), new_array),),
    misconceptions=(
        _another_order(_gemm(_LONG), FLOPS),
        *_procedural(_gemm, _LONG),
        Misconception("whole queue", _gemm(partial(_LONG, divide=False)), _TOTAL,
                      not_divided),
        _cold_start(_gemm, _LONG),
        Misconception("multiply-adds", _gemm(_LONG, lambda n: n**3),
                      "you counted multiply-adds; each is 2 FLOPs.",
                      part(1, lambda c, s: operation(c).flops / 2 / s)),
        Misconception("n² for n³", _gemm(_LONG, lambda n: 2 * n**2),
                      "GEMM has n × n results, and each is a sum over n products.",
                      part(1, lambda c, s: 2 * c["n"] ** 2 / s)),
        Misconception("bytes for FLOPs", _gemm(_LONG, lambda n: 12 * n**2),
                      "that is byte/s; the compute roof counts FLOP/s.",
                      part(1, lambda c, s: operation(c).bytes / s)),
        Misconception("GFLOP/s", _gemm(_LONG, lambda n: 2 * n**3 / 1e9),
                      "that is in GFLOP/s; FLOP/s are wanted, no prefix.",
                      part(1, lambda c, s: operation(c).flops / 1e9 / s)),
        Misconception("share in per cent", _gemm(_LONG, share=lambda rate, roof: 100 * rate / roof),
                      "a share is between 0 and 1; that is in per cent.",
                      part(2, lambda c, s: 100 * operation(c).flops / s / c["roof"])),
        Misconception("share upside down", _gemm(_LONG, share=lambda rate, roof: roof / rate),
                      "the share is your rate divided by the roof.",
                      part(2, lambda c, s: c["roof"] / (operation(c).flops / s))),
        _power_of_ten(_gemm, _LONG, "Seconds and FLOP/s"),
    ),
)  # fmt: skip


EXERCISES = (
    PRODUCT, THREE, LIMIT, CLAIM_1365, WITNESSES, NAME, CLAIMS, CUDA_AXPY, CUDA_GEMV, CUDA_GEMM,
)  # fmt: skip
