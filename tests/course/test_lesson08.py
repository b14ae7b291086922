"""Facts of lesson 08, its exercises and its sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

import rooflab as rl
from rooflab.exercises.registry import exercise
from rooflab.exercises.sentences import conclude
from rooflab.labs.loops import Nest
from rooflab.measure.measurement import Measurement
from rooflab.measure.roof_kernels import Target
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.course.verdicts import refused, verdict
from tests.support.rows import each_row

SEEDS = range(30)
innermost, broken, pair, least_skew, inside = (
    exercise(f"08-{name}").reference for name in ("innermost", "legal", "pair", "skew", "inside")
)


def by_first_sign(distances, order):
    """08-legal: the first number of a distance that is not 0 decides."""
    return [one for one in distances if next(one[loop] for loop in order if one[loop]) < 0]


def by_sorting(rows, columns, back, ahead, tile):
    """08-pair by the list of all iterations in the new order."""
    box = [(i, j) for i in range(rows) for j in range(columns)]
    when = {
        at: n for n, at in enumerate(sorted(box, key=lambda at: (at[0] // tile, at[1] // tile)))
    }
    pairs = [((i, j), (i - back, j + ahead)) for i, j in box if (i - back, j + ahead) in when]
    return next(pair for pair in pairs if when[pair[0]] < when[pair[1]])


OTHER_WAYS = {
    "08-innermost": lambda o, s, b: min(
        ((sum((s / b) if t.endswith(x) else x in t for t in o)), x) for x in "".join(o)
    )[::-1],
    "08-legal": by_first_sign,
    "08-pair": by_sorting,
    "08-skew": lambda ds: max([0, *(math.ceil(-e / d) for d, e in ds if d)]),
    "08-inside": lambda r, n, h: (
        round(1 / (r[0] / h / n / 2)), round(sum(r[-2:]) / 2 / h / n / 2),
        round(1 / (r[0] / h / n / 2)) * round(sum(r[-2:]) / 2 / h / n / 2),
    ),
}  # fmt: skip


def test_other_algebra_is_accepted():
    assert not refused(OTHER_WAYS, SEEDS)


def test_j_is_the_loop_for_the_inside_of_a_product():
    """Two of 64-byte lines' sixteenths in fp32; down a column it is two whole lines."""
    assert innermost(["ik", "kj", "ij"], 4, 64) == ("j", 2 / 16)
    assert innermost(["ik", "jk", "ij"], 4, 64) == ("k", 2 / 16)


def test_the_best_loop_follows_the_layout_of_an_image():
    assert innermost(["nchw", "c", "nhw"], 4, 64)[0] == "w"
    assert innermost(["nhwc", "c", "nhw"], 4, 64)[0] == "c"


def test_no_case_has_two_best_loops():
    for seed in SEEDS:
        for case in exercise("08-innermost").draw(seed):
            operands, share = case["operands"], case["itemsize"] / case["line"]
            costs = sorted(
                sum(share if text[-1] == loop else loop in text for text in operands)
                for loop in set("".join(operands))
            )
            assert costs[0] < costs[1], case


def test_distances_decide_as_the_loop_lab_does():
    """The stencil's (1, -1) breaks when interchanged, the product's (0, 0, 1) never does."""
    assert broken([[1, -1]], [1, 0]) == [[1, -1]]
    stencil = Nest({"i": (1, 7), "j": 6}, "A[i,j] = A[i-1,j+1]*0.5")
    assert not stencil.interchange("i", "j").check()
    product = Nest(dict.fromkeys("ijk", 4), "C[i,j] += A[i,k]*B[k,j]")
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        assert broken([[0, 0, 1]], order) == []
        assert product.reorder(*("ijk"[loop] for loop in order)).check(reassociate=False)


@pytest.mark.parametrize(("back", "ahead", "tile"), [(1, 1, 2), (1, 1, 3), (2, 3, 4), (1, 5, 3)])
def test_the_convicted_pair_is_one_that_the_loop_lab_convicts(back, ahead, tile):
    rows, columns = 9, 14
    early, first = pair(rows, columns, back, ahead, tile)
    text = f"A[i,j] = A[i-{back},j+{ahead}]*0.5"
    nest = Nest({"i": (back, rows), "j": columns - ahead}, text).tile({"i": tile, "j": tile})
    assert not nest.check()
    everywhere = Nest({"i": rows, "j": columns}, f"B[i+{back},j] = B[i,j+{ahead}]*0.5")
    tiled = everywhere.tile({"i": tile, "j": tile}).arrows(reassociate=False)
    guilty = {(one.second[1], one.first[1]) for one in tiled if not one.ok and one.kind == "flow"}
    assert (early, first) in guilty and (early, first) == min(guilty)


@pytest.mark.parametrize("distances", [[(1, -1)], [(1, -2), (2, -3)], [(0, 1), (3, -4)]])
def test_the_least_skew_is_the_least_with_which_tiles_are_legal(distances):
    factor = least_skew(distances)
    back = max(d for d, _ in distances)
    reads = " + ".join(f"A[i-{d},j+{-e}]" if e <= 0 else f"A[i-{d},j-{e}]" for d, e in distances)
    nest = Nest({"i": (back, back + 9), "j": (2, 14)}, f"A[i,j] = {reads}")

    def tiled(skew: int) -> bool:
        leaning = nest.skew("j", "i", skew) if skew else nest
        return all(leaning.tile({"i": t, "j": t}).check(reassociate=False).ok for t in (2, 3, 5))

    assert tiled(factor) and (factor == 0 or not tiled(factor - 1))


def test_no_schedule_of_a_product_passes_by_chance():
    """A vector of a whole line passes on every seed; that of half a line never does."""
    whole = lambda n: n.split("j", 16).reorder("i", "jo", "k", "ji").vectorize("ji")  # noqa: E731
    half = lambda n: n.split("j", 8).reorder("i", "jo", "k", "ji").vectorize("ji")  # noqa: E731
    outermost = lambda n: n.split("j", 8).reorder("k", "jo", "i", "ji").vectorize("ji")  # noqa: E731
    for seed in range(4):
        assert verdict("08-vectorise", whole, seed).passed, seed
        assert not verdict("08-vectorise", half, seed).passed, seed
        assert not verdict("08-vectorise", outermost, seed).passed, seed


def test_a_loop_of_the_case_is_no_foreign_word():
    said = verdict("08-innermost", lambda o, s, b: (o[-1][0], 0.1), 0)
    assert not said.passed and "words" not in repr(said)


def test_the_talks_loop_is_an_interchange():
    both = [(i, j) for i in range(10) for j in range(10)]
    talk = [(t % 10, t // 10) for t in range(100)]
    assert talk == sorted(both, key=lambda at: at[::-1]) and talk != both
    assert [(t // 10, t % 10) for t in range(100)] == both
    steps = [10 * (b[0] - a[0]) + b[1] - a[1] for a, b in zip(talk, talk[1:])]
    assert max(steps, key=steps.count) == 10


def test_eight_vectors_of_sums_keep_two_units_of_four_cycles_busy():
    """A core of Intel's Skylake or AMD's Zen 2: latency 4 or 5, two units, 8 lanes of fp32."""
    rates = [min(n / 4, 2) * 2 * 8 * 3e9 for n in range(1, 12)]
    assert inside(rates, 8, 3e9) == (4, 2, 8)


@pytest.mark.parametrize("cut", [int, math.ceil, round])
def test_a_gain_made_whole_never_passes_for_the_sums(cut):
    def answer(rates, lanes, hertz):
        latency, units = inside(rates, lanes, hertz)[:2]
        return latency, units, cut(max(rates) / rates[0])

    for seed in range(9):
        found = verdict("08-inside", answer, seed)
        assert not found.passed and "Multiply the latency by the units" in str(found), seed


def test_lanes_along_a_row_are_not_called_rows():
    """Eight of a coalesced loop are neighbours in j, though i stands in their index as well."""

    def answer(nest):
        return nest.coalesce("i", "j").split("ij", 8).interchange("iji", "k").vectorize("iji")

    assert "two rows of C" not in str(verdict("08-vectorise", answer, 0))
    rows = verdict("08-vectorise", lambda n: n.reorder("j", "k", "i").vectorize("i"), 0)
    assert "two rows of C" in str(rows)


COUNTED = {"ijk": 0.01, "ikj": 0.3, "jik": 0.01, "jki": 0.001, "kij": 0.25, "kji": 0.001}
ALIKE, OTHERWISE = dict.fromkeys(COUNTED, 0.1), COUNTED | {"ijk": 0.5}
FORMATS = ("fp32", "fp64", "fp8")  # of fp8, vectors of every processor hold more than 8 numbers
PLAIN, MAC = MACHINES["4 MB of L3"], MACHINES["M-series Mac"]
UNIT = "that of a matrix unit, which none of these loops uses."


def runs(shares: Mapping, on: Simulated = PLAIN, dtype: str = "fp32", warnings=()) -> tuple:
    """The product at these shares of what vector units can do, where there are any."""
    unit = "vector" if on.machine.has_peak(dtype, "vector") else None
    product, peak = rl.gemm(496, 496, 496, dtype, accumulate=True), on.machine.peak(dtype, unit)
    given = (product, on.machine.id, "cpu", "warm", 1)
    seconds = {name: product.flops / peak / share for name, share in shares.items()}
    return {
        name: Measurement(*given, (s,) * 3, warnings) for name, s in seconds.items()
    }, on.machine


TRIALS = {
    "08-orders": lambda on, rng: runs(
        {name: share * rng.uniform(0.9, 1.1)
         for name, share in rng.choice((COUNTED, ALIKE, OTHERWISE)).items()}, on),
    "08-rows": lambda on, rng: runs(
        {count: rng.choice((0.1, 0.5, 0.8, 1.2)) * rng.uniform(0.9, 1.1) for count in (1, 4, 8)},
        on, rng.choice([one for one in FORMATS if on.machine.has_peak(one)])),
}  # fmt: skip


@each_row(
    (32, "08-orders", runs(COUNTED), "as counted",
     ["ikj, is 300 times as fast as the slowest", "|---|---|---|---|\n| ikj |"], ["matrix unit"]),
    (32, "08-orders", runs(COUNTED, MAC), "as counted", [UNIT], []),
    (32, "08-orders", runs(ALIKE), "alike", ["the loops itself"], []),
    (32, "08-orders", runs(OTHERWISE), "otherwise", ["to slow, are k, j, j, k, i, i."], []),
    # The best number of rows need not be the largest.
    (64, "08-rows", runs({1: 0.1, 2: 0.2, 4: 0.8, 8: 0.5}), "sums help",
     ["With 4 rows at a time it is 8 times as fast", "80 % of the core's peak.", "| 1 row |"],
     ["lanes", "packing", "matrix unit"]),
    # Where there is a matrix unit, loops are compared with the vector units.
    (64, "08-rows", runs({1: 0.1, 8: 0.9}, MAC), "sums help",
     ["90 % of what the core's vector units can do", UNIT], ["lanes", "core's peak"]),
    (64, "08-rows", runs({1: 0.4, 8: 1.6}), "sums help",
     ["160 % of the core's peak. It cannot exceed 100 %", "another kind"], ["lanes"]),
    (32, "08-rows", runs({1: 0.3, 2: 0.3}, warnings=("busy",)), "alike", ["little", "busy"], []),
    # Lanes are named only where the core has more of them than the schedules fill.
    (64, "08-rows", runs({1: 0.1, 8: 0.5}), "sums help", ["packing. It may be", "has 16"], []),
    (32, "08-rows", runs({1: 0.1, 8: 0.5}), "sums help", ["tiles or packing."], ["lanes"]),
    (16, "08-rows", runs({1: 0.1, 8: 0.5}), "sums help", ["tiles or packing."], ["lanes"]),
)  # fmt: skip
def test_what_is_said_and_what_is_not(width, name, given, case, words, never, monkeypatch):
    """``width``: bytes of the core's vectors."""
    host = "rooflab.course.lesson08.sentences.host"
    monkeypatch.setattr(host, lambda: Target(width, chains=12, fused=True))
    assert not unsaid(conclude(name, *given), case, words, never)
