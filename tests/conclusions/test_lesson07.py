"""The sentences of lesson 07: loops of simulated machines, with gains put where we want them."""

from __future__ import annotations

from dataclasses import replace

import rooflab as rl
from rooflab.conclusions import conclude
from rooflab.conclusions.lesson07 import column_sets
from rooflab.labs.cache.two_costs import TurnCost
from rooflab.measure.measurement import Measurement
from tests.conclusions.machines import MACHINES, Simulated, Trial, faults
from tests.support.rows import each_row

EVERYWHERE = tuple(MACHINES)
L1 = rl.cache.Cache("L1", 48 << 10, ways=12)
PRODUCT = rl.gemm(800, 800, 800, accumulate=True)


def run(on: Simulated, share: float, warnings: tuple[str, ...] = ()) -> Measurement:
    """The product at this share of the peak."""
    seconds = PRODUCT.flops / float(on.machine.peak("fp32")) / share
    found = on.clock(PRODUCT, cache="warm", warnings=warnings)
    return replace(found, samples=(seconds,) * 3)


def ways(on: Simulated, *shares: float) -> dict[str, Measurement]:
    """No tile, two tiles, the two with j inside, the library, each at a share of the peak."""
    names = ("no tile", "T = 40", "T = 80", "T = 40, j inside", "T = 80, j inside", "library")
    return {name: run(on, share) for name, share in zip(names, shares, strict=True)}


TABLE: dict[str, Trial] = {
    "07-textbook": (
        lambda on: (run(on, 0.01), run(on, 0.8), on.machine), dict.fromkeys(EVERYWHERE, "far"),
    ),
    "07-tiles": (
        lambda on: (ways(on, 0.01, 0.02, 0.018, 0.1, 0.2, 0.8), on.machine),
        dict.fromkeys(EVERYWHERE, "tiles help, order helps"),
    ),
    "07-unseen": (
        lambda on: ({640: (1.0, 0.1), 800: (2.0, 0.2)}, {640: (1.1, 0.1), 800: (2.0, 0.21)},
                    TurnCost(0.5e-9, 2e-12), L1),
        dict.fromkeys(EVERYWHERE, "near"),
    ),
}  # fmt: skip


def test_every_machine_gets_its_sentence():
    assert faults("07", TABLE) == []


@each_row(
    ((0.02, 0.02, 0.02, 0.2, 0.2, 0.8), "tiles do not help, order helps", "bring nothing here"),
    ((0.01, 0.1, 0.1, 0.1, 0.1, 0.8), "tiles help, order does not", "That is unusual"),
    ((0.1, 0.1, 0.1, 0.1, 0.1, 0.1), "tiles do not help, order does not", "as the library"),
    ((0.02, 0.01, 0.009, 0.2, 0.2, 0.8), "tiles do not help, order helps",
     "the best of them, T = 40, takes 2 times as long as the loops without tiles."),
    ((0.02, 0.04, 0.04, 0.3, 0.3, 0.1), "tiles help, order helps",
     "inside is 3 times as fast as the library: NumPy here may have a simple one."),
)  # fmt: skip
def test_what_helps_is_what_is_said_to_help(shares, case, words):
    on = MACHINES["hybrid laptop"]
    found = conclude("07-tiles", ways(on, *shares), on.machine)
    assert found.case == case and words in found.text


def test_a_compiler_that_turned_the_loops_round_is_thought_of():
    on = MACHINES["4 MB of L3"]
    found = conclude("07-textbook", run(on, 0.5), run(on, 0.8), on.machine)
    assert found.case == "alike" and "turned the loops round" in found.text


def test_shares_of_the_peak_are_told_and_so_are_warnings():
    on = MACHINES["300 MB of L3"]
    found = conclude("07-textbook", run(on, 0.01, ("busy",)), run(on, 0.8), on.machine)
    assert "reaches 80 %" in found.text and "busy" in found.text
    assert "80 times as fast" in found.text


def test_a_prediction_that_misses_says_by_how_much_and_what_it_may_be():
    cost = TurnCost(0.5e-9, 2e-12)
    found = conclude("07-unseen", {640: (1.0, 0.1)}, {640: (2.0, 0.1)}, cost, L1)
    assert found.case == "off" and "a factor of 2." in found.text and "×10 | ×20" in found.text
    near = conclude("07-unseen", {640: (1.0, 0.1)}, {640: (1.25, 0.1)}, cost, L1)
    assert near.case == "near" and "0.5 ns" in near.text
    assert "64 bytes that are fetched cost 0.13 ns more" in near.text


def test_bytes_whose_cost_was_fitted_as_nothing_are_said_to_cost_nothing():
    free = TurnCost(0.5e-9, 0.0)
    found = conclude("07-unseen", {640: (1.0, 0.1)}, {640: (1.0, 0.1)}, free, L1)
    assert "bytes cost nothing that could be seen" in found.text and "0 ns" not in found.text


def test_a_size_whose_column_lies_in_few_sets_is_told_apart():
    """2560 bytes are 40 lines, so a column lies in every eighth set; 2880 are 45, so in all."""
    assert [column_sets(N, L1) for N in (640, 720, 800, 960, 1024)] == [8, 64, 32, 16, 1]
    cost = TurnCost(0.5e-9, 2e-12)
    predicted = dict.fromkeys((640, 720, 960), (1.0, 0.1))
    found = conclude("07-unseen", predicted, {**predicted, 640: (1.5, 0.1)}, cost, L1)
    assert found.case == "near but for one"
    assert (
        "For N = 640 the prediction is off by a factor of 1.5; for all others by 1 at most."
        in found.text
    )
    assert "in 8 of the 64 sets of the simulated cache" in found.text
    assert "do not know what so few sets cost besides" in found.text
    other = conclude("07-unseen", predicted, {**predicted, 960: (1.5, 0.1)}, cost, L1)
    assert other.case == "off"


@each_row((1.5, "took longer there than"), (0.5, "took less time there than"))
@each_row(L1, rl.cache.Cache("L1", 128 << 10, ways=8))
def test_few_sets_are_not_said_to_cost_what_nobody_knows(cache, plain_s, words):
    """At 720 a cache of 128 KiB moves 4 bytes a turn, at 640 it moves 65: more, not as many."""
    predicted = dict.fromkeys((640, 720, 800, 960), (1.0, 0.1))
    cost = TurnCost(1e-9, 1e-12)
    found = conclude("07-unseen", predicted, {**predicted, 640: (plain_s, 0.1)}, cost, cache)
    assert found.case == "near but for one" and words in found.text
    assert "no more bytes" not in found.text and "a miss" not in found.text


def test_few_sets_are_no_reason_where_only_the_loops_with_tiles_are_off():
    predicted = dict.fromkeys((640, 720, 960), (1.0, 0.1))
    cost = TurnCost(1e-9, 1e-12)
    found = conclude("07-unseen", predicted, {**predicted, 640: (1.0, 0.2)}, cost, L1)
    assert found.case == "off" and "sets" not in found.text
