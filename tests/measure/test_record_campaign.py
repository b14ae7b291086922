"""What a recording would measure, and in which order."""

from __future__ import annotations

from itertools import pairwise

import pytest

import rooflab as rl
from rooflab.measure import record
from rooflab.predict.machine import Figure, Machine
from tests.support.recording import roofs
from tests.support.rows import each_row


@pytest.fixture
def machine():
    return {1: Machine.from_roofs(roofs(1), id="x", name="x")}


def test_a_dtype_without_a_roof_is_still_planned(machine):
    half, single = (
        record._expected_seconds(rl.axpy(2**24, k), machine[1]) for k in ("fp16", "fp32")
    )
    assert half < single  # half the bytes


def test_what_takes_longest_comes_last(machine):
    found = record.tasks(machine, "cpu", ("fp32", "fp64"), quick=False)
    assert found[-1].op == rl.gemm(4096, 4096, 4096, "fp64")
    assert all(one.cost <= other.cost for one, other in pairwise(found))


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


@each_row(*CARDS)
@each_row((6.0, False), (2.0, True))
def test_a_large_gpu_has_time_for_its_largest_sizes(minutes, quick, card):
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
    wanted = record.tasks({None: made}, "gpu", record.DTYPES["gpu"], quick=quick)
    assert sum(task.cost for task in wanted) < 60 * minutes
