"""The sentences of lesson 09: drawn on simulated machines, and facts that they must say."""

from __future__ import annotations

import random
from dataclasses import replace

import rooflab as rl
from rooflab.exercises.sentences import conclude
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.support.rows import each_row

N = 384
PRODUCT = rl.gemm(N, N, N, accumulate=True)
MAC, SMALL = MACHINES["M-series Mac"], MACHINES["4 MB of L3"]
SLOW = (2.9, 2.9), (2.8, 2.8)  # candidates that change nothing but how many there are
LOSES = (3.0, 3.0), (1.0, 2.0), (1.5, 1.2), *SLOW


def seconds(on: Simulated, share: float) -> float:
    """What the product takes at this share of the vector peak."""
    return PRODUCT.flops / float(on.machine.peak("fp32", "vector")) / share


def searched(
    *pairs: tuple[float | None, float], rejected: int = 2, why: str = "predicted slower than 48",
) -> rl.search.Search:  # fmt: skip
    """A search with candidates of these seconds: predicted and measured, the start first."""
    candidates = [
        rl.search.Candidate((("split", ("i", 2 + at)),) * (at > 0), min(at, 1), *pair)
        for at, pair in enumerate(pairs)
    ] + [
        rl.search.Candidate((("split", ("j", 2 + at)),), 1, 9.0, why=why) for at in range(rejected)
    ]
    return rl.search.Search(
        "C[i,j] += A[i,k]*B[k,j]", dict.fromkeys("ijk", (0, N)), dict.fromkeys("CAB", (N, N)),
        "body", 1, 4, PRODUCT.flops, tuple(candidates), "no better schedule was found",
    )  # fmt: skip


def beside(on: Simulated, *shares: float, library: float, blas: str = "", warnings=()):
    """A search, the start first, and the library, by their shares of the vector peak."""
    found = replace(
        on.clock(PRODUCT, cache="warm", warnings=warnings), samples=(seconds(on, library),) * 3,
        environment={"blas": [{"architecture": blas}]} if blas else {},
    )  # fmt: skip
    return searched(*[(seconds(on, share),) * 2 for share in shares]), found, on.machine


def tiles(on: Simulated, *shares: float):
    """Tiles of 1 to 64 rows by their shares of the vector peak, and the core."""
    runs = [replace(on.clock(PRODUCT), samples=(seconds(on, share),) * 3) for share in shares]
    return dict(zip((1, 4, 8, 64), runs, strict=True)), on.machine


def tried(*least: float, cut: tuple[int, ...] = (), parent: float = 0):
    """Searches of several widths that found so many bytes, the wider ones with more tries.

    Those that were ``cut`` off ended too early. ``parent``: bytes of the schedule that width 2
    came from when it found 5 bytes, while another one of that round had 7.
    """
    found = {
        width: searched((1e6, 1e6), *[(moved, moved)] * width)
        for width, moved in zip((1, 2, 4), least, strict=False)
    }
    if parent:
        first, other = ("split", ("i", 8)), ("split", ("j", 8))
        way = ((), 9.0), ((other,), 7.0), ((first,), parent), ((first, other), 5.0)
        led = [rl.search.Candidate(log, len(log), moved, moved) for log, moved in way]
        found[2] = replace(searched((9.0, 9.0)), candidates=tuple(led))
    return (found | {width: replace(found[width], ended="the time was up") for width in cut},)


def added(on: Simulated, wait: float = 1.0):
    """A product and a GEMV, which takes ``wait`` times what the roof says."""
    product, vector = (
        on.clock(op, cache="warm") for op in (rl.gemm(1024, 1024, 1024), rl.gemv(1024, 1024))
    )
    return product, replace(vector, samples=(wait * vector.median_s,) * 3)


def any_pairs(rng: random.Random) -> list[tuple[float | None, float]]:
    """Seconds predicted and measured: near each other, or all or some of them far off."""
    usual, guesses = rng.choice((1, 1, 0.3, 3)), (None, 1.0, 1.0, 1.4, 2.0)
    return [(3.0, 4.0)] + [
        (guess, (guess or 1) * usual * rng.choice((1, 1, 1, 1.04, 1.8)))
        for guess in rng.choices(guesses, k=rng.choice((0, 3, 5, 8, 12)))
    ]


TRIALS = {
    "09-search": lambda on, rng: beside(
        on, *(0.01, 0.0105, 0.5, 0.9, 1.06)[:rng.randint(1, 5)], blas=rng.choice(("", "Haswell")),
        library=rng.choice((0.5, 0.75, 0.9, 8.0)) * rng.uniform(0.9, 1.1)),
    "09-predicted": lambda on, rng: (searched(*any_pairs(rng), rejected=rng.randrange(3)),),
    "09-rows": lambda on, rng: tiles(on, *rng.choices((0.1, 0.3, 0.7, 0.8), k=4)),
    "09-widths": lambda on, rng: tried(
        *rng.choices((50.0, 55.0, 64.0), k=3), parent=rng.choice((0, 0, 6, 8)),
        cut=rng.choice(((), (), (), (2,), (1, 4), (1, 2, 4)))),
    "09-rewrite": lambda on, rng: added(on, rng.choice((0.01, 0.1, 0.3, 1.0, 3.0))),
}  # fmt: skip


@each_row(
    ("09-search", beside(SMALL, 0.01, 0.9, library=0.45, blas="Haswell", warnings=("busy",)),
     "far ahead", ["here those for “Haswell”", "90 times as fast, at 90 % of", "busy"],
     ["More than the peak"]),
    ("09-search", beside(SMALL, 0.01, 0.9, library=0.75, blas="Haswell"), "ahead",
     ["by a factor of 1.20", "for all sizes, and took its kernels for “Haswell”."], []),
    ("09-search", beside(SMALL, 0.01, 0.9, library=0.75), "ahead", ["do for all sizes."], []),
    ("09-search", beside(SMALL, 0.01, 1.06, library=1.1), "level",
     ["106 %", "More than the peak cannot be"], []),
    # The Mac has a matrix unit, but below the peak of vectors its library need not use it.
    ("09-search", beside(MAC, 0.01, 0.5, library=0.9), "behind", ["Another minute"], []),
    ("09-search", beside(MAC, 0.01, 0.9, library=8), "behind a matrix unit", [], ["minute"]),
    ("09-search", beside(SMALL, 0.01, 0.9, library=8), "behind", [], ["matrix unit"]),
    ("09-search", beside(SMALL, 0.01, 0.0105, library=0.005), "no gain", ["`seconds=60`"],
     ["praise"]),
    ("09-search", beside(SMALL, 0.01, library=0.9), "no gain",
     ["Of 1 schedule measured, none is faster."], ["The best of"]),
    ("09-predicted", [searched(*LOSES)], "the favourite loses",
     ["1 schedule had a better prediction", "factor of 1.67", "2 schedules were sorted out"], []),
    # What does not fit the registers was never predicted.
    ("09-predicted", [searched(*LOSES, why="48 vectors of sums do not fit")],
     "the favourite loses", [], ["sorted out"]),
    ("09-predicted", [searched((3, 3), (1, 1.23), (1.5, 1.2), *SLOW, rejected=1)],
     "the favourite wins", ["confirms the choice. By", "1 schedule was sorted out"], []),
    ("09-predicted", [searched((9, 9), (0.4, 1.2), (0.5, 1.3), *SLOW)], "the favourite wins",
     ["though the time itself was predicted wrongly by a factor of 3.0."], []),
    ("09-predicted", [searched(*LOSES[:4], (None, 1), rejected=0)], "too few",
     ["Only 4 schedules could"], []),
    ("09-rows", tiles(MAC, 0.1, 0.5, 0.8, 0.3), "between",
     ["8 times as long as 8", "2.67 times as long. The peak in the table is that of a matrix"], []),
    ("09-rows", tiles(SMALL, 0.1, 0.2, 0.8, 0.75), "many are no trouble", [], ["matrix unit"]),
    ("09-rows", tiles(SMALL, 0.75, 0.8, 0.8, 0.2), "few are no trouble", [], []),
    ("09-widths", tried(55, 55, 55), "greedy is enough", ["| 4 | 5 | 55.0 B |"], ["stuck"]),
    ("09-widths", tried(64, 55, 55), "greedy is stuck",
     ["Width 2 tries more", "Width 4 finds nothing better, and tries 1.67 times as many"], []),
    # A wider beam may do better still, or worse again: its row in the table says so.
    ("09-widths", tried(64, 60, 50), "greedy is stuck", ["1.28 times"], ["nothing better"]),
    ("09-widths", tried(64, 50, 60), "greedy is stuck", ["Width 2"], ["nothing better"]),
    # The winner's parent was not the best of its round, or it was.
    ("09-widths", tried(7, parent=8), "greedy is stuck", ["Width 2 goes on from a sched"], []),
    ("09-widths", tried(7, parent=6), "greedy is stuck", ["Width 2 tries more in each"], []),
    ("09-widths", tried(64, 50, 50, cut=(4,)), "cut off", ["With width 4 the"], ["stuck"]),
    ("09-widths", tried(64, 50, 50, cut=(1, 2, 4)), "cut off", ["widths 1, 2 and 4 the"], []),
    # A GEMV waits for bytes. If it took as long as its FLOPs alone, the gain would be theirs.
    ("09-rewrite", added(SMALL), "less than the FLOPs", ["32.4 times as fast"], []),
    ("09-rewrite", added(SMALL, 1 / 16), "as the FLOPs", ["512 times as", "512.5 times fewer"], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(name, *given), case, words, never)
