"""The roofs of a GPU, on a pretended one whose speed is known: what goes in must come out.

The strict fake counts, from each launch's arguments, the FLOP and bytes of the kernel; its events
tell the time that those take at its rates. (A real one: the gpu tests of test_gpu.py.)
"""

from __future__ import annotations

import json
import types
from dataclasses import replace

import pytest

from rooflab.measure import gpu, roofs
from rooflab.measure.backend import Backend
from rooflab.measure.cuda_sources import THREADS
from rooflab.predict.machine import Machine
from tests.support.fake_cupy import STEADY, FakeCupy
from tests.support.rows import each_row

PEAK = {"fp32": 6e13, "fp64": 3e13}
TENSOR = {"fp16": 8e14, "bf16": 7e14, "tf32": 4e14, "fp64": 6e13}
RATE = {"l2": 9e12, "dram": 4e12}
L2 = 1 << 20
MULTIPROCESSORS = 4


def measured(monkeypatch, tensor=TENSOR, free=16 << 30, l2=L2):
    """The roofs of the pretended card, the shares told, and (kernel, arguments) of each launch."""
    peak = {"float32": PEAK["fp32"], "float64": PEAK["fp64"]}
    card = replace(
        STEADY, bandwidth=RATE["dram"], l2_bandwidth=RATE["l2"], peak=peak, kernel_s=0.0
    )  # fmt: skip
    xp = FakeCupy(l2=l2, free=1 << 30, device=card)
    xp.multiprocessors, launches = MULTIPROCESSORS, []

    def watched(name, effect):
        return lambda launch: launches.append((name, launch)) or effect(launch)

    def product(op, backend):
        kind = op.compute_dtype.name
        if kind not in tensor:
            raise RuntimeError("no such product here")
        call = lambda: xp.launch("product", op.flops / tensor[kind])  # noqa: E731
        return types.SimpleNamespace(bind=lambda operands: call)

    xp.kernels = {name: watched(name, effect) for name, effect in xp.kernels.items()}
    monkeypatch.setattr(roofs, "MEMORY", 4 * l2)  # the pretended memory is this machine's
    monkeypatch.setattr(roofs, "available_bytes", lambda backend: free)
    monkeypatch.setattr(roofs, "kernel_for", product)
    monkeypatch.setattr(roofs, "make", lambda op, backend: ())
    monkeypatch.setattr(roofs, "WARM_UP", 0.0)
    monkeypatch.setattr(gpu, "EVENT_STEP_S", 0.0)
    shares: list[float] = []
    found = roofs.gpu_roofs(Backend("gpu", xp, "pretended", "Card"), shares.append)
    return found, shares, launches


def streams(launches):
    """(kernel, float4s, bytes of its arrays, threads) of every launch of a stream."""
    for name, launch in launches:
        if name.endswith("_roof") and name != "fma_roof":
            n = int(launch.args[2])
            arrays = 2 if name in ("axpy_roof", "copy_roof") else 1
            yield name, n, 16 * n * arrays, launch.threads


def test_the_pretended_rates_come_out(monkeypatch):
    found, shares, _ = measured(monkeypatch)
    for dtype, rate in PEAK.items():
        assert found["peak"][dtype]["value"] == pytest.approx(rate, rel=1e-3)
        assert found["peak"][dtype]["unit"] == "vector"
    for dtype in ("fp16", "bf16", "tf32"):
        assert found["peak"][dtype]["value"] == pytest.approx(TENSOR[dtype], rel=1e-3)
        assert found["peak"][dtype]["unit"] == "tensor"
    assert found["peak"]["fp64_tensor"]["value"] == pytest.approx(TENSOR["fp64"], rel=1e-3)
    for level, rate in RATE.items():
        for mix in ("read", "axpy", "copy", "update"):
            assert found["bandwidth"][level][mix]["value"] == pytest.approx(rate, rel=1e-3)
    assert found["capacity"] == {"l2": L2, "dram": 2 << 30}
    assert found["notes"] == []
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_they_make_a_machine(monkeypatch):
    found, _, _ = measured(monkeypatch)
    roofs = {"backend": "gpu", "threads": None, "measured_on": "2026-01-01T00:00:00Z", **found}
    machine = Machine.from_roofs(json.loads(json.dumps(roofs)), id="card", name="Card")
    assert machine.kind == "gpu"
    assert machine.peak("bf16") == pytest.approx(TENSOR["bf16"], rel=1e-3)
    assert machine.peak("fp64", "vector") == pytest.approx(PEAK["fp64"], rel=1e-3)
    assert machine.peak("fp64", "tensor") == pytest.approx(TENSOR["fp64"], rel=1e-3)
    assert machine.bandwidth("l2", "copy") > machine.bandwidth("dram", "copy")


def test_a_product_no_faster_than_the_vector_units_is_no_tensor_peak(monkeypatch):
    """A consumer card's fp64, or a card without tensor cores: its vector figure says it all."""
    found, _, _ = measured(monkeypatch, {**TENSOR, "fp64": 2.9e13})
    assert "fp64_tensor" not in found["peak"]


def test_a_missing_product_is_a_note_and_no_failure(monkeypatch):
    found, shares, _ = measured(monkeypatch, {"fp16": 8e14})
    assert "bf16" not in found["peak"]
    assert len(found["notes"]) == 3
    assert "bf16 product not measured (RuntimeError: no such product here)" in found["notes"]
    assert shares[-1] == 1.0


def test_little_free_memory_shrinks_the_array_and_says_so(monkeypatch):
    found, _, _ = measured(monkeypatch, free=8 * L2)
    assert len(found["notes"]) == 1
    assert "memory is short: measured on" in found["notes"][0]


def test_arrays_of_memory_are_four_times_l2_and_those_of_l2_fit(monkeypatch):
    _, _, launches = measured(monkeypatch)
    sizes = {nbytes for *_, nbytes, _ in streams(launches)}
    a_round = 2 * 16 * MULTIPROCESSORS * 2048  # what all threads carry once, of two arrays
    small = [size for size in sizes if size <= L2 // 2]
    large = [size for size in sizes if size > 4 * L2 - a_round]
    assert small and large and len(small) + len(large) == len(sizes)


@each_row(1 << 16, 1 << 20, 3 << 20)
def test_every_thread_of_a_stream_gets_as_much(l2, monkeypatch):
    """A grid that the GPU holds at once, and a size that is a multiple of it."""
    _, _, launches = measured(monkeypatch, l2=l2)
    found = list(streams(launches))
    assert {name for name, *_ in found} == {f"{mix}_roof" for mix in roofs.MIXES}
    for _, n, _, threads in found:
        assert n % threads == 0
        assert THREADS <= threads <= MULTIPROCESSORS * 2048


def test_sizes_are_rounded_down_to_whole_rounds_of_the_grid():
    for n, even in ((10_000, (8, 8192)), (2047, (7, 1792)), (255, (1, 256)), (4096, (8, 4096))):
        assert roofs._even(n, 8) == even


def test_products_take_about_ten_milliseconds():
    for peak, n in ((6e13, 8192), (1e9, 1024), (1e12, 3584)):
        assert roofs.product_size(10 * peak, 1024, 8192) == n
        assert n % 256 == 0
