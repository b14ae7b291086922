"""What a recording plans to measure, and what it leaves out."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.measure import record
from rooflab.measure.backend import Backend, select
from rooflab.predict.machine import Figure, Machine
from tests.support.fake_cupy import FakeCupy
from tests.support.recording import roofs
from tests.support.rows import each_row


@pytest.fixture
def machine():
    return {1: Machine.from_roofs(roofs(1), id="x", name="x")}


def test_the_plan_keeps_within_its_time_and_names_the_rest(machine):
    everything = record.tasks(machine, "cpu", ("fp32",), quick=False)
    kept, left_out = record.within(everything, select("cpu"), 2.0)
    assert sum(task.cost for task in kept) <= 2.0
    assert len(kept) + len(left_out) == len(everything)
    assert {task.key for task in kept}.isdisjoint(entry.what for entry in left_out)
    dearest = max(task.cost for task in kept)
    assert all(t.cost >= dearest for t in everything if t not in kept)


def test_the_plan_leaves_out_what_memory_cannot_hold(machine, monkeypatch):
    monkeypatch.setattr(record, "LARGEST", {"cpu": {"axpy": 44, "gemv": 7, "gemm": 5}})
    everything = record.tasks(machine, "cpu", ("fp32",), quick=True)
    kept, left_out = record.within(everything, select("cpu"), 1e12)
    assert rl.axpy(2**44).label in left_out[-1].what
    assert "of memory" in left_out[-1].reason
    assert all(task.op.working_set < 2**44 for task in kept)


def test_a_dtype_without_a_roof_is_still_planned(machine):
    half, single = (
        record.expected_seconds(rl.axpy(2**24, k), machine[1]) for k in ("fp16", "fp32")
    )
    assert half < single  # half the bytes


@each_row("cpu", "gpu")
def test_tf32_is_for_matrix_products_only(backend):
    ops = record.operations(backend, record.DTYPES[backend], quick=False)
    assert {op.name for op in ops if op.compute_dtype == "tf32"} <= {"gemm"}
    assert {op.name for op in ops} == {"axpy", "gemv", "gemm"}
    quick = record.operations(backend, record.DTYPES[backend], quick=True)
    assert len(quick) < len(ops) / 2
    assert {op.label for op in quick} <= {op.label for op in ops}
    for name in ("axpy", "gemv", "gemm"):  # the roof shows at the largest size
        largest = max(op.working_set for op in ops if op.name == name)
        assert max(op.working_set for op in quick if op.name == name) == largest


# Round figures of the size of an H100's and an H200's: FLOP/s, byte/s of memory, bytes free.
CARDS = {
    "h100": ({"fp32": 6e13, "fp64": 3e13, "fp64_tensor": 6e13}, 3.0e12, 76 << 30),
    "h200": ({"fp32": 6e13, "fp64": 3e13, "fp64_tensor": 6e13}, 4.3e12, 136 << 30),
}


def planned(card: str, minutes: float, quick: bool) -> tuple[set[str], list[record.LeftOut]]:
    peaks, bandwidth, free = CARDS[card]
    unit = {"fp64_tensor": "tensor", "tf32": "tensor", "bf16": "tensor", "fp16": "tensor"}
    tensor = {"tf32": 4e14, "bf16": 7e14, "fp16": 7e14}
    made = Machine(
        id=card, kind="gpu", origin="measured", backend="gpu",
        peaks={k: Figure(v, unit=unit.get(k, "vector")) for k, v in {**peaks, **tensor}.items()},
        bandwidths={
            level: {mix: Figure(rate) for mix in ("read", "axpy", "copy", "update")}
            for level, rate in (("l2", 6e12), ("dram", bandwidth))
        },
        capacities={"l2": 50 << 20, "dram": free},
    )  # fmt: skip
    room = Backend("gpu", FakeCupy(free=free, l2=50 << 20), "a test", card)
    wanted = record.tasks({None: made}, "gpu", record.DTYPES["gpu"], quick=quick)
    kept, left_out = record.within(wanted, room, 60 * minutes)
    return {task.key for task in kept}, left_out


@each_row(*CARDS)
@each_row((6.0, False), (2.0, True))
def test_a_large_gpu_is_recorded_with_its_largest_sizes(minutes, quick, card):
    kept, left_out = planned(card, minutes, quick)
    assert left_out == []
    for op in (
        rl.axpy(2**30), rl.axpy(2**30, "fp64"), rl.axpy(2**30, "bf16"), rl.gemv(2**15, 2**15),
        rl.gemv(2**15, 2**15, "fp64"), rl.gemm(2**14, 2**14, 2**14, "fp64"),
    ):  # fmt: skip
        assert {f"{op.label}, cold", f"{op.label}, warm"} <= kept


def test_what_the_smallest_costs_decides_how_much_a_gpu_can_do(machine):
    dear = record.expected_seconds(rl.axpy(256), machine[1], 3.0)
    assert dear - record.expected_seconds(rl.axpy(256), machine[1], 0.5) == pytest.approx(2.5)
