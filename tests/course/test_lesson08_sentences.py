"""The sentences of lesson 08: loops of simulated machines, and facts that they must say."""

from __future__ import annotations

from collections.abc import Mapping

import rooflab as rl
from rooflab.exercises.sentences import conclude
from rooflab.measure.measurement import Measurement
from rooflab.measure.roof_kernels import Target
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.support.rows import each_row

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
    (32, "08-orders", runs(ALIKE), "alike", ["by itself"], []),
    (32, "08-orders", runs(OTHERWISE), "otherwise", ["to slow, are k, j, j, k, i, i."], []),
    # The best number of rows need not be the largest.
    (64, "08-rows", runs({1: 0.1, 2: 0.2, 4: 0.8, 8: 0.5}), "sums help",
     ["With 4 rows at a time it is 8 times as fast", "80 % of the core's peak.", "| 1 row |"],
     ["lanes", "packing", "matrix unit"]),
    # Where there is a matrix unit, loops are compared with the vector units.
    (64, "08-rows", runs({1: 0.1, 8: 0.9}, MAC), "sums help",
     ["90 % of what the core's vector units can do", UNIT], ["lanes", "core's peak"]),
    (64, "08-rows", runs({1: 0.4, 8: 1.6}), "sums help",
     ["160 % of the core's peak. It cannot be more than all", "another kind"], ["lanes"]),
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
