"""Sentences of lesson 03 on simulated machines: each machine gets the one that is true of it."""

from __future__ import annotations

from dataclasses import replace

import rooflab as rl
from rooflab.conclusions import conclude
from rooflab.measure.measurement import Measurement
from rooflab.predict.machine import Machine
from tests.conclusions.machines import MACHINES, Simulated, core, faults
from tests.support.rows import each_row

H200 = rl.machine("h200-sxm")


def ten(sim: Simulated) -> list[Measurement]:
    """The ten operations of the lesson, on the simulated clock."""
    warm = [rl.axpy(256), rl.axpy(20_000), rl.gemv(32, 32), rl.gemv(1024, 1024)]
    warm += [rl.gemm(8, 8, 8), rl.gemm(256, 256, 256)]
    cold = [rl.axpy(max(2**24, sim.last_level // 2)), rl.gemv(4096, 4096)]
    cold += [rl.gemm(1024, 1024, 1024), rl.gemv(2048, 2048, batch=64, shared=("a",))]
    if sim.machine.kind == "gpu":  # no bandwidth of its caches is known
        return [sim.clock(op) for op in warm + cold]
    return [sim.clock(op, cache="warm") for op in warm] + [sim.clock(op) for op in cold]


def on(*cases: str) -> dict[str, str]:
    return dict(zip(MACHINES, cases, strict=True))


TABLE = {
    "03-bounds": (
        # half of a matrix of 4.2 MB stays in 4 MB of L3, and it is near the bound of memory all
        # the same
        lambda sim: (ten(sim), sim.machine),
        on("roof+cache", "roof+cache", "roof+chance+cache", "roof+cache", "roof"),
    ),
    "03-slopes": (lambda sim: (sim.machine,), on(*["both directions"] * 4, "one slope")),
    "03-thumb": (
        lambda sim: (sim.machine, H200),
        on("below 4", "below 4", "between", "above 8", "above 8"),
    ),
    "03-pairs": (lambda sim: (ten(sim), sim.machine), on(*["other limits"] * 4, "none")),
}


def test_every_machine_gets_its_sentence():
    assert faults("03", TABLE) == []


CALLS = {
    f"{routine}/fp32": {"overhead_s": 3e-7, "cold_overhead_s": 2e-6, "points": []}
    for routine in ("axpy", "gemv", "gemm")
}


def timed(sim: Simulated, op: rl.Operation, factor: float, cache: str = "cold") -> Measurement:
    """``op`` at its roof, times ``factor``."""
    measured = sim.clock(op, cache=cache, share=1.0)
    return replace(measured, samples=tuple(factor * s for s in measured.samples))


@each_row(
    (rl.gemm(8, 8, 8), "warm", 40.0, "call", "Most of their time is the call"),
    (rl.axpy(256), "warm", 30.0, "call", "says nothing"),
    (rl.gemv(4096, 4096), "cold", 2.5, "unexplained", "nobody knows why"),
    (rl.gemm(1024, 1024, 1024), "cold", 0.1, "faster unit", "Apple's matrix unit"),
    (rl.gemv(4096, 4096), "cold", 0.6, "busy roof", "measured in a busier moment"),
    (rl.gemv(4096, 4096), "warm", 0.6, "busy roof", "No memory is faster than itself"),
    (rl.axpy(20_000), "warm", 1.0, "cache", "it is steeper"),
    (rl.gemv(4096, 4096), "cold", 1.1, "roof", "what stops them"),
)
def test_every_distance_from_the_bound_gets_its_own_reason(op, cache, factor, case, words) -> None:
    sim = MACHINES["4 MB of L3"]
    here = replace(sim.machine, routines=CALLS)
    found = conclude("03-bounds", [timed(sim, op, factor, cache)], here)
    assert found.case == case, found.text
    assert words in found.text and op.label in found.text


def beside(sim: Simulated, op: rl.Operation, ratio: float) -> Measurement:
    """``op``, warm, at ``ratio`` times the bound of its own mix from the main memory."""
    at_roof, measured = timed(sim, op, 1.0), timed(sim, op, 1.0, "warm")
    return replace(measured, samples=tuple(ratio * s for s in at_roof.samples))


@each_row(("hybrid laptop", rl.gemv(1024, 1024)), ("4 MB of L3", rl.gemm(32, 32, 32, "fp64")))
def test_memorys_roof_is_not_blamed_for_what_never_went_there(on, op) -> None:
    """A warm GEMV of 4.2 MB at 0.95 of the bound of memory, and a product that fits the L1."""
    found = conclude("03-bounds", [beside(MACHINES[on], op, 0.95)], MACHINES[on].machine)
    assert found.case == "chance" and "came from a cache" in found.text
    assert "what stops them" in found.text and "The roof is" not in found.text


def test_a_product_in_a_cache_is_stopped_by_its_flat_roof() -> None:
    """Right of the ridge it is the peak that counts, wherever the operands are."""
    sim, op = MACHINES["300 MB of L3"], rl.gemm(256, 256, 256)
    assert conclude("03-bounds", [timed(sim, op, 1.1, "warm")], sim.machine).case == "roof"


def test_what_is_half_in_a_cache_is_not_said_never_to_have_gone_to_memory() -> None:
    """4.2 MB and an L3 of 4 MiB, so about half is taken to stay.

    At 0.6 of the bound a cache explains it, at 0.3 it does not.
    """
    sim, op = MACHINES["4 MB of L3"], rl.gemv(1024, 1024)
    half = conclude("03-bounds", [beside(sim, op, 0.6)], sim.machine)
    assert half.case == "cache" and "at least in part" in half.text and "never" not in half.text
    assert conclude("03-bounds", [beside(sim, op, 0.3)], sim.machine).case == "busy roof"


def test_the_routine_is_blamed_only_where_its_own_calibration_says_so() -> None:
    """What is slow beside a routine known to be slow is the routine's; the mix is never."""
    sim, op = MACHINES["4 MB of L3"], rl.gemv(4096, 4096)
    slow = {"points": [{"bytes": op.bytes, "flops": op.flops, "efficiency": 0.4, "level": "dram"}]}
    known = replace(sim.machine, routines={**CALLS, "gemv/fp32": {**CALLS["gemv/fp32"], **slow}})
    one = timed(sim, op, 2.5)
    share = rl.predict(op, known).seconds / rl.predict(op, sim.machine).seconds
    assert share > 2, "the calibration is used"
    assert conclude("03-bounds", [one], known).case == "routine"
    assert conclude("03-bounds", [one], replace(sim.machine, routines=CALLS)).case == "unexplained"


def test_a_matrix_unit_whose_peak_was_measured_is_no_surprise() -> None:
    """The Mac's products run at ten times the peak of its core: near the roof of that unit."""
    sim, op = MACHINES["M-series Mac"], rl.gemm(1024, 1024, 1024)
    assert conclude("03-bounds", [timed(sim, op, 1.1)], sim.machine).case == "roof"
    vector = {key: value for key, value in sim.machine.peaks.items() if "tensor" not in key}
    blind = replace(sim.machine, peaks=vector)
    found = conclude("03-bounds", [timed(sim, op, 1.1)], blind)
    assert found.case == "faster unit" and "×0.11" in found.text


def test_a_bound_is_drawn_with_the_mix_of_its_operation() -> None:
    """At its own roof AXPY is at 1, though the best mix is faster by 26 to 22."""
    sim = MACHINES["hybrid laptop"]
    one = timed(sim, rl.axpy(2**24), 1.0)
    assert one.median_s / rl.Roofline(sim.machine, "fp32", mix="best").time(one.op) > 1.15
    assert f"{one.op.label}, ×1." in conclude("03-bounds", [one], sim.machine).text


def test_a_doubtful_time_carries_its_sign_and_its_warning() -> None:
    sim = MACHINES["4 MB of L3"]
    one = replace(timed(sim, rl.gemv(4096, 4096), 1.1), warnings=("noisy: made up",))
    text = conclude("03-bounds", [one], sim.machine).text
    assert "⚠" in text and text.endswith(f"\n\n*Warning: {one.op.label}: noisy: made up.*")


def test_a_doubtful_pair_tells_its_warning_once() -> None:
    sim = MACHINES["4 MB of L3"]
    slow = [timed(sim, rl.gemv(n, n), 50.0) for n in (2000, 3000)]
    fast = replace(timed(sim, rl.axpy(2**20), 1.0), warnings=("noisy: made up",))
    text = conclude("03-pairs", [*slow, fast], sim.machine).text
    assert text.count("⚠") == 2 and text.count("*Warning:") == 1
    assert text.endswith(f"*Warning: {fast.op.label}: noisy: made up.*")
    none = conclude("03-pairs", [fast], sim.machine)
    assert none.case == "none" and none.text.endswith(": noisy: made up.*")


def test_both_slopes_and_both_ridges_are_said() -> None:
    """61 GFLOP/s over 18 GB/s of reading and 26 GB/s of an update in place."""
    text = conclude("03-slopes", MACHINES["hybrid laptop"].machine).text
    assert all(each in text for each in ("18.0 GB/s", "26.0 GB/s", "3.39", "2.35"))


def test_more_than_both_directions_can_give_is_doubted() -> None:
    here = core(
        "odd", peaks={"fp32": 1e11}, dram=(8e9, 20e9, 20e9, 26e9), caches={"l1": (32768, 2e11)}
    )
    found = conclude("03-slopes", here)
    assert found.case == "one is wrong" and "refresh=True" in found.text


def test_memory_that_likes_no_mix_better_has_one_slope() -> None:
    here = core("alike", peaks={"fp32": 1e11}, dram=(2e10,) * 4, caches={"l1": (32768, 2e11)})
    assert conclude("03-slopes", here).case == "one slope"


@each_row((26e9, "below 4"), (15e9, "between"), (10e9, "above 8"))
def test_the_thumb_rule_is_judged_by_the_cores_own_ridge(read, case) -> None:
    here = Machine("x", peaks={"fp32": 9e10}, bandwidths=read, capacities=16e9)
    found = conclude("03-thumb", here, H200)
    assert found.case == case and "206 FLOP/byte" in found.text


def test_a_pair_under_one_limit_is_counted_as_such() -> None:
    sim = MACHINES["4 MB of L3"]
    fast, slow = timed(sim, rl.axpy(2**24), 1.0), timed(sim, rl.gemv(4096, 4096), 9.0)
    found = conclude("03-pairs", [fast, slow], sim.machine)
    assert found.case == "same limit" and "In this pair the model names" in found.text
    assert "| memory, DRAM |" in found.text


def test_many_pairs_are_counted_and_few_are_shown() -> None:
    sim = MACHINES["4 MB of L3"]
    slow = [timed(sim, rl.gemv(n, n), 50.0) for n in (2000, 3000, 4000)]
    fast = [timed(sim, rl.axpy(2**20 + n), 1.0) for n in range(3)]
    text = conclude("03-pairs", [*slow, *fast], sim.machine).text
    assert text.count("gemv") == 6 and "and 3 more." in text and "In 9 of these 9 pairs" in text


def test_pairs_under_one_limit_are_marked_and_come_first() -> None:
    """A cold GEMV is slower than AXPY from memory, under one limit, and than AXPY in a cache."""
    sim = MACHINES["4 MB of L3"]
    near, far = timed(sim, rl.axpy(1000), 1.0, "warm"), timed(sim, rl.axpy(2**24), 1.0)
    text = conclude("03-pairs", [near, far, timed(sim, rl.gemv(4096, 4096), 9.0)], sim.machine).text
    first, second = (row for row in text.splitlines() if row.startswith("| gemv"))
    assert far.op.label in first and first.endswith("| memory, DRAM |")
    assert near.op.label in second and second.endswith("|  |")
    assert "In 1 of these 2 pairs" in text
    other = conclude("03-pairs", [near, timed(sim, rl.gemv(4096, 4096), 9.0)], sim.machine)
    assert other.case == "other limits" and "two different limits" in other.text
