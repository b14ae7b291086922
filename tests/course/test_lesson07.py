"""Facts of lesson 07, its exercises and its sentences."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.count import gemm
from rooflab.course.lesson07.sentences import column_sets
from rooflab.exercises.registry import exercise, lesson
from rooflab.exercises.sentences import conclude
from rooflab.labs.cache.two_costs import TurnCost
from rooflab.measure.measurement import Measurement
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.course.verdicts import answer, refused
from tests.support.rows import each_row

SEEDS = range(30)


def by_stack_distance(lines, capacity):
    """07-lru by Mattson: a touch misses if `capacity` other lines were touched since the last."""
    missed, last = 0, {}
    for now, line in enumerate(lines):
        others = set(lines[last[line] + 1 : now]) if line in last else range(capacity)
        missed, last[line] = missed + (len(others) >= capacity), now
    return missed


def by_mask(rows, row_bytes, line, sets, ways):
    """07-column from the bits of a mask: a row marks the line that it begins in."""
    mask = [False] * (rows * row_bytes // line + sets)
    for row in range(rows):
        mask[row * row_bytes // line] = True
    fallen = [sum(mask[place::sets]) for place in range(sets)]
    return sum(map(bool, fallen)), sum(min(ways, count) for count in fallen)


OTHER_WAYS = {
    "07-lru": by_stack_distance,
    "07-tiles": lambda m, n, k, p, q, s: m * n * s * (k / p + k / q + 1),
    "07-claim-thousand": lambda n, t: (t, t * (2 * n + 1) / (2 * n + t)),
    "07-fits": lambda n, c, s, f: next(
        n // d for d in range(1, n + 1) if n % d == 0 and (n // d) ** 2 * s * f <= c
    ),
    "07-column": by_mask,
}  # fmt: skip


def test_other_algebra_is_accepted():
    assert not refused(OTHER_WAYS, SEEDS)


def test_every_exercise_but_the_words_has_another_way():
    assert {e.id for e in lesson("07")} - set(OTHER_WAYS) == {"07-claim-forty"}


def test_four_hundredths_are_compulsory_traffic_and_four_is_none_kept():
    """100×100 two-byte matrices: 4 accesses for 2 FLOPs before; A, B, C in and C out after."""
    flops = gemm(100, 100, 100, "bf16").flops
    assert 4 * 2 * 100**3 / flops == 4.0
    assert gemm(100, 100, 100, "bf16", accumulate=True).bytes / flops == 0.04
    assert gemm(100, 100, 100, "bf16").bytes / flops == 0.03
    assert 2 * 2 * 100**3 / flops == 2.0 and 3 * 2 * 100**3 / flops == 3.0
    for t, carried in ((10, 0.2), (25, 0.08)):  # A and B alone
        assert 2 * 100**3 / t * 2 / flops == pytest.approx(carried)


def test_a_tile_of_1024_results_saves_a_factor_of_32():
    assert answer("07-claim-thousand")(3200, 32)[0] == 32


def test_a_tile_as_large_as_the_matrix_is_the_minimum():
    for m, n, k in ((120, 80, 50), (7, 3, 1000), (1, 1, 1)):
        assert answer("07-tiles")(m, n, k, m, n, 4) == gemm(m, n, k).bytes


def test_lru_is_not_first_in_first_out():
    """Touching 1 keeps it: 1 2 1 3 1 misses 3 times with room for two, first in first out 4."""
    assert answer("07-lru")([1, 2, 1, 3, 1], 2) == 3
    (fifo,) = (m for m in exercise("07-lru").misconceptions if m.name == "first in, first out")
    assert fifo.wrong([1, 2, 1, 3, 1], 2) == 4


def test_a_cyclic_walk_one_line_too_long_never_hits():
    assert answer("07-lru")([*range(9)] * 5, 8) == 45
    assert answer("07-lru")([*range(8)] * 5, 8) == 8


def test_a_column_of_a_power_of_two_falls_into_few_sets():
    """32 KiB, 8 ways, 64 sets: rows of 4096 bytes all begin in one set, and 8 of them stay."""
    assert answer("07-column")(100, 4096, 64, 64, 8) == (1, 8)
    assert answer("07-column")(100, 4096 + 64, 64, 64, 8) == (64, 100)
    assert answer("07-column")(8, 16, 64, 64, 8) == (2, 2)  # four rows lie in a line


L1, WIDE = rl.cache.Cache("L1", 48 << 10, ways=12), rl.cache.Cache("L1", 128 << 10, ways=8)
PRODUCT = rl.gemm(800, 800, 800, accumulate=True)
WAYS = ("no tile", "T = 40", "T = 80", "T = 40, j inside", "T = 80, j inside", "library")
SIZES = (640, 720, 800, 960)
LAPTOP = MACHINES["hybrid laptop"]


def textbook(slow: float, fast: float, on: Simulated = LAPTOP, warnings=()) -> tuple:
    """The loops and the library, each at this share of the peak."""
    seconds = (PRODUCT.flops / float(on.machine.peak("fp32")) / share for share in (slow, fast))
    given = (PRODUCT, on.machine.id, "cpu", "warm", 1)
    return *(Measurement(*given, (one,) * 3, warnings) for one in seconds), on.machine


def tiles(*shares: float, on: Simulated = LAPTOP) -> tuple:
    """The WAYS, each at a share of the peak."""
    return {
        way: textbook(1, share, on)[1] for way, share in zip(WAYS, shares, strict=True)
    }, on.machine


def unseen(odd: dict, byte_s=2e-12, cache=L1, sizes=SIZES, turn_s=0.5e-9) -> tuple:
    """Predictions, and what was measured: as predicted, but for ``odd``, seconds by N."""
    predicted = dict.fromkeys(sizes, (1.0, 0.1))
    return predicted, predicted | odd, TurnCost(turn_s, byte_s), cache


TRIALS = {
    "07-textbook": lambda on, rng: textbook(rng.choice((0.01, 0.4)), rng.uniform(0.4, 1.2), on),
    "07-tiles": lambda on, rng: tiles(*rng.choices((0.02, 0.021, 0.1, 0.3, 1.1), k=6), on=on),
    "07-unseen": lambda on, rng: unseen(
        {N: (rng.uniform(0.95, 1.05), 0.1 * rng.uniform(0.95, 1.05)) for N in SIZES}
        | {rng.choice((640, 640, 960)): (rng.choice((0.5, 1, 1.5)), rng.choice((0.1, 0.15)))},
        *rng.choice(((0, L1, SIZES), (2e-12, L1, SIZES), (2e-12, WIDE, SIZES, 0.0)))),
}  # fmt: skip


def test_a_column_of_many_sizes_lies_in_few_sets():
    """2560 bytes are 40 lines, so a column lies in every eighth set; 2880 are 45, so in all."""
    assert [column_sets(N, L1) for N in (640, 720, 800, 960, 1024)] == [8, 64, 32, 16, 1]


@each_row(
    ("07-textbook", textbook(0.5, 0.8), "alike", ["reordered the loops"], []),
    ("07-textbook", textbook(0.01, 0.8, warnings=("busy",)), "far",
     ["80 times as fast", "reaches 80 %", "reach 1 %", "busy"], []),
    ("07-textbook", textbook(0.01, 2.13), "far", ["213 %", "More than the peak cannot be."], []),
    ("07-tiles", tiles(0.01, 0.02, 0.018, 0.1, 0.2, 0.8), "tiles help, order helps",
     ["best tile, T = 40, makes the same loops 2 times", "tile is 10 times", "still 4 times"], []),
    ("07-tiles", tiles(0.02, 0.02, 0.02, 0.2, 0.2, 0.8), "tiles do not help, order helps",
     ["gain nothing here"], []),
    ("07-tiles", tiles(0.02, 0.01, 0.009, 0.1, 0.1, 0.1), "tiles do not help, order helps",
     ["the best of them, T = 40, takes 2 times as long", "is as fast as the library."], []),
    ("07-tiles", tiles(0.02, 0.3, 0.3, 0.3, 0.3, 0.1), "tiles help, order does not",
     ["inside is 3 times as fast as the library."], []),
    ("07-unseen", unseen({640: (2.0, 0.1)}, sizes=(640,)), "off",
     ["a factor of 2.", "×10 | ×20"], []),
    ("07-unseen", unseen({640: (1.25, 0.1)}), "near",
     ["factor of 1.25 at most", "0.5 ns", "64 bytes that are fetched cost 0.13 ns more"], []),
    ("07-unseen", unseen({}, 0.0), "near", ["bytes cost nothing measurable"], ["0 ns"]),
    ("07-unseen", unseen({}, turn_s=0.0), "near", ["turns cost nothing measurable"], ["0 ns"]),
    # No other size has a column in as few sets as 640.
    ("07-unseen", unseen({640: (1.5, 0.1)}), "near but for one",
     ["For N = 640 the prediction is off by a factor of 1.5; for all others by 1 at most.",
      "in only 8 of the 64 sets", "not what so few sets cost", "took longer there than"], []),
    ("07-unseen", unseen({960: (1.5, 0.1)}), "off", [], ["sets"]),
    # At 720 a cache of 128 KiB moves 4 bytes a turn, at 640 it moves 65: more, not as many.
    ("07-unseen", unseen({640: (0.5, 0.1)}, cache=WIDE), "near but for one",
     ["took less time there than"], ["no more bytes", "a miss"]),
    # Sets are no reason where only the loops with tiles are off.
    ("07-unseen", unseen({640: (1.0, 0.2)}), "off", [], ["sets"]),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(name, *given), case, words, never)
