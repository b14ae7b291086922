"""Exercises of lesson 01, three operations: FLOPs and bytes, claims on trial, CUDA events.

The wrong answers are slips seen in print: β forgotten, elements for bytes, M·K counted twice. The
claims are of one public web lesson on AXPY, GEMV and GEMM; none of the wrong ones is made up.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, nan
from typing import Any

from rooflab.count import axpy, dot, gemm, gemv, ger
from rooflab.course.drawing import DTYPES, peak_and_bandwidth
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
    Region,
    derived,
    happened,
    operation,
    per_launch,
    regions,
    reordered,
    seconds_of,
    sizes,
)
from rooflab.exercises.table import COMMON, drawn, slip, table
from rooflab.labs.cuda import Device
from rooflab.predict.catalogue import machine
from rooflab.predict.machine import Machine

# ---- 01-product ----------------------------------------------------------------------------------
PRODUCT = table(
    "01-product", "A product, counted", 4,
    "C = A·B with A m×k and B k×n; with accumulate=True C += A·B (β ≠ 0). How many FLOPs, how "
    "many bytes at least, how many FLOPs per byte?",
    "product(m, n, k, itemsize, accumulate=False)",
    # sizes that are never alike, and small enough for three nested loops, which are right too
    cases=drawn(5, m=range(3, 60, 3), n=range(4, 60, 3), k=range(5, 60, 3),
                itemsize=[4, 8, 2, 1, 4], accumulate=[False, True, False, True, True]),
    fixed=(  # one of everything, one token, one number, the last argument left out
        *cases_of("m n k itemsize", (7, 5, 3, 2)),
        *cases_of("m n k itemsize accumulate",
                  (1, 1, 1, 1, False), (1, 40_961, 3, 8, True), (3, 1, 4_099, 4, True),
                  (4_097, 2, 1, 1, True), (12, 12, 12, 2, True), (100, 6, 100, 8, False)),
    ),
    domain={"m": at_least(1), "n": at_least(1), "k": at_least(1), "itemsize": ITEMSIZES},
    example=(2, 3, 6, 4),
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
)


# ---- 01-name -------------------------------------------------------------------------------------
def _numbers(flops: float, **instead: float) -> dict[str, float]:
    """How many numbers each operation moves for ``flops``: n vectors, square matrices."""
    adds, edge = flops / 2, (flops / 2) ** 0.5
    return {
        "axpy": 3 * adds, "dot": 2 * adds + 1, "gemv": adds + 2 * edge,
        "outer": 2 * adds + 2 * edge, "gemm": 3 * adds ** (2 / 3), **instead,
    }


def _by_intensity(*borders: tuple[float, str]) -> Callable[[int, int], str]:
    """FLOP/byte and nothing else: the first border that is not reached."""
    return lambda flops, nbytes: next(
        (name for border, name in borders if flops / nbytes < border), "gemm"
    )


NAME = table(
    "01-name", "Which operation was that?", 3,
    "A profiler counted FLOPs and bytes, and lost the name. Was it axpy, dot, gemv, outer or gemm?",
    "name(flops, nbytes, itemsize)", lines=5, derives=("axpy", "dot", "gemv", "ger", "gemm"),
    cases=drawn(5, flops=lambda _op: _op.flops, nbytes=lambda _op: _op.bytes,
                itemsize=[8, 4, 2, 1, 4], _kind=lambda itemsize: DTYPES[itemsize],
                _n=range(60, 900), _op=lambda rng, _n, _kind: rng.choice([
                    axpy(_n * _n, _kind), dot(_n * _n, _kind), gemv(_n, _n, _kind),
                    ger(_n, _n, _kind), gemm(_n, _n, _n, _kind)])),
    fixed=cases_of(  # edges of 2, 3 and 10,007, lengths that are no square, several types each
        "flops nbytes itemsize",
        (2 * 1009, 3 * 1009, 1), (2 * 10**8 + 14, 8 * (3 * 10**8 + 21), 8),  # axpy
        (2 * 60, 2 * 121, 2), (2 * 10**8 + 6, 2 * 10**8 + 7, 1),  # dot
        (2 * 4, 2 * (4 + 4), 2), (2 * 10_007**2, 4 * (10_007**2 + 20_014), 4),  # gemv
        (2 * 9, 8 * (18 + 6), 8), (2 * 10_007**2, 2 * 10_007**2 + 20_014, 1),  # outer
        (2 * 8, 3 * 4, 1), (2 * 10_007**3, 6 * 10_007**2, 2), (2 * 61**3, 24 * 61**2, 8),  # gemm
    ),
    domain={"itemsize": ITEMSIZES}, example=(100, 600, 4),
    insight="The counters of your own machine give the same two numbers. They tell the operation, "
            "and the operation tells what would make it faster.",
    answer={
        "_moved": lambda nbytes, itemsize: nbytes / itemsize,
        "_counts": _numbers,
        "answer": lambda _counts, _moved: min(
            _counts, key=lambda name: abs(_counts[name] - _moved)),
    },
    slips=(
        slip("multiply-adds",
             "flops counts 2 for each multiply-add; halve it before you take an edge.",
             flops=lambda flops: 2 * flops),
        slip("y not read",
             "AXPY reads x and y and writes y: three numbers for each multiply-add.",
             _counts=lambda flops: _numbers(flops, axpy=flops + 0.5)),
        slip("dot and outer share an intensity",
             "both move about two numbers for each multiply-add, if A is read before it is "
             "written. Count to the last number what either of them moves.",
             _counts=[lambda flops: _numbers(flops, outer=inf),
                      lambda flops: _numbers(flops, dot=inf)]),
        slip("a border for FLOP/byte",
             "FLOP/byte changes with itemsize, and the operations with it: count numbers, bytes ÷ "
             "itemsize, beside multiply-adds, flops ÷ 2.",
             answer=[_by_intensity((0.3, "axpy"), (1, "gemv")),
                     _by_intensity((0.2, "axpy"), (0.26, "dot"), (0.3, "outer"), (1, "gemv")),
                     _by_intensity((1, "axpy"))]),
        slip("the result of dot forgotten", "dot writes one number too, its result.",
             answer=lambda flops, _moved: next(  # exactly as many; GEMM if none has
                 (name for name, n in _numbers(flops, dot=flops).items() if n == _moved), "gemm")),
        slip("elements for bytes", "bytes are not numbers; each has itemsize of them.", itemsize=1),
        slip("4 bytes always", itemsize=4),
        slip("one name for all",
             "every case is another operation: the name follows from the counters.",
             answer=["axpy", "dot", "gemv", "outer", "gemm"]),
    ),
)


# ---- 01-three-intensities ------------------------------------------------------------------------

THREE = table(
    "01-three-intensities", "Three intensities", 2,
    "Large N, 2-byte numbers: the intensity of AXPY on N² numbers, of GEMV and of GEMM on N×N "
    "matrices?",
    "intensities(n)", lines=3, example=(30_000,), derives=("axpy", "gemv", "gemm"),
    form="(AXPY intensity, GEMV intensity, GEMM intensity)",
    cases=drawn(4, n=range(1025, 9000)),
    fixed=cases_of("n", (1025,), (4096,), (12_289,), (81_920,)),
    tolerance=0.0016,  # GEMV's value at n and its limit are right, and n // 3 for 1025 is not
    also=(("0.33 stands for 1/3", lambda n: (0.33, (n + 1) / (n + 2), n / 3)),),
    insight="The first two are the same for every N. Of the three, only GEMM walks towards the "
            "ridge of your machine as N grows.",
    answer={
        "AXPY intensity": 1 / 3,
        "GEMV intensity": lambda n: (n + 1) / (n + 2),  # halfway between n / (n + 2) and 1
        "GEMM intensity": lambda n: n / 3,
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
)


# ---- 01-speed-limit ------------------------------------------------------------------------------
LIMIT = table(
    "01-speed-limit", "The ratio at the roofs", 2,
    "GEMM on the flat roof, AXPY on the slope: how many times as fast is GEMM, in FLOP/s, on "
    "machines you have not seen?",
    "speed_limit(peak, bandwidth, itemsize)",
    cases=drawn(4, peak=lambda _roofs: _roofs[0], bandwidth=lambda _roofs: _roofs[1],
                itemsize=[4, 2],
                _roofs=lambda rng, _either, itemsize:
                    peak_and_bandwidth(rng.choice(_either), DTYPES[itemsize]),
                _either=[("m3-pro", "a100-sxm-80"), ("h200-sxm", "mi300x"),
                         ("rtx-4090", "h200-sxm"), ("rtx-4090", "a100-sxm-80")]),
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
        slip("y not read", "AXPY reads x, reads y and writes y: three numbers travel, not two.",
             _axpy=lambda bandwidth, itemsize: bandwidth / itemsize),
        slip("upside down", "that is AXPY's speed over GEMM's.",
             answer=[lambda peak, _axpy: _axpy / peak, lambda peak, bandwidth: bandwidth / peak]),
    ),
)


# ---- 01-claim-1365 -------------------------------------------------------------------------------
CLAIM_1365 = table(
    "01-claim-1365", "“A 4096 fp32 GEMM has 1365 FLOP/byte”", 2,
    "Find the error: which intensity is right, and with how many bytes an element would 1365 be?",
    "(intensity, itemsize)", kind="value", tolerance=0.001, derives=("gemm",),
    insight="On your roofline too, the page's dot would stand at twice the intensity that the "
            "product has.",
    answer={"intensity": 4096 / 6, "element size": 2},
    slips=(
        slip("the claim", "that is what the page printed; run its formula with 4-byte elements.",
             intensity=4096 / 3),
        slip("fp64 for fp32", "that is 8-byte elements (or a multiply-add counted as 1 FLOP).",
             intensity=4096 / 12),
        slip("C read too", "that is C += A·B; the claim has three matrices, each moved once.",
             intensity=512),
        slip("FLOPs per number",
             "that is FLOPs for each number that travels; a number has 4 bytes.",
             intensity=4 * 4096 / 6),
        slip("C forgotten", "three matrices travel: A and B are read, C is written.",
             intensity=1024),
        slip("upside down", intensity=6 / 4096),
        slip("fp32 after all",
             "with 4 bytes the formula does not give 1365; try other element sizes.",
             element_size=4),
        slip("the wrong way", "larger elements mean more bytes and a lower intensity.",
             element_size=8),
    ),
)


# ---- 01-witnesses --------------------------------------------------------------------------------
WITNESSES = table(
    "01-witnesses", "Three witnesses", 4,
    "Three timings of an unknown machine: its peak, its memory's bandwidth, and who timed a cache?",
    "witnesses(n, itemsize, t_axpy, t_gemv, t_gemm)", lines=8, tolerance=0.001,
    cases=drawn(4, n=range(3000, 9000), itemsize=[4, 8, 2, 4],
                t_axpy=lambda n, itemsize, _memory, _times:
                    3 * n * n * itemsize / (_memory * _times),
                t_gemv=lambda n, itemsize, _memory: (n * n + 2 * n) * itemsize / _memory,
                t_gemm=lambda rng, n, _memory: 2 * n**3 / (_memory * rng.uniform(5, 40)),
                _memory=(1e10, 4e11), _times=lambda rng, _between: rng.uniform(*_between),
                # AXPY's byte/s over GEMV's: AXPY from a cache, GEMV from one, both from memory
                _between=[(2.3, 5), (0.2, 0.43), (0.58, 0.95), (1.05, 1.72)]),
    fixed=cases_of(  # honest rates apart by 1.94, 1.96 and 1, those of a cache by 2.03 and 40
        "n itemsize t_axpy t_gemv t_gemm",
        (31, 1, 9.61e-09, 6.6e-09, 6.62022e-09), (30011, 8, 2.16158, 0.367641, 180.198),
        (9001, 2, 5.09494e-05, 3.44834e-05, 0.00182311),
        (5003, 4, 0.00136527, 0.000224272, 2.27682),
        (4099, 8, 0.00672072, 0.00224133, 0.0688706), (211, 2, 7.42017e-7, 9.98733e-6, 6.26262e-4),
    ),
    domain={"itemsize": ITEMSIZES}, example=(1000, 4, 1.2e-4, 5.01e-5, 2e-3),
    insight="Put your own three timings of this lesson to the same test: is one byte/s more than "
            "twice the other?",
    answer={
        "_axpy": lambda n, itemsize, t_axpy: 3 * n * n * itemsize / t_axpy,  # byte/s of both
        "_gemv": lambda n, itemsize, t_gemv: (n * n + 2 * n) * itemsize / t_gemv,
        "_ratio": lambda _axpy, _gemv: _axpy / _gemv,  # two mixes: less than 2
        "_liar": lambda _ratio: "axpy" if _ratio > 2 else "gemv" if _ratio < 1 / 2 else "nobody",
        "_honest": lambda _liar: {"axpy": "gemv", "gemv": "axpy"}.get(_liar, _liar),
        "_both": lambda _axpy, _gemv: max(_axpy, _gemv),  # where nobody timed a cache
        "peak": lambda n, t_gemm: 2 * n**3 / t_gemm,
        "bandwidth": lambda _honest, _axpy, _gemv, _both:
            {"axpy": _axpy, "gemv": _gemv, "nobody": _both}[_honest],
        "liar": lambda _liar: _liar,
    },
    slips=(
        slip("everybody believed",
             "two mixes differ by less than a factor of 2; a rate above that is a cache's.",
             _liar="nobody", liar="nobody",
             ways=[{"_liar": "nobody", "_both": lambda _axpy, _gemv: min(_axpy, _gemv)},
                   {"_liar": "nobody", "_both": lambda _axpy: _axpy},
                   {"_liar": "nobody", "_both": lambda _gemv: _gemv}]),
        slip("FLOP/s compared",
             "GEMV does three times AXPY's FLOPs per byte; compare byte/s, not FLOP/s.",
             ways=[{"_ratio": lambda t_axpy, t_gemv: t_gemv / t_axpy, **more} for more in (
                 {}, {"_both": lambda _gemv: _gemv}, {"_both": lambda _axpy: _axpy},
                 {"_both": lambda _axpy, _gemv: min(_axpy, _gemv)},
                 {"bandwidth": lambda _axpy, _gemv: min(_axpy, _gemv)})]),
        slip("y not read", "AXPY reads x and y and writes y: three trips.",
             _axpy=lambda n, itemsize, t_axpy: 2 * n * n * itemsize / t_axpy),
        slip("multiply-adds", peak=lambda n, t_gemm: n**3 / t_gemm),
        slip("elements for bytes", itemsize=1),
        slip("4 bytes always", itemsize=4),
        slip("the slower one always",
             "where nobody timed a cache both rates are the memory's, and it can do the higher "
             "one.", _both=lambda _axpy, _gemv: min(_axpy, _gemv)),
        slip("the right liar, its own byte/s",
             "you found who timed a cache, and took the bandwidth from that one; take the other's.",
             _honest=lambda _liar: _liar),
        slip("the slower one accused",
             "a cache is faster than memory: it is too many byte/s that are suspicious.",
             ways=[{"liar": lambda _honest: _honest, "bandwidth": lambda _both: _both}]),
        slip("the wrong name for the liar",
             "the bandwidth is the honest one's, and the third value is the name of the other, who "
             "timed a cache.",
             liar=lambda _honest: _honest),
        slip("the faster one always lies",
             "two honest witnesses need not agree: how far apart may their rates be?",
             _liar=lambda _ratio: "axpy" if _ratio > 1 else "gemv"),
    ),
)


# ---- 01-claims -----------------------------------------------------------------------------------
# The page's sentences as the lesson prints them, A to F; B and C hold for some shapes only.
CLAIMS = table(
    "01-claims", "Six sentences of one page", 3,
    "A to F: right, wrong, or sometimes (right for some shapes only)?",
    '("…", "…", "…", "…", "…", "…")', kind="value", derives=("axpy", "gemm"),
    insight="Five of six sentences did not survive a count. It is the same count on every machine, "
            "and takes a minute.",
    answer={
        "A": "wrong", "B": "sometimes", "C": "sometimes",
        "D": "wrong", "E": "right", "F": "wrong",
    },
    slips=(
        slip("the page believed", "only one of the six holds for every shape.",
             whole=("right",) * 6),
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
)


# ---- 01-cuda-axpy, 01-cuda-gemv, 01-cuda-gemm ----------------------------------------------------
# Each mistake is a whole timing function, so that the tests can prove that it gives a wrong number
# and is recognised from the log. A row says what it changes: an argument of :func:`timing_with`,
# what is counted for the rate, or the share of the roof.

GPUS = ("h200-sxm", "a100-sxm-80", "h100-pcie")  # those whose L2 bandwidth somebody measured
QUEUE = 10  # launches between two events
TENS = (*range(-15, 0), *range(1, 16))  # powers of ten that turn a unit into another
SOME = 0.10  # a share large enough to move the result beyond the tolerance
CLOCK = 0.1  # relative: tolerance of seconds that were timed on a GPU


@dataclass(frozen=True)
class Trace:
    """What a timing returned and what the log shows of it; a number that is not there is NaN."""

    case: Any
    seen: Observation

    @property
    def mine(self) -> float:
        """The seconds that were returned."""
        return seconds_of(self.seen) or nan

    @property
    def own(self) -> float:
        """The seconds of a launch by the learner's own events."""
        return per_launch(self.seen) or nan

    @property
    def rate(self) -> float:
        """What follows from the seconds that were returned."""
        return derived(self.case, self.mine)[0]

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix."""
        return self.case.get("m", self.case["n"]), self.case["n"]

    @cached_property
    def regions(self) -> list[Region]:
        return regions(self.seen)

    @property
    def busy(self) -> list[tuple[Region, float]]:
        """Regions in which something was launched, and the seconds of a launch there."""
        return [(r, r.seconds / len(r.kernels)) for r in self.regions if r.kernels]

    def asked(self, region: Region) -> list[Any]:
        """The launches in a region that do what the exercise asks."""
        return region.of(operation(self.case))

    def share(self, what: str) -> float:
        """Mean share of the operation's bytes that were "l2_bytes" or "written_back"."""
        launches = [kernel for region in self.regions for kernel in self.asked(region)]
        return float(statistics.mean([k[what] / k["bytes"] for k in launches] or [0]))

    def returned(self, place: int, wrong: float) -> bool:
        """Whether the value at that place is ``wrong``."""
        value = self.seen.get("value")
        mine = value[place] if isinstance(value, list) and len(value) > place else None
        return isinstance(mine, (int, float)) and close(wrong, mine, ARITHMETIC)


Look = Callable[[Trace], object]  # true where a mistake shows


def _shows(look: Look) -> Callable[[Case, Observation], bool]:
    return lambda case, seen: bool(look(Trace(case, seen)))


def _divided_again(it: Trace) -> bool:
    """The number is that of a launch, divided by ten, by the length of the queue, or a queue or a
    sum of samples divided by one more than it has."""
    queues = [len(region.kernels) for region in it.regions]
    return any(close(it.own / n, it.mine, SOME) for n in {QUEUE, *queues} - {0, 1}) or any(
        close(it.own * n / (n + 1), it.mine, ARITHMETIC) for n in {len(queues), *queues}
    )


def _power_of_ten(it: Trace) -> bool:
    """The seconds, or what follows from them, are off by a power of ten."""
    value = it.seen.get("value")
    pairs = zip([it.own, *derived(it.case, it.mine)], value if isinstance(value, list) else [value])
    known = it.own == it.own and it.mine == it.mine  # neither is NaN
    return known and any(
        same(right * 10.0**power, given, ARITHMETIC) for right, given in pairs for power in TENS
    )


def _other_work(it: Trace) -> bool:
    """Something else ran between the events: a flush, a second kernel."""
    return any(len(it.asked(r)) < sum(bool(k["apart"]) for k in r.kernels) for r in it.regions)


def _computing(region: Any) -> float:
    """Seconds of the launches alone."""
    return float(sum(k["end"] - k["begin"] for k in region.kernels))


def _cold(it: Trace) -> bool:
    """The first use of a kernel, with its compilation or library handle, is in the number.

    A minimum or a median over samples of which only the first was cold is not moved by it.
    """
    cold = [any(kernel["setup"] for kernel in region.kernels) for region, _ in it.busy]
    others = [seconds for (_, seconds), first in zip(it.busy, cold, strict=True) if not first]
    return any(cold) and it.mine > (1 + SOME) * max(others, default=0.0)


Answer = Callable[..., object]  # what a learner writes
Row = Callable[[Callable[..., Answer]], Misconception]  # of what makes right and wrong answers
Work = Callable[[int, int], float]  # of an m×n matrix
Share = Callable[[float, float], float]  # of a rate and its roof


def timing_with(
    cp: Any, launch: Callable[[], object], *, warm_up: bool = True, flush: str = "", queue: int = 1,
    synchronise: bool = True, unit: float = 1e-3, divide: bool = True, samples: int = 7,
    backwards: bool = False, elsewhere: bool = False,
) -> float:
    """Median seconds of ``launch`` by CUDA events; every argument's default is the right way.

    ``elsewhere``: on a stream that does not wait for that of the events. ``flush``, which reads a
    buffer of 4 × L2: "before" each start, "inside" the timed region, "waiting" for it before the
    start; "written": it overwrites the buffer instead.
    """
    size = cp.cuda.Device().attributes["L2CacheSize"] if flush else 1
    big, total = cp.ones(size, dtype=cp.float32), cp.zeros((), dtype=cp.float32)
    if warm_up:
        launch()
    times, null = [], cp.cuda.Stream.null
    stream = cp.cuda.Stream(non_blocking=True) if elsewhere else null
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
        with stream:
            for _ in range(queue):
                launch()
        stop.record()
        if synchronise:
            stop.synchronize()
        marks = (stop, start) if backwards else (start, stop)
        times.append(cp.cuda.get_elapsed_time(*marks) * unit / (queue if divide else 1))
    return float(statistics.median(times))


def _host_timed(cp: Any, launch: Callable[[], object], **events: object) -> float:
    launch()
    began = time.perf_counter()
    for _ in range(20):
        launch()
    cp.cuda.runtime.deviceSynchronize()
    return (time.perf_counter() - began) / 20


def _axpy(
    clock: Callable[..., float] = timing_with,
    launch: Callable[..., object] = lambda cp, x, y, a: cp.cublas.axpy(a, x, y),
    **timing: Any,
) -> Answer:
    """An answer that times ``launch`` by ``timing_with(cp, launch, **timing)``."""
    return lambda cp, *arrays: clock(cp, lambda: launch(cp, *arrays), **timing)


def _product(
    work: Work, share: Share = lambda rate, roof: rate / roof,
    clock: Callable[..., float] = timing_with, **timing: Any,
) -> Answer:
    """An answer that times a product likewise, with its rate and share of the roof."""

    def answer(cp: Any, matrix: Any, other: Any, out: Any, roof: float) -> tuple[float, ...]:
        seconds = clock(cp, lambda: cp.matmul(matrix, other, out=out), **timing)
        rate = work(*matrix.shape) / seconds
        return seconds, rate, share(rate, roof)

    return answer


def _row(name: str, hint: str, look: Look, **changes: Any) -> Row:
    """A mistake: what it changes of the right answer, and where it shows."""
    return lambda answer: Misconception(name, answer(**changes), hint, _shows(look))


def _counted(name: str, hint: str, work: Work) -> Row:
    """A mistake in what is divided by the seconds."""
    return _row(name, hint, lambda it: it.returned(1, work(*it.shape) / it.mine), work=work)


def _shared(name: str, hint: str, share: Share) -> Row:
    """A mistake in the share of the roof."""
    return _row(name, hint, lambda it: it.returned(2, share(it.rate, it.case["roof"])), share=share)


PROCEDURE = (
    _row("no synchronise",
         "the launches were only queued; wait for the stop event before you read the time.",
         lambda it: happened(it.seen, "not ready"), synchronise=False),
    _row("host timer",
         "no time was read from two cp.cuda.Event; the host's clock also counts Python and the "
         "wait.", lambda it: "value" in it.seen and not happened(it.seen, "elapsed"),
         clock=_host_timed),
    _row("events exchanged",
         "a time that runs backwards is negative: the earlier event comes first in "
         "get_elapsed_time.",
         lambda it: any(region.seconds < 0 for region in it.regions), backwards=True),
    _row("events beside the work",
         "nothing was launched between your two events: record one before the launches and "
         "one after them.", lambda it: it.regions and not it.busy, queue=0, divide=False),
    _row("another stream",
         "your events are recorded on one stream and the work runs on another, so they do not wait "
         "for it: record them on the stream of the launches.",
         lambda it: any(kernel["stream"] != region.stream
                        for region in it.regions for kernel in region.kernels), elsewhere=True),
    _row("samples added up", "you added up several samples; take their median.",
         lambda it: len(it.busy) > 1 and close(sum(s for _, s in it.busy), it.mine, SOME),
         unit=7e-3),
    _row("milliseconds", "get_elapsed_time gives milliseconds; seconds are wanted.",
         lambda it: close(it.own * 1e3, it.mine, SOME), unit=1.0),
    _row("divided too often",
         "you divided by more launches than you timed between your events.",
         _divided_again, unit=1e-4),
)
WHOLE_QUEUE = _row(
    "whole queue", "your number is for the whole queue; divide by the number of launches.",
    lambda it: any(len(it.asked(r)) > 1 and close(r.seconds, it.mine, SOME) for r in it.regions),
    divide=False,
)
COLD_START = _row(  # after other work in the timed region, which would be in its first use too
    "no warm-up",
    "the first launch also compiles and sets up the library; run it once before you time.",
    _cold, warm_up=False, samples=1,
)
SHARES = (
    _shared("share in per cent", "a share is between 0 and 1; that is in per cent.",
            lambda rate, roof: 100 * rate / roof),
    _shared("share upside down", "the share is your rate divided by the roof.",
            lambda rate, roof: roof / rate),
)
NEW_ARRAY = (
    "but your product made a new array between the two events: with out={} it writes into one "
    "that is there, and a real GPU need not wait until memory is found"
)


def _one_of(device: Device, rng: random.Random) -> Device:
    """A device slower than published, by shares that can be timed and not looked up."""
    carrying, computing = rng.uniform(0.5, 0.9), rng.uniform(0.5, 0.9)
    return replace(
        device, bandwidth=carrying * device.bandwidth,
        l2_bandwidth=carrying * device.l2_bandwidth,
        peak={kind: computing * peak for kind, peak in device.peak.items()},
    )


# A GPU that nobody sells, with a small L2; it gets sizes that 8 does not divide.
IMAGINED = Device("imagined GPU", 3e11, 1.2e12, 4 << 20, {"float32": 8e12, "float64": 2.5e11})


def _timing(
    op: str, title: str, points: int, question: str, call: str, answer: Callable[..., Answer],
    imagined: Sequence[Case], rows: Sequence[Row], remarks: Sequence[tuple[str, Look]], lines: int,
    rate: str = "", roof: Callable[[Machine], float] | None = None,
) -> Exercise:
    """The exercise that times ``op``: ``answer()`` is right, and ``rows`` are mistakes in it.

    ``rate``: what is asked after the seconds, with its share of the ``roof``.
    """
    returns = ("seconds", rate, "share of the roof") if rate else ("seconds",)
    another_order = Misconception(
        "another order", lambda *given: answer()(*given)[::-1],  # type: ignore[index]
        f"these are the right values in another order: {', '.join(returns)}.",
        partial(reordered, tolerance=CLOCK),
    )
    power_of_ten = _row(  # after the units that have a name of their own
        "a power of ten",
        "is there a milli, kilo, giga or tera in it, or a zero too many? "
        f"{' and '.join(('Seconds', *returns[1:2]))} are wanted.", _power_of_ten, unit=1e-6,
    )
    mistakes = [row(answer) for row in (*PROCEDURE, *rows, power_of_ten)]

    def cases(rng: random.Random) -> list[Case]:
        drawn: list[Case] = []
        for hidden in map(machine, rng.sample(GPUS, 2)):
            device = _one_of(Device.from_machine(hidden), rng)
            asked = {"roof": float(roof(hidden))} if roof else {}
            size = sizes(op, device.l2_bytes)
            drawn.append({"op": op, "device": device.to_dict(), **size, **asked})
        return drawn

    return Exercise(
        f"01-cuda-{op}", title, points, question, call, answer(),
        (another_order, *mistakes) if rate else (*mistakes,), cases,
        tuple({"op": op, "device": IMAGINED.to_dict(), **one} for one in imagined), kind="timing",
        timed=op, returns=returns, tolerance=CLOCK, lines=lines,
        remarks=tuple((remark, _shows(look)) for remark, look in remarks),
    )


CUDA_AXPY = _timing(
    "axpy", "Time AXPY on a GPU", 2,
    "Return the seconds of one cp.cublas.axpy(a, x, y), by CUDA events; x and y are far beyond L2.",
    "time_axpy(cp, x, y, a)", partial(_axpy, queue=QUEUE), [{"n": 8_400_003}], lines=8,
    remarks=(
        ("but you were asked to queue ten launches between the two events: on a real GPU the start "
         "of a single one counts",
         lambda it: all(len(it.asked(r)) < QUEUE for r in it.regions)),
        ("but Python waited inside the queue: wait once, after the stop event, or the GPU idles "
         "between two launches",
         lambda it: any(r.waits > 1 and len(r.kernels) > 1 for r in it.regions)),
    ),
    rows=(
        WHOLE_QUEUE,
        _row("two kernels",
             "a*x + y is two kernels with a stored temporary: five trips, not three. "
             "Use cp.cublas.axpy.", _other_work,
             launch=lambda cp, x, y, a: cp.add(cp.multiply(a, x), y, out=y)),
        COLD_START,
    ),
)

CUDA_GEMV = _timing(
    "gemv", "Time GEMV on a GPU, cold", 3,
    "Return seconds, byte/s and the share of the bandwidth roof of one cp.matmul(A, x, out=y) that "
    "finds nothing in L2, although A would fit.",
    "gemv_share(cp, A, x, y, bandwidth)",
    partial(_product, work=lambda m, n: 4 * (m * n + n + m), flush="before"),
    [{"m": m, "n": n, "roof": 3.4e11} for m, n in ((31, 30_011), (12_005, 31))], lines=11,
    rate="byte/s", roof=lambda gpu: gpu.bandwidth(),
    remarks=(
        (NEW_ARRAY.format("y"),
         lambda it: any(r.made and it.asked(r) for r in it.regions)),
        ("but your flush carries less than 4 × L2: this cache forgets the oldest first, and a real "
         "one need not",
         lambda it: it.regions and statistics.median(
             [r.before for r in it.regions]) < 3.5 * it.case["device"]["l2_bytes"]),
    ),
    rows=(
        _row("flush inside",
             "something else ran between your two events; only the operation may be there.",
             _other_work, flush="inside"),
        COLD_START,
        _row("warm L2",
             "the matrix was still in L2 from the launch before; read a buffer of 4 × L2 "
             "before each start.",
             lambda it: it.share("l2_bytes") > SOME, flush="", queue=QUEUE),
        _row("written flush",
             "your flush wrote its buffer, and L2 kept what was written; your launch then paid "
             "for carrying it to memory. Read the buffer instead.",
             lambda it: it.share("written_back") > SOME, flush="written"),
        _row("idle GPU",
             "the GPU waited for Python between your events; queue the launch while it is "
             "still busy with the flush.",
             lambda it: any(r.seconds > (1 + SOME) * _computing(r) for r, _ in it.busy),
             flush="waiting"),
        _counted("elements for bytes", COMMON["elements for bytes"], lambda m, n: m * n + n + m),
        _counted("vectors like a matrix",
                 "x and y are vectors, with far fewer numbers than the matrix.",
                 lambda m, n: 4 * 3 * m * n),
        _counted("2-byte elements", "that is 2-byte elements; yours have 4.",
                 lambda m, n: 2 * (m * n + n + m)),
        _counted("GB/s", "that is in GB/s; byte/s are wanted, no prefix.",
                 lambda m, n: 4 * (m * n + n + m) / 1e9),
        *SHARES,
    ),
)

CUDA_GEMM = _timing(
    "gemm", "Time GEMM on a GPU", 3,
    "Return seconds, FLOP/s and the share of the compute roof of one cp.matmul(A, B, out=C).",
    "gemm_share(cp, A, B, C, peak)",
    partial(_product, work=lambda n, _: 2 * n**3, queue=2), [{"n": 1501, "roof": 9e12}], lines=9,
    rate="FLOP/s", roof=lambda gpu: gpu.peak("fp32", "vector"),
    remarks=(
        (NEW_ARRAY.format("C"),
         lambda it: any(r.made and it.asked(r) for r in it.regions)),
    ),
    rows=(
        WHOLE_QUEUE,
        COLD_START,
        _counted("multiply-adds", COMMON["multiply-adds"], lambda n, _: n**3),
        _counted("n² for n³", "GEMM has n × n results, and each is a sum over n products.",
                 lambda n, _: 2 * n**2),
        _counted("bytes for FLOPs", "that is byte/s; the compute roof counts FLOP/s.",
                 lambda n, _: 12 * n**2),
        _counted("GFLOP/s", "that is in GFLOP/s; FLOP/s are wanted, no prefix.",
                 lambda n, _: 2 * n**3 / 1e9),
        *SHARES,
    ),
)


EXERCISES = (
    PRODUCT, THREE, LIMIT, CLAIM_1365, WITNESSES, NAME, CLAIMS, CUDA_AXPY, CUDA_GEMV, CUDA_GEMM,
)
