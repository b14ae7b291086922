"""The sentences of lesson 07: loops of simulated machines, and facts that they must say."""

from __future__ import annotations

import rooflab as rl
from rooflab.course.lesson07.sentences import column_sets
from rooflab.exercises.sentences import conclude
from rooflab.labs.cache.two_costs import TurnCost
from rooflab.measure.measurement import Measurement
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.support.rows import each_row

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


def unseen(odd: dict, byte_s: float = 2e-12, cache=L1, sizes: tuple[int, ...] = SIZES) -> tuple:
    """Predictions, and what was measured: as predicted, but for ``odd``, seconds by N."""
    predicted = dict.fromkeys(sizes, (1.0, 0.1))
    return predicted, predicted | odd, TurnCost(0.5e-9, byte_s), cache


TRIALS = {
    "07-textbook": lambda on, rng: textbook(rng.choice((0.01, 0.4)), rng.uniform(0.4, 0.9), on),
    "07-tiles": lambda on, rng: tiles(*rng.choices((0.02, 0.021, 0.1, 0.3), k=6), on=on),
    "07-unseen": lambda on, rng: unseen(
        {N: (rng.uniform(0.95, 1.05), 0.1 * rng.uniform(0.95, 1.05)) for N in SIZES}
        | {rng.choice((640, 640, 960)): (rng.choice((0.5, 1, 1.5)), rng.choice((0.1, 0.15)))},
        rng.choice((0, 2e-12)), rng.choice((L1, WIDE))),
}  # fmt: skip


def test_a_column_of_many_sizes_lies_in_few_sets():
    """2560 bytes are 40 lines, so a column lies in every eighth set; 2880 are 45, so in all."""
    assert [column_sets(N, L1) for N in (640, 720, 800, 960, 1024)] == [8, 64, 32, 16, 1]


@each_row(
    ("07-textbook", textbook(0.5, 0.8), "alike", ["turned the loops round"], []),
    ("07-textbook", textbook(0.01, 0.8, warnings=("busy",)), "far",
     ["80 times as fast", "reaches 80 %", "reach 1 %", "busy"], []),
    ("07-tiles", tiles(0.01, 0.02, 0.018, 0.1, 0.2, 0.8), "tiles help, order helps",
     ["best tile, T = 40, makes the same loops 2 times", "them is 10 times", "still 4 times"], []),
    ("07-tiles", tiles(0.02, 0.02, 0.02, 0.2, 0.2, 0.8), "tiles do not help, order helps",
     ["bring nothing here"], []),
    ("07-tiles", tiles(0.02, 0.01, 0.009, 0.1, 0.1, 0.1), "tiles do not help, order helps",
     ["the best of them, T = 40, takes 2 times as long", "is as fast as the library."], []),
    ("07-tiles", tiles(0.02, 0.3, 0.3, 0.3, 0.3, 0.1), "tiles help, order does not",
     ["inside is 3 times as fast as the library: NumPy here may have a simple one."], []),
    ("07-unseen", unseen({640: (2.0, 0.1)}, sizes=(640,)), "off",
     ["a factor of 2.", "×10 | ×20"], []),
    ("07-unseen", unseen({640: (1.25, 0.1)}), "near",
     ["factor of 1.25 at most", "0.5 ns", "64 bytes that are fetched cost 0.13 ns more"], []),
    ("07-unseen", unseen({}, 0.0), "near", ["bytes cost nothing that could be seen"], ["0 ns"]),
    # No other size has a column in as few sets as 640.
    ("07-unseen", unseen({640: (1.5, 0.1)}), "near but for one",
     ["For N = 640 the prediction is off by a factor of 1.5; for all others by 1 at most.",
      "in 8 of the 64 sets", "do not know what so few sets cost", "took longer there than"], []),
    ("07-unseen", unseen({960: (1.5, 0.1)}), "off", [], ["sets"]),
    # At 720 a cache of 128 KiB moves 4 bytes a turn, at 640 it moves 65: more, not as many.
    ("07-unseen", unseen({640: (0.5, 0.1)}, cache=WIDE), "near but for one",
     ["took less time there than"], ["no more bytes", "a miss"]),
    # Sets are no reason where only the loops with tiles are off.
    ("07-unseen", unseen({640: (1.0, 0.2)}), "off", [], ["sets"]),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(name, *given), case, words, never)
