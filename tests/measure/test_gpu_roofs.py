"""The roofs of a GPU, on a pretended one whose speed is known: what goes in must come out.

The pretended device carries NumPy arrays and counts, from each launch's arguments, the FLOP and
bytes of the kernel; its events tell the time that those take at its rates. (A real one: the gpu
tests of test_gpu.py.)
"""

from __future__ import annotations

import json
import types

import numpy as np
import pytest

from rooflab.measure import gpu, gpu_roofs
from rooflab.measure.backend import Backend
from rooflab.predict.machine import Machine

PEAK = {"fp32": 6e13, "fp64": 3e13}
TENSOR = {"fp16": 8e14, "bf16": 7e14, "tf32": 4e14, "fp64": 6e13}
RATE = {"l2": 9e12, "dram": 4e12}
L2 = 48 << 20


class Card:
    """A clock that only the kernels move."""

    def __init__(self, tensor: dict[str, float]) -> None:
        self.now, self.tensor, self.launches = 0.0, tensor, []
        card = self

        class Event:
            done = True

            def record(self, stream) -> None:
                self.at = card.now

            def synchronize(self) -> None:
                pass

        class Device:
            attributes = {"MultiProcessorCount": 132, "L2CacheSize": L2}
            mem_info = (1 << 30, 2 << 30)

        stream = types.SimpleNamespace(synchronize=lambda: None)
        self.xp = types.SimpleNamespace(
            cuda=types.SimpleNamespace(
                Event=Event, Device=Device, get_current_stream=lambda: stream,
                get_elapsed_time=lambda start, stop: 1e3 * (stop.at - start.at),
            ),
            get_default_memory_pool=lambda: types.SimpleNamespace(free_bytes=lambda: 0),
            RawKernel=self.kernel, empty=np.empty, ones=np.ones,
            float32=np.float32, float64=np.float64, int32=np.int32, int64=np.int64,
        )  # fmt: skip

    def kernel(self, source: str, name: str, options: tuple[str, ...] = ()):
        assert f"void {name}(" in source
        if name == "rooflab_spin":  # the gate of the clock, which moves no data
            return lambda grid, block, args: None
        return lambda grid, block, args: self.launch(name, options, grid[0] * block[0], args)

    def launch(self, name, options, threads, args) -> None:
        self.launches.append((name, args))
        if name == "fma_roof":
            out, turns, a, b = args
            kind = {np.float32: "fp32", np.float64: "fp64"}[type(a)]
            assert type(b) is type(a)
            assert out.dtype == type(a)
            assert out.size == threads  # each thread stores one
            macros = dict(option[2:].split("=") for option in options)
            assert macros["REAL"] == {"fp32": "float", "fp64": "double"}[kind]
            flop = 2.0 * threads * int(macros["CHAINS"]) * int(macros["UNROLL"]) * int(turns)
            self.now += flop / PEAK[kind]
            return
        x, y, n, passes, a = args
        assert type(n) is np.int64
        assert (type(passes), type(a)) == (np.int32, np.float32)
        arrays = {"read_roof": 1, "update_roof": 1, "copy_roof": 2, "axpy_roof": 2}[name]
        moved = {"read_roof": 1, "update_roof": 2, "copy_roof": 2, "axpy_roof": 3}[name]
        assert 4 * n <= x.size
        assert arrays == 1 or (4 * n <= y.size and y.base is not None)
        level = "l2" if 16 * n * arrays < L2 else "dram"
        self.now += moved * 16.0 * int(n) * int(passes) / RATE[level]

    def product(self, op, backend):
        kind = op.compute_dtype.name
        if kind not in self.tensor:
            raise RuntimeError("no such product here")

        def call() -> None:
            self.now += op.flops / self.tensor[kind]

        return types.SimpleNamespace(bind=lambda operands: call)


def measured(monkeypatch, tensor=TENSOR, free=16 << 30):
    card = Card(tensor)
    monkeypatch.setattr(gpu_roofs, "MEMORY", 4 * L2)  # the pretended memory is this machine's
    monkeypatch.setattr(gpu_roofs, "available_bytes", lambda backend: free)
    monkeypatch.setattr(gpu_roofs, "kernel_for", card.product)
    monkeypatch.setattr(gpu_roofs, "make", lambda op, backend: ())
    monkeypatch.setattr(gpu_roofs, "WARM_UP", 0.0)
    monkeypatch.setattr(gpu, "EVENT_STEP_S", 0.0)
    shares: list[float] = []
    found = gpu_roofs.gpu_roofs(Backend("gpu", card.xp, "pretended", "Card"), shares.append)
    return found, shares, card


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
    _, _, card = measured(monkeypatch)
    sizes = {
        16 * int(args[2]) * (2 if name in ("axpy_roof", "copy_roof") else 1)
        for name, args in card.launches
        if name != "fma_roof"
    }
    small, large = sorted(sizes)[0], sorted(sizes)[-1]
    assert small <= L2 // 2
    assert large >= 4 * L2 - 32
    assert all(size <= L2 // 2 or size >= 4 * L2 - 32 for size in sizes)


@pytest.mark.parametrize(("peak", "n"), [(6e13, 8192), (1e9, 1024), (1e12, 3584)])
def test_products_take_about_ten_milliseconds(peak, n):
    assert gpu_roofs._product_size(peak, 10) == n
    assert n % 256 == 0
