"""Exercises of lesson 04 that put published formulas on trial."""

from __future__ import annotations

import random
from collections.abc import Callable

from rooflab.exercises.exercise import Case, Exercise, Misconception


def _trial_cases(rng: random.Random) -> list[Case]:
    """Every pattern of equal edges, and one token beside a square and a non-square layer.

    And two shapes in which the counts hardly differ, by about 0.015 % and by one number of a
    billion: the test compares exactly.
    """
    a, b, c = rng.sample((16, 24, 48, 64, 96, 128, 512, 768, 4096), 3)
    shapes = [
        (a, a, a), (b, b, b), (a, a, b), (a, b, a), (a, b, b), (a, b, c), (1, b, b), (1, b, c),
        (c, a, a), (max(a, b), min(a, b), c), _hardly(rng, 16, 4096, 157),
        _hardly(rng, 1, rng.randrange(36_000, 45_000), 1),
    ]  # fmt: skip
    rng.shuffle(shapes)
    return [dict(zip("mnk", shape, strict=True)) for shape in shapes]


def _hardly(rng: random.Random, m: int, edge: int, more: int) -> tuple[int, int, int]:
    """``m`` rows, and two edges that differ by ``more``; either may be the longer one."""
    return m, *rng.sample((edge, edge + more), 2)


def _near(share: float) -> Callable[[int, int, int], bool]:
    """A test that lets a difference of this ``share`` of the true count pass."""

    def convicts(m: int, n: int, k: int) -> bool:
        true = m * k + k * n + m * n
        return abs(m * k - m * n) > share * true

    return convicts


CONVICTS = Exercise(
    "04-convicts", "“M·K + K·N + M·K”", 2,
    "A published count of what travels is M·K + K·N + M·K. Does a test with this shape notice?",
    "convicts(m, n, k)", lambda m, n, k: n != k, cases=_trial_cases, derives=("gemm",),
    insight="A square test passes a wrong count. Try your own formulas on three different "
            "edges.",
    misconceptions=(
        Misconception("all but the cube", lambda m, n, k: not m == n == k,
                      "put a shape with two equal edges into both counts; the pair matters."),
        Misconception("all edges different", lambda m, n, k: len({m, n, k}) == 3,
                      "one difference is enough, if it is the right one."),
        Misconception("M against N", lambda m, n, k: m != n,
                      "M·K stands where M·N belongs. Put in M = N = 2 and K = 3: are they alike?"),
        Misconception("M against K", lambda m, n, k: m != k,
                      "M is an edge of both faces that were mixed up; it cannot tell them apart."),
        Misconception("one token hides it", lambda m, n, k: m > 1 and n != k,
                      "with one token the difference is small, but a count is exact."),
        Misconception("only when it is too small", lambda m, n, k: n > k,
                      "a count that is too large is wrong as well."),
        Misconception("the opposite", lambda m, n, k: n == k,
                      "with such a shape the two counts are alike: does a test notice that?"),
        Misconception("every test", lambda m, n, k: True,
                      "try a cube: its three faces are all alike."),
        Misconception("no test", lambda m, n, k: False,
                      "M·K stands for M·N there; find edges that make them differ."),
        Misconception("only when it is too large", lambda m, n, k: k > n,
                      "a count that comes out too small is a wrong one too."),
        Misconception("nearly the same", _near(1e-2),
                      "the test compares exactly: a count that is off by a single number is a "
                      "wrong one.",
                      variants=tuple(map(_near, (5e-3, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9)))),
    ),
)  # fmt: skip

CHECKS = ("FLOPs", "bytes", "intensity", "weights", "result's shape", "terms of each sum")
_TRUE = (False, False, False, False, True, True)


def _with(**said: bool) -> tuple[bool, ...]:
    """The right answers with some replaced."""
    names = ("flops", "bytes", "intensity", "weights", "shape", "terms")
    return tuple(said.get(name, true) for name, true in zip(names, _TRUE, strict=True))


SWAPPED = Exercise(
    "04-swapped", "“N = d_model, K = d_ff”", 2,
    "A published table has N and K of the up projection exchanged. Which of six checks notice?",
    "(flops, bytes, intensity, weights, shape, terms)", lambda: _TRUE, kind="value",
    returns=CHECKS, derives=("gemm",),
    insight="Counts hide an exchange that shapes show. Look at the shapes of a table first.",
    misconceptions=(
        Misconception("everything notices", lambda: (True,) * 6,
                      "work the counts out once with N and K, and once with K and N."),
        Misconception("the opposite", lambda: tuple(not each for each in _TRUE),
                      "True where a check notices the exchange; you say where it does not."),
        Misconception("nothing notices", lambda: (False,) * 6,
                      "give each product a cell of its own, and compare what comes out."),
        Misconception("the bytes notice", lambda: _with(bytes=True, intensity=True),
                      "MK + KN + MN: exchange the letters N and K, and look at what is there.",
                      variants=(lambda: _with(bytes=True),)),
        Misconception("the ratio notices", lambda: _with(intensity=True),
                      "a ratio of two numbers that stay the same stays the same."),
        Misconception("more weights", lambda: _with(weights=True),
                      "a matrix has as many numbers standing as lying."),
        Misconception("the FLOPs notice", lambda: _with(flops=True),
                      "2MNK: a product does not care for the order of its factors."),
        Misconception("sums of the same length", lambda: _with(terms=False),
                      "each number of the result is a sum over K: what is K in either product?"),
        Misconception("the same result", lambda: _with(shape=False),
                      "the result is M×N: write it down for both products."),
    ),
)  # fmt: skip

EXERCISES = (CONVICTS, SWAPPED)
