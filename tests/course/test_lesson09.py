"""Facts of lesson 09, its exercises and its sentences."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.count import gemm
from rooflab.course.lesson09 import exercises as lesson09
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise
from rooflab.exercises.sentences import conclude
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.course.verdicts import refused
from tests.support.rows import each_row

SEEDS = range(20)
register_tile, beam, least_width, cheapest, impossible = (
    exercise(f"09-{name}").reference
    for name in ("register-tile", "beam", "width", "extract", "impossible")
)


def by_columns(registers, lanes, latency, units):
    """09-register-tile: for each number of columns, as many rows as there is room for."""
    tiles = [((registers - 1 - v) // v, v) for v in range(1, registers)]
    fit = [(r, v) for r, v in tiles if r and r * v >= latency * units]
    r, v = min(fit, key=lambda tile: 1 / tile[0] + 1 / tile[1])
    return r, v * lanes


def by_best_of_all(children, seconds, start, width):
    """09-beam: what is kept is always the fastest of all that was timed so far."""
    timed, kept = {start}, [start]
    while new := {child for name in kept for child in children[name]} - timed:
        timed |= new
        kept = sorted(timed, key=seconds.get)[:width]
    return min(timed, key=seconds.get), len(timed)


def by_trying(children, seconds, start):
    goal = min(seconds, key=seconds.get)
    widths = range(1, len(children) + 1)
    return next(w for w in widths if by_best_of_all(children, seconds, start, w)[0] == goal)


def by_settling(classes, root):
    """09-extract as Knuth generalised Dijkstra's algorithm: the cheapest open class is settled."""
    done: dict[str, int] = {}
    while root not in done:
        cost, name = min(
            (own + sum(done[arg] for arg in args), name)
            for name, nodes in classes.items()
            for own, args in nodes
            if name not in done and all(arg in done for arg in args)
        )
        done[name] = cost
    return done[root]


OTHER_WAYS = {
    "09-register-tile": by_columns,
    "09-beam": by_best_of_all,
    "09-width": by_trying,
    "09-extract": by_settling,
    "09-impossible": lambda n, s, p, w, log: [
        2 * n**3 / t > p or b / t > w[level] or b / s / n**2 < 3 or 3 * s * n**2 / t > w["memory"]
        for t, level, b in log
    ],
}


def test_another_way_is_right_as_well():
    assert not refused(OTHER_WAYS, SEEDS)


def test_sixteen_registers_hold_a_tile_of_twelve_vectors_of_sums():
    """AVX2: 16 registers of 8 numbers, two units of latency 5. BLIS takes 6×16, others 4×24."""
    rows, columns = register_tile(16, 8, 5, 2)
    assert rows * columns // 8 == 12 == 6 * 16 // 8
    assert (rows, columns) == (4, 24)


def test_a_long_latency_makes_the_tile_tall():
    """14 sums fit 16 registers in a single column of vectors only."""
    assert register_tile(16, 8, 7, 2) == (14, 8)


def graph():
    """The greedy way goes to b; the best lies behind c."""
    children = {"a": ["b", "c"], "b": ["d"], "c": ["e"], "d": [], "e": []}
    return children, {"a": 9, "b": 5, "c": 7, "d": 6, "e": 1}, "a"


def test_greedy_gets_stuck_and_two_do_not():
    assert beam(*graph(), 1) == ("b", 4)
    assert beam(*graph(), 2) == ("e", 5)
    assert least_width(*graph()) == 2


def test_width_one_is_greedy_and_a_beam_as_wide_as_the_graph_times_everything():
    for seed in SEEDS:
        for case in exercise("09-width").draw(seed):
            all_of_it = beam(*case.values(), len(case["children"]))
            assert all_of_it == (
                min(case["seconds"], key=case["seconds"].get), len(case["children"]),
            )  # fmt: skip


def test_extraction_agrees_with_terms_of_growing_depth():
    """A cheapest term holds no class within itself, so it is no deeper than there are classes."""
    for seed in range(5):
        for case in exercise("09-extract").draw(seed):
            classes, root = case["classes"], case["root"]
            least = dict.fromkeys(classes, math.inf)
            for _ in classes:  # the terms that are one deeper, from those before
                least = {
                    name: min(own + sum(least[arg] for arg in args) for own, args in nodes)
                    for name, nodes in classes.items()
                }
            assert least[root] == cheapest(classes, root)


def test_circles_are_there_and_never_pay():
    for seed in SEEDS:
        for case in exercise("09-extract").draw(seed)[:4]:
            reach = {name: {a for _, args in nodes for a in args}
                     for name, nodes in case["classes"].items()}  # fmt: skip
            for _ in reach:
                for name in reach:
                    reach[name] |= {x for one in reach[name] for x in reach[one]}
            assert any(name in reach[name] for name in reach)


def test_the_least_bytes_are_those_of_the_ledger():
    n = 700
    assert gemm(n, n, n).bytes == 3 * n * n * 4
    row = [[1.0, "memory", gemm(n, n, n).bytes]]
    assert impossible(n, 4, 1e11, {"memory": 1e10}, row) == [False]
    row[0][2] -= 1
    assert impossible(n, 4, 1e11, {"memory": 1e10}, row) == [True]


def test_what_comes_from_memory_takes_memorys_time_in_a_row_of_any_level():
    """3 · 1000² numbers of 8 bytes from 1 GB/s take 24 ms, whatever L2 counts."""
    rows = [[0.0239, "L2", 24_000_000], [0.024, "L2", 24_000_000]]
    bandwidths = {"memory": 1e9, "L2": 1e11}
    assert impossible(1000, 8, 1e12, bandwidths, rows) == [True, False]


def test_the_laptop_of_the_claim():
    """5.02 TFLOP/s, ridge 33.5, 0.428 ms for N = 1024; 0.023 belongs to the chip with 18 cores."""
    ratio, least, word = exercise("09-claim-beam").reference()
    assert float(lesson09.PEAK) == pytest.approx(5.0176e12)
    assert 1 / ratio == pytest.approx(33.45, abs=0.01)
    assert least * 1e3 == pytest.approx(0.428, abs=5e-4) and word == "impossible"
    larger = lesson09.RATE / lesson09.LARGE
    assert larger == pytest.approx(0.0233, abs=5e-5)
    assert gemm(1024, 1024, 1024).bytes / lesson09.RATE == pytest.approx(83.9e-6, rel=1e-3)


SHAPES = [case["extents"] for seed in SEEDS for case in exercise("09-tiles").draw(seed)]


def tiled(extents, side, inner, order="ijk"):
    """Whether tiles of these sides are right on this product, whatever else is drawn."""
    found = exercise("09-tiles")
    case = {**found.draw(0)[0], "extents": extents}

    def answer(nest):
        outer = nest.tile(dict.fromkeys(order, side))
        return outer.tile({f"{dim}i": inner for dim in "ijk"})

    return judge(found, [case], collect(found.kind, [case], answer)).passed


@pytest.mark.parametrize("extents", [dict(one) for one in {tuple(e.items()) for e in SHAPES}])
def test_tiles_are_judged_alike_on_every_product(extents):
    """The rule of lesson 07 gives sides up to 4 and 22; lines want whole fours."""
    for side, order in itertools.product((16, 20, 24), ("ijk", "kij", "kji")):
        assert tiled(extents, side, 4, order), (side, order)
    assert tiled(extents, 12, 4) and not tiled(extents, 24, 5) and not tiled(extents, 24, 3)


def test_a_memo_of_an_unfinished_class_is_told_from_the_truth():
    """b by way of a is closed while b is open, but a by way of b is cheap for another."""
    classes = {"r": [[1, ["b", "a"]]], "b": [[1, ["a"]], [10, []]], "a": [[1, ["b"]], [100, []]]}
    assert cheapest(classes, "r") == 22 == by_settling(classes, "r")
    assert lesson09._remembered(classes, "r") == 111


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
    ended: str = "no better schedule was found",
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
        "body", 1, 4, PRODUCT.flops, tuple(candidates), ended,
    )  # fmt: skip


def beside(
    on: Simulated, *shares: float, library: float, blas: str = "", warnings=(), cut: bool = False
):  # fmt: skip
    """A search, the start first, and the library, by their shares of the vector peak."""
    found = replace(
        on.clock(PRODUCT, cache="warm", warnings=warnings), samples=(seconds(on, library),) * 3,
        environment={"blas": [{"architecture": blas}]} if blas else {},
    )  # fmt: skip
    pairs = [(seconds(on, share),) * 2 for share in shares]
    how = {"ended": "the time was up"} if cut else {}
    return searched(*pairs, **how), found, on.machine


def tiles(on: Simulated, *shares: float, won: float = 0.8):
    """Tiles of 1 to 64 rows by their shares of the vector peak, the core, and a search's winner."""
    runs = [replace(on.clock(PRODUCT), samples=(seconds(on, share),) * 3) for share in shares]
    found = searched(*[(seconds(on, share),) * 2 for share in (0.01, won)])
    return dict(zip((1, 4, 8, 64), runs, strict=True)), on.machine, found


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
        library=rng.choice((0.5, 0.75, 0.9, 8.0)) * rng.uniform(0.9, 1.1),
        cut=rng.random() < 0.5),
    "09-predicted": lambda on, rng: (searched(*any_pairs(rng), rejected=rng.randrange(3)),),
    "09-rows": lambda on, rng: tiles(
        on, *rng.choices((0.1, 0.3, 0.7, 0.8), k=4), won=rng.choice((0.05, 0.8, 1.0))),
    "09-rewrite": lambda on, rng: added(on, rng.choice((0.01, 0.1, 0.3, 1.0, 3.0))),
}  # fmt: skip


@each_row(
    ("09-search", beside(SMALL, 0.01, 0.9, library=0.45, blas="Haswell", warnings=("busy",)),
     "far ahead", ["here those for “Haswell”", "90 times as fast, at 90 % of", "busy"],
     ["More than the peak"]),
    ("09-search", beside(SMALL, 0.01, 0.9, library=0.75, blas="Haswell"), "ahead",
     ["by a factor of 1.20", "all sizes, and took its kernels for “Haswell”."], []),
    ("09-search", beside(SMALL, 0.01, 0.9, library=0.75), "ahead", ["serve all sizes."], []),
    ("09-search", beside(SMALL, 0.01, 1.06, library=1.1), "level",
     ["106 %", "More than the peak cannot be"], []),
    # The Mac has a matrix unit, but below the peak of vectors its library need not use it.
    ("09-search", beside(MAC, 0.01, 0.5, library=0.9, cut=True), "behind", ["Another minute"], []),
    ("09-search", beside(MAC, 0.01, 0.5, library=0.9), "behind at its end",
     ["more time brings no more"], ["minute"]),
    ("09-search", beside(MAC, 0.01, 0.9, library=8), "behind a matrix unit", [], ["minute"]),
    ("09-search", beside(SMALL, 0.01, 0.9, library=8), "behind at its end", [], ["matrix unit"]),
    ("09-search", beside(SMALL, 0.01, 0.0105, library=0.005, cut=True), "no gain",
     ["`seconds=60`"], ["praise"]),
    ("09-search", beside(SMALL, 0.01, library=0.9), "no gain at its end",
     ["Of 1 schedule measured, none is faster."], ["The best of"]),
    ("09-predicted", [searched(*LOSES)], "the favourite loses",
     ["1 schedule had a better prediction", "factor of 1.67", "2 schedules were weeded out"], []),
    # What does not fit the registers was never predicted.
    ("09-predicted", [searched(*LOSES, why="48 vectors of sums do not fit")],
     "the favourite loses", [], ["weeded out"]),
    ("09-predicted", [searched((3, 3), (1, 1.23), (1.5, 1.2), *SLOW, rejected=1)],
     "the favourite wins", ["confirms the choice. By", "1 schedule was weeded out"], []),
    ("09-predicted", [searched((9, 9), (0.4, 1.2), (0.5, 1.3), *SLOW)], "the favourite wins",
     ["though the time itself was predicted wrongly by a factor of 3.0."], []),
    ("09-predicted", [searched(*LOSES[:4], (None, 1), rejected=0)], "too few",
     ["Only 4 schedules could"], []),
    ("09-rows", tiles(MAC, 0.1, 0.5, 0.8, 0.3), "between, as the search",
     ["8 times as long as 8", "2.67 times as long. The peak in the table is that of a matrix"], []),
    ("09-rows", tiles(SMALL, 0.1, 0.2, 0.8, 0.75), "many are no trouble, as the search",
     [], ["matrix unit"]),
    ("09-rows", tiles(SMALL, 0.75, 0.8, 0.8, 0.2), "few are no trouble, as the search", [], []),
    ("09-rows", tiles(SMALL, 0.1, 0.5, 0.8, 0.3, won=0.4), "between, beats the search",
     ["8 rows 2 times as much", "Small steps"], []),
    ("09-rows", tiles(SMALL, 0.1, 0.5, 0.8, 0.3), "between, as the search",
     ["about as much as 8 rows"], []),
    ("09-rows", tiles(SMALL, 0.1, 0.2, 0.4, 0.3, won=0.8), "between, behind the search",
     ["2 times as much as 8 rows"], ["Small steps"]),
    # A GEMV waits for bytes. If it took as long as its FLOPs alone, the gain would be theirs.
    ("09-rewrite", added(SMALL), "less than the FLOPs", ["32.4 times as fast"], []),
    ("09-rewrite", added(SMALL, 1 / 16), "as the FLOPs", ["512 times as", "512.5 times fewer"], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(name, *given), case, words, never)
