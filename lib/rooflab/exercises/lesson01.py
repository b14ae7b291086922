"""Exercises of lesson 01, three operations: FLOPs and bytes, from the ledger of ``count``.

The wrong answers are slips seen in print: β forgotten, elements for bytes, M·K counted twice,
somebody else's element size, a vector that is not read.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from math import isqrt

from rooflab.count import axpy, dot, gemm, gemv, ger
from rooflab.exercises.drawing import DTYPES
from rooflab.exercises.exercise import Case, Exercise, Misconception


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


def _product(
    m: int, n: int, k: int, itemsize: int, accumulate: bool = False
) -> tuple[int, int, float]:
    op = gemm(m, n, k, DTYPES[itemsize], accumulate=accumulate)
    return op.flops, op.bytes, op.intensity


# A slip in one part is named by that part, whatever the learner's quotient became of it: so these
# leave the intensity right, and two slips at once still have the name of one.
Wrong = Callable[[int, int, int, int, bool], tuple[float, float, float]]


def _flops(count: Callable[[int, int, int], float]) -> Wrong:
    """A wrong ``count`` of FLOPs from m, n and k."""
    return lambda m, n, k, s, acc: (count(m, n, k), *_product(m, n, k, s, acc)[1:])


def _bytes(count: Callable[[int, int, int, int, bool], float]) -> Wrong:
    """A wrong ``count`` of bytes from m, n, k, itemsize and accumulate."""

    def wrong(m: int, n: int, k: int, s: int, acc: bool) -> tuple[float, float, float]:
        flops, _, intensity = _product(m, n, k, s, acc)
        return flops, count(m, n, k, s, acc), intensity

    return wrong


def _least(m: int, n: int, k: int, itemsize: int, accumulate: bool = False) -> int:
    return _product(m, n, k, 1, accumulate)[1] * itemsize


_EVERY_USE = (  # A and B travel for each multiply-add; C does so too, or once for each element
    _bytes(lambda m, n, k, s, acc: (2 * k + 1) * m * n * s),
    _bytes(lambda m, n, k, s, acc: (2 * k + 1 + acc) * m * n * s),
    _bytes(lambda m, n, k, s, acc: 3 * m * n * k * s),
    _bytes(lambda m, n, k, s, acc: (3 + acc) * m * n * k * s),
    _bytes(lambda m, n, k, s, acc: (2 + acc) * m * n * k * s),
    _bytes(lambda m, n, k, s, acc: 4 * m * n * k * s),
)

PRODUCT = Exercise(
    "01-product", "A product, counted", 4,
    "C = A·B with A m×k and B k×n; with accumulate=True C += A·B (β ≠ 0). How many FLOPs, how "
    "many bytes at least, how many FLOPs per byte?",
    "product(m, n, k, itemsize, accumulate=False)", _product, cases=_ledger_cases,
    insight="Your machine cannot move fewer bytes than that for any product. The intensity tells "
            "on which side of its ridge the product lies.",
    mine="product", lines=4, returns=("FLOPs", "bytes", "intensity"), derives=("gemm", "gemv"),
    misconceptions=(
        Misconception("multiply-adds", _flops(lambda m, n, k: m * n * k),
                      "you counted multiply-adds; each is 2 FLOPs."),
        Misconception("square in mind", _flops(lambda m, n, k: 2 * m**3),
                      "that is right for a square product; here m, n and k differ.",
                      variants=(_flops(lambda m, n, k: 2 * n**3), _flops(lambda m, n, k: 2 * k**3))),
        Misconception("the sizes multiplied", _flops(lambda m, n, k: m * k * k * n),
                      "not every number of A meets every number of B: row i of A meets column j "
                      "of B, and k pairs are multiplied."),
        Misconception("K forgotten", _flops(lambda m, n, k: 2 * m * n),
                      "every element of C is a sum over k."),
        Misconception("one addition fewer", _flops(lambda m, n, k: m * n * (2 * k - 1)),
                      "exact, but the convention counts k multiply-adds of 2 FLOPs an element."),
        Misconception("old C added at the end",
                      lambda m, n, k, s, acc: (2 * m * n * k + acc * m * n,
                                               *_product(m, n, k, s, acc)[1:]),
                      "each sum can begin with the old value of C in place of 0; its k "
                      "multiply-adds are all there is.",
                      variants=(_flops(lambda m, n, k: 2 * m * n * k + m * n),)),
        Misconception("elements, not work", _flops(lambda m, n, k: m * k + k * n + m * n),
                      "you counted numbers; count the arithmetic done on them.",
                      variants=(_flops(lambda m, n, k: 2 * (m * k + k * n)),
                                _flops(lambda m, n, k: 2 * (m * k + k * n + m * n)))),
        Misconception("elements for bytes", _bytes(lambda m, n, k, s, acc: _least(m, n, k, 1, acc)),
                      "you counted elements; each has itemsize bytes."),
        Misconception("bits for bytes", _bytes(lambda m, n, k, s, acc: _least(m, n, k, 8 * s, acc)),
                      "you counted bits; itemsize is already in bytes."),
        Misconception("β forgotten", _bytes(lambda m, n, k, s, acc: _least(m, n, k, s)),
                      "C is read as well as written when the product is added to it (β ≠ 0)."),
        Misconception("C always read", _bytes(lambda m, n, k, s, acc: _least(m, n, k, s, True)),
                      "without accumulate C is only written; its old values are not needed."),
        Misconception("the two cases swapped",
                      _bytes(lambda m, n, k, s, acc: _least(m, n, k, s, not acc)),
                      "accumulate=True is the case in which the old C is read too."),
        Misconception("A or B read again",
                      _bytes(lambda m, n, k, s, acc: _least(m, n, k, s) + acc * k * n * s),
                      "what is read as well as written is C, where the product is added to it; it "
                      "has m × n numbers. Do you take the arguments in the order m, n, k?",
                      variants=(_bytes(lambda m, n, k, s, acc:
                                       _least(m, n, k, s) + acc * m * k * s),)),
        Misconception("M·K twice",
                      _bytes(lambda m, n, k, s, acc: _least(m, n, k, s, acc) + (m - n) * k * s),
                      "you counted M·K twice. A is M×K, B is K×N, C is M×N: square matrices hide "
                      "this.",
                      variants=(_bytes(lambda m, n, k, s, acc:
                                       _least(m, n, k, s, acc) + (k - n) * m * s),)),
        Misconception("C forgotten", _bytes(lambda m, n, k, s, acc: (m * k + k * n) * s),
                      "the result travels too.",
                      variants=(_bytes(lambda m, n, k, s, acc: (m * k + k * n + acc * m * n) * s),)),
        Misconception("C only where it is added to",
                      _bytes(lambda m, n, k, s, acc: (m * k + k * n + 2 * acc * m * n) * s),
                      "without accumulate C is written all the same; only its reading is left "
                      "out."),
        Misconception("C three times",
                      _bytes(lambda m, n, k, s, acc: _least(m, n, k, s) + 2 * acc * m * n * s),
                      "C makes one trip when it is written, and one more, with accumulate, when "
                      "it is read.",
                      variants=(_bytes(lambda m, n, k, s, acc: _least(m, n, k, s) + 2 * m * n * s),
                                _bytes(lambda m, n, k, s, acc:
                                       _least(m, n, k, s) + (1 + acc) * m * n * s))),
        Misconception("all three doubled",
                      _bytes(lambda m, n, k, s, acc: _least(m, n, k, s) * (1 + acc)),
                      "accumulate makes one trip more, of C alone; A and B are read once in both "
                      "cases."),
        Misconception("4 bytes always", _bytes(lambda m, n, k, s, acc: _least(m, n, k, 4, acc)),
                      "you took 4 bytes for every element; itemsize says how many."),
        Misconception("no reuse", _bytes(lambda m, n, k, s, acc: 2 * m * n * k * s),
                      "numbers travel anew for every multiply-add; each need travel only once.",
                      variants=_EVERY_USE),
        Misconception("bytes multiplied", _bytes(lambda m, n, k, s, acc: m * k * k * n * s),
                      "A and B lie beside each other in memory: add up how many numbers they have.",
                      variants=(_bytes(lambda m, n, k, s, acc: m * k * k * n * m * n * s),
                                _bytes(lambda m, n, k, s, acc: (m * k * k * n + m * n) * s),
                                _bytes(lambda m, n, k, s, acc:
                                       (m * k * k * n + (1 + acc) * m * n) * s))),
        Misconception("the box's volume", _bytes(lambda m, n, k, s, acc: m * n * k * s),
                      "the volume is the work; what travels is painted on three of the faces."),
        Misconception("the box's edges", _bytes(lambda m, n, k, s, acc: (m + n + k) * s),
                      "these are three lengths; a matrix has length times width."),
        Misconception("upside down",
                      lambda m, n, k, s, acc: (*_product(m, n, k, s, acc)[:2],
                                               1 / _product(m, n, k, s, acc)[2]),
                      "that is bytes per FLOP; intensity is FLOPs per byte."),
        Misconception("// for /",
                      lambda m, n, k, s, acc: (*_product(m, n, k, s, acc)[:2],
                                               _product(m, n, k, s, acc)[0]
                                               // _product(m, n, k, s, acc)[1]),
                      "// drops what stands after the point; an intensity is divided with /."),
        Misconception("divided by itemsize again",
                      lambda m, n, k, s, acc: (*_product(m, n, k, s, acc)[:2],
                                               _product(m, n, k, s, acc)[2] / s),
                      "the bytes contain itemsize already."),
    ),
)  # fmt: skip

NAMES = ("axpy", "dot", "gemv", "outer", "gemm")


def _counters(rng: random.Random) -> list[Case]:
    """What a profiler counts of each operation once, so that no two mistakes give the same."""
    while True:
        drawn = _profile(rng)
        answers = {(): [NAME.reference]}
        answers |= {m.name: [m.wrong, *m.variants] for m in NAME.misconceptions}
        named = [
            {tuple(answer(*case.values()) for case in drawn) for answer in mistaken}
            for mistaken in answers.values()
        ]
        if len(set.union(*named)) == sum(map(len, named)):
            return drawn


def _profile(rng: random.Random) -> list[Case]:
    """FLOPs and bytes of each operation once, in mixed order."""
    drawn = []
    sizes = [8, 4, 2, 1, 4]
    rng.shuffle(sizes)
    for name, size in zip(NAMES, sizes, strict=True):
        kind, n = DTYPES[size], rng.randrange(60, 900)
        op = {
            "axpy": lambda n, kind: axpy(n * n, kind), "dot": lambda n, kind: dot(n * n, kind),
            "gemv": lambda n, kind: gemv(n, n, kind), "outer": lambda n, kind: ger(n, n, kind),
            "gemm": lambda n, kind: gemm(n, n, n, kind),
        }[name](n, kind)  # fmt: skip
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


def _name(flops: int, nbytes: int, itemsize: int) -> str:
    return _nearest(flops, nbytes / itemsize)


def _called(name: str, **mistaken: str) -> str:
    """``name``, or what it is mistaken for."""
    return mistaken.get(name, name)


def _by_intensity(*borders: tuple[float, str]) -> Callable[[int, int, int], str]:
    """FLOP/byte and nothing else: the first border that is not reached."""
    return lambda f, b, s: next((name for border, name in borders if f / b < border), "gemm")


def _exactly(dot: int = 1, gemv: int = 2) -> Callable[[int, int, int], str]:
    """Counts to the last number, with ``dot`` results and ``gemv`` vectors; the rest is GEMM."""

    def answer(flops: int, nbytes: int, itemsize: int) -> str:
        adds, moved = flops // 2, nbytes // itemsize
        edge = isqrt(adds)
        there = {
            "axpy": 3 * adds, "dot": 2 * adds + dot, "gemv": adds + gemv * edge,
            "outer": 2 * adds + 2 * edge,
        }  # fmt: skip
        return next((name for name, count in there.items() if count == moved), "gemm")

    return answer


def _always(name: str, *counters: int) -> str:
    """The same ``name`` whatever was counted."""
    return name


NAME = Exercise(
    "01-name", "Which operation was that?", 3,
    "A profiler counted FLOPs and bytes, and lost the name. Was it axpy, dot, gemv, outer or gemm?",
    "name(flops, nbytes, itemsize)", _name, cases=_counters, lines=5,
    derives=("axpy", "dot", "gemv", "ger", "gemm"),
    insight="The counters of your own machine give the same two numbers. They tell the operation, "
            "and the operation tells what would make it faster.",
    misconceptions=(
        Misconception("multiply-adds", lambda f, b, s: _nearest(2 * f, b / s),
                      "flops counts 2 for each multiply-add; halve it before you take an edge."),
        Misconception("y not read", lambda f, b, s: _nearest(f, b / s, axpy=f + 0.5),
                      "AXPY reads x and y and writes y: three numbers for each multiply-add."),
        Misconception("dot and outer share an intensity",
                      lambda f, b, s: _called(_name(f, b, s), outer="dot"),
                      "both move about two numbers for each multiply-add, if A is read before it "
                      "is written. Count to the last number what either of them moves.",
                      variants=(lambda f, b, s: _called(_name(f, b, s), dot="outer"),)),
        Misconception("a border for FLOP/byte", _by_intensity((0.3, "axpy"), (1, "gemv")),
                      "FLOP/byte changes with itemsize, and the operations with it: count numbers, "
                      "bytes ÷ itemsize, beside multiply-adds, flops ÷ 2.",
                      variants=(_by_intensity((0.2, "axpy"), (0.26, "dot"), (0.3, "outer"),
                                              (1, "gemv")),
                                _by_intensity((1, "axpy")))),
        Misconception("the result of dot forgotten", _exactly(dot=0),
                      "dot writes one number too, its result."),
        Misconception("one vector of GEMV", _exactly(gemv=1),
                      "GEMV carries two vectors beside its matrix: x is read, y is written."),
        Misconception("elements for bytes", lambda f, b, s: _nearest(f, b),
                      "bytes are not numbers; each has itemsize of them."),
        Misconception("4 bytes always", lambda f, b, s: _nearest(f, b / 4),
                      "not every number has 4 bytes; itemsize says how many."),
        Misconception("one name for all", partial(_always, "axpy"),
                      "every case is another operation: the name follows from the counters.",
                      variants=tuple(partial(_always, name) for name in NAMES[1:])),
        Misconception("matrix or vector", lambda f, b, s: "gemm" if b / s < 0.4 * f else "gemv",
                      "AXPY, dot, GEMV and the outer product differ in their bytes alone."),
    ),
)  # fmt: skip

EXERCISES = (PRODUCT, NAME)
