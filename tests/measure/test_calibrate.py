"""Calibration: few fitting sizes, none that anybody reports, one in each level."""

from __future__ import annotations

import dataclasses
import types

import pytest

from rooflab import count
from rooflab.measure import gpu
from rooflab.measure import this_machine as calibration
from rooflab.measure.this_machine import calibrate
from rooflab.predict.estimate import predict, sound
from rooflab.predict.explain import explain
from rooflab.predict.machine import Figure, Machine
from tests.support.rows import each_row

REPORTED = {2**p for p in range(2, 32)} | {3 * 2**p for p in range(2, 32)} | {1000, 3000}
LEVELS = {"l1": 32 << 10, "l2": 256 << 10, "l3": 2 << 20, "dram": 8 << 30}


MIXES = ("read", "axpy", "copy", "update")
CORE = Machine(
    id="core", name="one core", kind="cpu", origin="measured", threads=1,
    peaks={"fp32": Figure(1e11, unit="vector")},
    bandwidths={lv: {mix: Figure(1e10) for mix in MIXES} for lv in LEVELS}, capacities=LEVELS,
)  # fmt: skip


@pytest.fixture(scope="module")
def routines() -> dict:
    """A real calibration against invented roofs and small caches, so that it is quick."""
    return calibrate(CORE, ("fp32",))


def test_a_product_that_something_disturbed_is_timed_again(monkeypatch):
    """The largest takes ten times too long at first; only it is timed again, and once."""
    asked = []

    def timed(fits, threads):
        ops = [op for fit in fits for op in (fit.tiny, *fit.points)]
        asked.append(ops)
        slow = 10 if len(asked) == 1 else 1
        each = {op: op.flops / 5e10 * (slow if op.flops > 1e8 else 1) for op in ops}
        return each, each

    monkeypatch.setattr(calibration, "_timed", timed)
    monkeypatch.setattr(calibration, "PAUSE", 0)
    points = calibrate(CORE, ("fp32",))["gemm/fp32"]["points"]
    assert [point["efficiency"] for point in points] == pytest.approx([0.5] * 3, rel=0.03)
    assert [set(ops) for ops in asked[1:]] == [{op for op in asked[0] if op.flops > 1e8}]


def test_no_fitting_size_is_a_power_of_two_or_half_way_between_two(routines):
    """... and times and efficiencies are real numbers of this machine."""
    for entry in routines.values():
        assert 0 < entry["overhead_s"] < 1e-3
        assert entry["cold_overhead_s"] > 0
        for point in entry["points"]:
            assert not REPORTED & set(point["dims"].values()), point
            assert point["seconds"] > 0
            assert 0 < point["efficiency"] < 1000


def test_streaming_routines_have_one_point_in_each_outer_level(routines):
    for name in ("axpy/fp32", "gemv/fp32"):
        assert [p["level"] for p in routines[name]["points"]] == ["l2", "l3", "dram"]


FLOOR, SHARE = 2e-6, 0.8  # of a kernel on the pretended GPU: an empty one, and of its roofs
GPU_PEAKS = {"fp32": 4e13, "fp64": 2e13, "bf16": 3e14}
GPU_RATES = {"l2": 8e12, "dram": 2e12}
L2 = 32 << 20


@pytest.fixture
def card(fake, monkeypatch) -> Machine:
    """A GPU whose every kernel reaches 80 % of its roofs after 2 µs; CuPy is a stand-in."""
    monkeypatch.setitem(gpu.time_gpu.__kwdefaults__, "warm_up_s", 0.0)
    monkeypatch.setattr(calibration, "GPU_WARM_UP", 0.0)
    monkeypatch.setattr(gpu, "LEAST_FLUSH", 1 << 16)
    made = Machine(
        id="card", kind="gpu", origin="measured", backend="gpu",
        peaks={
            kind: Figure(rate, unit="tensor" if kind == "bf16" else "vector")
            for kind, rate in GPU_PEAKS.items()
        },
        bandwidths={
            level: {mix: Figure(rate) for mix in MIXES} for level, rate in GPU_RATES.items()
        },
        capacities={"l2": L2, "dram": 8 << 30},
    )  # fmt: skip

    def kernel_for(op, backend):
        if op.compute_dtype == "fp16":
            raise ValueError("no such routine here")
        level = "l2" if op.working_set <= L2 else "dram"
        work = max(op.flops / GPU_PEAKS[str(op.compute_dtype)], op.bytes / GPU_RATES[level])
        work = 0.0 if max(op.dims.values()) <= calibration.TINY else work / SHARE

        def bind(operands):
            return lambda: fake.launch(op.label, FLOOR + work)

        return types.SimpleNamespace(bind=bind)

    monkeypatch.setattr(calibration, "kernel_for", kernel_for)
    monkeypatch.setattr(calibration, "make", lambda op, backend: ())
    return made


def test_on_a_gpu_a_call_costs_the_time_of_an_empty_kernel(card):
    found = calibrate(card)
    assert {"axpy/fp32", "gemm/fp64", "gemm-thin/bf16", "dot/bf16"} <= set(found)
    assert not any(name.endswith(("fp16", "tf32")) for name in found)  # it has none of them
    assert sound(found, card.levels)
    for name, entry in found.items():
        assert entry["overhead_s"] == pytest.approx(FLOOR), name
        assert entry["cold_overhead_s"] == pytest.approx(FLOOR), name
        assert len(entry["points"]) + 1 <= 4
    assert [p["level"] for p in found["axpy/fp32"]["points"]] == ["l2", "dram"]
    for point in [*found["axpy/fp32"]["points"], *found["gemm/fp32"]["points"][1:]]:
        assert point["efficiency"] == pytest.approx(SHARE, rel=0.01)


@each_row(count.axpy(256), count.gemm(64, 64, 64), count.dot(1000, "bf16"))
def test_a_small_operation_on_a_gpu_is_all_overhead(op, card):
    measured = dataclasses.replace(card, routines=calibrate(card))
    found = predict(op, measured)
    assert found.limit == "overhead"
    assert found.seconds == pytest.approx(FLOOR, rel=0.2)
    told = str(explain(op, measured, 1.1 * FLOOR))
    assert "2.00 µs a cold call" in told
    assert "not measured" not in told


def test_a_large_operation_on_a_gpu_is_predicted_by_its_roofs(card):
    measured = dataclasses.replace(card, routines=calibrate(card))
    stream, product = count.axpy(1 << 27), count.gemm(4096, 4096, 4096, "bf16")
    expected = FLOOR + stream.bytes / GPU_RATES["dram"] / SHARE
    assert predict(stream, measured).seconds == pytest.approx(expected, rel=0.01)
    expected = FLOOR + product.flops / GPU_PEAKS["bf16"] / SHARE
    assert predict(product, measured).seconds == pytest.approx(expected, rel=0.01)


def test_fitting_sizes_on_a_gpu_are_nobodys_and_follow_its_speed(card):
    for kind in GPU_PEAKS:
        for entry in calibrate(card, (kind,)).values():
            for point in entry["points"]:
                assert not REPORTED & set(point["dims"].values()), point
    large = [calibration._products(card, count.gemm(8, 8, 8, kind))[0][-1] for kind in GPU_PEAKS]
    for n, peak in zip(large, GPU_PEAKS.values(), strict=True):
        assert 0.5 < 2 * n**3 / peak / calibration.PRODUCT_S <= 1.05


def test_operands_that_a_gpu_cannot_hold_are_left_out(card, fake):
    fake.free = 600 << 20
    assert len(calibrate(card, ("fp32",))["gemm-thin/fp32"]["points"]) == 3
    fake.free = 300 << 20
    found = calibrate(card, ("fp32",))
    assert found["gemm-thin/fp32"]["points"] == []
    assert [point["level"] for point in found["axpy/fp32"]["points"]] == ["l2"]
