"""The estimate: the bound plus what a roofline leaves out, one listed stage at a time."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.predict.estimate import efficiency, homes, mix_of, overhead, routine, smallest
from rooflab.predict.machine import Figure, Machine
from tests.support.rows import each_row

LEVELS = {"l1": 32 << 10, "l2": 1 << 20, "l3": 32 << 20, "dram": 16 << 30}
RATES = {"l1": 4e11, "l2": 2e11, "l3": 1e11, "dram": 2.5e10}


def computer(routines: dict | None = None) -> Machine:
    """One core with round figures, so that every time can be worked out by hand."""
    mixes = ("read", "axpy", "copy", "update")
    return Machine(
        id="core", name="one core", kind="cpu", origin="measured", threads=1,
        recorded_on="2026-01-02T03:04:05Z", peaks={"fp32": Figure(1e11, unit="vector")},
        bandwidths={lv: {mix: Figure(rate) for mix in mixes} for lv, rate in RATES.items()},
        capacities=LEVELS, routines=routines or {},
    )  # fmt: skip


def known(name: str, points: list[dict], call: float = 1e-6, cold: float = 5e-6) -> dict:
    return {f"{name}/fp32": {"overhead_s": call, "cold_overhead_s": cold, "points": points}}


CALIBRATED = computer(
    known("axpy", [{"level": "l2", "efficiency": 0.5}, {"level": "dram", "efficiency": 0.8}])
    | known("gemm", [{"smallest": 10, "efficiency": 0.4}, {"smallest": 1000, "efficiency": 0.8}])
    | known("gemm-thin", [{"smallest": 1, "efficiency": 0.1}])
)


def test_a_cold_axpy_without_calibration_takes_its_bytes_over_the_bandwidth():
    op = rl.axpy(1_000_000)
    prediction = rl.predict(op, computer(), cache="cold")
    assert float(prediction) == pytest.approx(op.bytes / RATES["dram"])
    assert (prediction.limit, prediction.level) == ("memory:dram", "dram")


def test_warm_operands_come_from_the_cache_that_holds_them():
    op = rl.axpy(1000)  # 8 kB of vectors, in half of l1
    prediction = rl.predict(op, computer(), cache="warm")
    assert float(prediction) == pytest.approx(op.bytes / RATES["l1"])
    assert prediction.limit == "memory:l1"
    assert prediction.bound == pytest.approx(op.bytes / RATES["dram"])


def test_a_large_product_is_limited_by_computing():
    op = rl.gemm(2000, 2000, 2000)
    prediction = rl.predict(op, computer(), cache="cold")
    assert float(prediction) == pytest.approx(op.flops / 1e11)
    assert prediction.limit == "compute"


def test_a_tiny_call_is_limited_by_its_overhead():
    prediction = rl.predict(rl.axpy(8), CALIBRATED, cache="warm")
    assert prediction.limit == "overhead"
    assert float(prediction) == pytest.approx(1e-6, rel=0.01)


def test_a_cold_call_costs_more_than_a_warm_one():
    op = rl.axpy(8)
    assert overhead(op, CALIBRATED, "cold") == 5e-6
    assert float(rl.predict(op, CALIBRATED)) > float(rl.predict(op, CALIBRATED, cache="warm"))


def test_every_part_of_a_calibrated_estimate_is_in_the_terms():
    op = rl.axpy(60_000)  # 480 kB, in half of l2
    names = [t.name for t in rl.predict(op, CALIBRATED, cache="warm").terms]
    assert names == ["roofline bound", "level and mix", "call overhead", "routine efficiency"]
    seconds = [t.seconds for t in rl.predict(op, CALIBRATED, cache="warm").terms]
    in_l2 = op.bytes / RATES["l2"]
    expected = [op.bytes / RATES["dram"], in_l2, in_l2 + 1e-6, in_l2 / 0.5 + 1e-6]
    assert seconds == pytest.approx(expected)


def test_a_level_without_a_point_takes_the_efficiency_of_the_nearest():
    assert efficiency(rl.axpy(8), CALIBRATED, "l1") == 0.5
    assert efficiency(rl.axpy(8), CALIBRATED, "l3") in (0.5, 0.8)


@each_row((2, 0.4), (10, 0.4), (100, 0.6), (1000, 0.8), (4000, 0.8))
def test_the_efficiency_of_a_product_grows_with_the_logarithm_of_its_size(n, share):
    assert efficiency(rl.gemm(n, n, n), CALIBRATED, "l2") == pytest.approx(share)


def test_a_thin_product_is_a_routine_of_its_own_and_so_is_a_gemv_that_serves_a_batch():
    assert routine(rl.gemm(4096, 4096, 4096)) == "gemm/fp32"
    assert routine(rl.gemm(1, 4096, 4096)) == "gemm-thin/fp32"
    assert routine(rl.gemv(4096, 4096)) == "gemv/fp32"
    served = rl.gemv(4096, 4096, batch=8, shared=("a",))
    assert (routine(served), smallest(served)) == ("gemm-thin/fp32", 8)
    assert overhead(served, CALIBRATED) == 1e-6  # one call for the whole batch
    wide = rl.gemm(100, 20, 100, batch=8, shared=("a",))  # the columns of all B side by side
    assert smallest(wide) == 100 and overhead(wide, CALIBRATED) == 1e-6
    apart = rl.gemm(100, 20, 100, batch=8)
    assert smallest(apart) == 20 and overhead(apart, CALIBRATED) == 8e-6


def test_independent_products_pay_for_every_call():
    assert overhead(rl.gemm(4, 4, 4, batch=5), CALIBRATED) == pytest.approx(5e-6)
    assert overhead(replace(rl.axpy(8), batch=5), CALIBRATED) == pytest.approx(5e-6)


def test_the_mix_follows_the_ledger():
    core = computer()
    assert mix_of(rl.axpy(8), core, "l1") == "axpy"
    assert mix_of(rl.dot(800), core, "l1") == "read"
    assert mix_of(rl.scale(8), core, "l1") == "update"
    assert mix_of(rl.elementwise("relu", 8), core, "l1") == "copy"
    assert mix_of(rl.axpy(8), rl.machine("h200-sxm"), "dram") == "read"  # its only figure


@given(st.floats(1, 1e12), st.floats(1.0, 4.0))
def test_shares_add_up_and_a_larger_set_is_never_served_by_a_nearer_level(nbytes, factor):
    core = computer()

    def distance(size: float) -> float:
        return sum(core.levels.index(lv) * share for lv, share in homes(size, core, "warm").items())

    assert math.isclose(sum(homes(nbytes, core, "warm").values()), 1)
    assert distance(nbytes * factor) >= distance(nbytes) - 1e-9
    assert homes(nbytes, core, "cold") == {"dram": 1.0}


@given(st.integers(1, 10**8))
def test_a_warm_estimate_without_efficiencies_lies_between_its_roofs(n):
    op = rl.axpy(n)
    seconds = float(rl.predict(op, computer(), cache="warm"))
    assert op.bytes / RATES["l1"] * 0.999 <= seconds <= op.bytes / RATES["dram"] * 1.001


def test_bad_input_is_named():
    with pytest.raises(TypeError, match=r"^op=\[0, 1, 2, 3, 4, 5, \.\.\.\] must be an Operation"):
        rl.predict([*range(999)], "h200-sxm")
    with pytest.raises(TypeError, match="op='gemm' must be an Operation"):
        rl.predict("gemm", "h200-sxm")
    with pytest.raises(ValueError, match="cache='hot'.*warm"):
        rl.predict(rl.axpy(8), "h200-sxm", cache="hot")
    with pytest.raises(ValueError, match=r"threads=2: the roofs of core were measured with 1"):
        rl.predict(rl.axpy(8), computer(), threads=2)
    for threads, error in (
        (0, ValueError),
        (-4, ValueError),
        ("two", TypeError),
        (True, TypeError),
    ):
        with pytest.raises(error, match=f"threads={threads!r}"):
            rl.predict(rl.axpy(8), "h100-sxm", threads=threads)
    with pytest.raises(ValueError, match="core has no fp16"):
        rl.predict(rl.axpy(8, "fp16"), computer())


SHARED = replace(
    computer(), spills={"l3": ((4 << 20, 0.0), (16 << 20, 0.5), (64 << 20, 0.9))}
)  # a cache that others use: it spills long before it is full


@each_row(
    (3 << 20, {"l3": 1.0}),
    (4 << 20, {"l3": 1.0}),
    (8 << 20, {"l3": 0.75, "dram": 0.25}),  # half-way on a logarithmic scale
    (16 << 20, {"l3": 0.5, "dram": 0.5}),
    (32 << 20, {"l3": 0.3, "dram": 0.7}),
    (64 << 20, {"l3": 0.1, "dram": 0.9}),
    (128 << 20, {"l3": 0.05, "dram": 0.95}),  # half-way to what is assumed to leave nothing
    (256 << 20, {"dram": 1.0}),
)
def test_where_a_cache_spilled_decides_who_serves(nbytes: int, shares: dict[str, float]) -> None:
    assert homes(nbytes, SHARED, "warm") == pytest.approx(shares)


def test_spills_survive_a_file() -> None:
    assert Machine.from_dict(SHARED.to_dict()).spills == SHARED.spills
    assert Machine.from_dict({**SHARED.to_dict(), "spills": {}}).spills == {}


def test_no_estimate_from_memory_is_above_the_bound() -> None:
    lucky = computer(known("axpy", [{"level": "dram", "efficiency": 1.65}], call=0.0, cold=0.0))
    cold = rl.predict(rl.axpy(1 << 26), lucky, cache="cold")
    assert cold.seconds == pytest.approx(cold.bound)
