"""The roofs of a CPU: the dictionary they end in, and what is said of unsteady ones."""

from __future__ import annotations

import json

import pytest

import rooflab.count as rl
from rooflab.measure import caches, operands, roofs
from rooflab.measure.backend import available_cores, select
from rooflab.measure.roof_kernels import MIXES
from rooflab.measure.roofs import measure_roofs
from rooflab.measure.this_machine import roofs_problem
from rooflab.measure.timing import Timing
from rooflab.predict.estimate import predict
from rooflab.predict.machine import Machine
from tests.support.rows import each_row

MIB = 1 << 20
CORES = available_cores()


@pytest.fixture
def hurried(monkeypatch):
    """Few and short slices on little memory: the shape of the result, not its figures."""
    for name, value in (("BUDGET", 0.01), ("LEAST", 3), ("SLICE", 1e-4)):
        monkeypatch.setattr(roofs, name, value)
    monkeypatch.setattr(roofs, "available_bytes", lambda backend: 32 * MIB)
    monkeypatch.setattr(roofs, "product_peaks", lambda *_: {})
    monkeypatch.setattr(roofs, "core_kinds", lambda: ())


@each_row(*sorted({1, CORES}))
def test_roofs_are_plain_json_with_every_level_and_mix(threads, hurried):
    """... told of as it goes, and with a note where memory is short."""
    shares: list[float] = []
    found = measure_roofs("cpu", threads, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0
    (note,) = found["notes"]
    assert "memory is short: measured on 8 MB instead of" in note
    assert json.loads(json.dumps(found)) == found
    assert (found["schema"], found["backend"], found["threads"]) == (1, "cpu", threads)
    assert set(found["peak"]) == {"fp32", "fp64"}
    assert set(found["bandwidth"]) == set(found["capacity"]) >= {"dram"}
    for mixes in found["bandwidth"].values():
        assert set(mixes) == set(MIXES)
    for entry in [*found["peak"].values(), *found["bandwidth"]["dram"].values()]:
        assert entry["value"] > 0
        assert len(entry["samples"]) >= 3
        assert min(entry["samples"]) <= entry["value"] <= max(entry["samples"])
    assert "write-allocate" not in found["bandwidth"]["dram"]["copy"]["note"]
    assert "reads it first" in found["bandwidth"]["dram"]["copy"]["note"]
    assert found["seconds"] > 0


def test_roofs_make_a_machine(hurried):
    found = measure_roofs("cpu", 1, progress=False)
    machine = Machine.from_roofs(found, id="here", name="here")
    assert machine.peak("fp32") == found["peak"]["fp32"]["value"]
    assert machine.bandwidth("dram", "copy") == found["bandwidth"]["dram"]["copy"]["value"]
    assert machine.threads == 1
    assert machine.origin == "measured"


@each_row(8 * MIB, 300 * MIB)
def test_every_slice_stays_inside_its_memory(last_level, hurried, monkeypatch):
    """A server's last-level cache may be larger than the memory that is free."""
    store, taken = [], []

    def aligned(nbytes):
        store.append(operands.aligned(nbytes))
        return store[-1]

    sizes = {"l1": 48 << 10, "l2": 2 * MIB, "l3": last_level}
    monkeypatch.setattr(caches, "cache_sizes", lambda: sizes)
    monkeypatch.setattr(caches, "sharers", lambda: {"l1": 1, "l2": 1, "l3": 2})
    monkeypatch.setattr(roofs, "aligned", aligned)
    monkeypatch.setattr(roofs, "_measure", lambda roofs, crew, tell: taken.extend(roofs))
    monkeypatch.setattr(roofs.Roof, "entry", lambda roof: {"value": 1e9})
    monkeypatch.setattr(roofs, "_settled", lambda roof, crew: taken.append(roof) or 1e9)
    roofs.cpu_roofs(select("cpu"), 1, lambda share: None)
    start = store[0].ctypes.data
    streams = [roof for roof in taken if roof.path[0] == "bandwidth"]
    assert len(streams) >= 4 * len(MIXES) + 2 * (roofs.POINTS - 1)  # l3's, if there is room
    for roof in streams:
        for _ in range(2 * roofs.WINDOWS):
            ((_, (x, y, nbytes, *_)),) = roof.jobs(1)
            assert start <= x < y, roof.path
            last = y if roof.path[2] in ("axpy", "copy") else x
            assert last + nbytes <= start + store[0].nbytes, roof.path


def test_where_caches_spill_is_measured(hurried):
    found = measure_roofs("cpu", 1, progress=False)
    assert {"l1", "l2"} & set(found["spill"]) and "dram" not in found["spill"]
    for level, pairs in found["spill"].items():
        sizes, shares = zip(*pairs)
        assert len(pairs) == roofs.POINTS and shares[0] == 0.0
        assert list(sizes) == sorted(set(sizes)) and sizes[-1] <= 2.1 * found["capacity"][level]
        assert list(shares) == sorted(shares) and shares[-1] <= 1.0


VECTOR = {
    "fp32": {"value": 1.0e11, "samples": [0.9e11, 1.0e11, 1.01e11]},
    "fp64": {"value": 5.0e10, "samples": [5.0e10, 5.1e10]},
}


def with_products(monkeypatch, rates):
    """The peaks of products that run at ``rates`` FLOP/s; a mapping by array type."""
    called = []

    class Product:
        def __init__(self, op):
            self.op = op

        def bind(self, operands):
            called.append([array.dtype.name for array in operands])
            return self.op

    def clock(op, **_):
        seconds = op.flops / rates[op.compute_dtype.name]
        return Timing((1.02 * seconds, seconds, seconds, seconds), 1, "a test", 1e-9)

    monkeypatch.setattr(roofs, "kernel_for", lambda op, backend: Product(op))
    monkeypatch.setattr(roofs, "time_warm", clock)
    found = roofs.product_peaks(select("cpu"), VECTOR, 1)
    assert called == [["float32"] * 3, ["float64"] * 3]
    return found


def test_a_product_above_the_vector_peak_is_a_second_roof(monkeypatch):
    """As with Apple's Accelerate: 1.5 TFLOP/s beside 100 GFLOP/s of vector arithmetic."""
    found = with_products(monkeypatch, {"fp32": 1.5e12, "fp64": 4.0e11})
    assert found["fp32_tensor"]["value"] == pytest.approx(1.5e12)
    assert found["fp32_tensor"]["unit"] == "tensor"
    assert "matrix unit, through the library's product of size" in found["fp32_tensor"]["note"]
    assert "15.0 times the vector peak" in found["fp32_tensor"]["note"]
    assert found["fp64_tensor"]["value"] == pytest.approx(4.0e11)


@each_row(0.3, 0.95, 1.05)
def test_a_product_near_the_vector_peak_is_none(share, monkeypatch):
    assert with_products(monkeypatch, {"fp32": share * 1e11, "fp64": share * 5e10}) == {}


def machine_with_a_matrix_unit(monkeypatch):
    mixes = {mix: {"value": 5e10, "samples": [5e10]} for mix in MIXES}
    peaks = {**VECTOR, **with_products(monkeypatch, {"fp32": 1.5e12, "fp64": 4.0e11})}
    document = {
        "schema": 1, "backend": "cpu", "threads": 1, "notes": ["one kind of core"],
        "measured_on": "2026-01-02T03:04:05Z", "seconds": 1.0, "peak": peaks, "routines": {},
        "bandwidth": {"dram": mixes}, "capacity": {"dram": 1 << 34}, "spill": {},
    }  # fmt: skip
    return json.loads(json.dumps(document))


def test_a_matrix_unit_is_stored_read_and_used(monkeypatch):
    document = machine_with_a_matrix_unit(monkeypatch)
    assert roofs_problem(document, "cpu", 1) == ""
    machine = Machine.from_roofs(document, id="mac", name="a Mac")
    assert machine.peak("fp32") == machine.peak("fp32", "tensor") == pytest.approx(1.5e12)
    assert machine.peak("fp32", "vector") == 1e11
    assert predict(rl.gemm(4096, 4096, 4096), machine).seconds == pytest.approx(
        2 * 4096**3 / 1.5e12, rel=0.01
    )
    again = Machine.from_dict(machine.to_dict())
    assert again.notes == ("one kind of core",)
    assert again.to_dict() == machine.to_dict()


@each_row(-1.0, float("nan"), "fast")
def test_a_damaged_matrix_unit_is_noticed(value, monkeypatch):
    document = machine_with_a_matrix_unit(monkeypatch)
    document["peak"]["fp32_tensor"]["value"] = value
    assert roofs_problem(document, "cpu", 1) == "its figures are damaged"


@each_row(
    ((1e9,), 256), ((1e11,), 768), ((1e13,), 2048),
    ((6e14, 1024, 8192), 8192), ((1e10, 1024, 8192), 1024), ((1e13, 1024, 8192), 3584),  # of a GPU
)  # fmt: skip
def test_products_take_about_ten_milliseconds(peak_and_bounds, n):
    assert roofs.product_size(*peak_and_bounds) == n
    assert n % 256 == 0


def test_a_real_product_runs():
    """On this machine's own library; whether it has a matrix unit is not asked."""
    tiny = {"fp32": {"value": 1e6, "samples": [1e6]}}
    found = roofs.product_peaks(select("cpu"), tiny, 1)
    assert found["fp32_tensor"]["value"] == roofs.robust_peak(found["fp32_tensor"]["samples"])


def test_a_library_that_chooses_its_threads_is_said(monkeypatch, hurried):
    monkeypatch.setattr(roofs, "unlimited", lambda: "threads not set: this BLAS chooses")
    monkeypatch.setattr(roofs, "available_cores", lambda: 8)
    notes = measure_roofs("cpu", 1, progress=False)["notes"]
    assert "the library cannot be kept to one core: threads not set: this BLAS chooses" in notes
    monkeypatch.setattr(roofs, "available_cores", lambda: 1)
    assert not any("cannot be kept" in n for n in measure_roofs("cpu", 1, progress=False)["notes"])


def test_unsteady_and_few_slices_are_confessed():
    steady = roofs.Roof(("bandwidth", "l1", "read"), 1, lambda passes: [], rates=[1e9] * 30)
    shaky = roofs.Roof(("bandwidth", "l1", "read"), 1, lambda passes: [], rates=[1e9, 2e9, 3e9])
    assert "note" not in steady.entry()
    assert "67% apart" in shaky.entry()["note"]
    few = roofs.Roof(("bandwidth", "dram", "read"), 1, lambda passes: [], rates=[1e9] * 7)
    assert few.entry()["note"] == "measured 7 times only: there was no time for more"


def test_writes_are_charged_by_a_lead_in():
    """Main memory: the windows before the timed ones are walked, and not counted."""
    walked = []

    class Clock:
        size = 1

        def time(self, jobs):
            walked.append(jobs)
            return 1.0 if len(walked) > roofs.LEAD else 1e-9  # writes stay in cache at first

    roof = roofs.Roof(("bandwidth", "dram", "copy"), 500, lambda passes: [], moves_on=True)
    roof.slice(Clock())
    assert roof.rates == [500.0]
    assert len(walked) == roofs.LEAD + roofs.TIMED


@each_row(
    (0, ValueError, "threads=0 must be a positive integer"),
    (True, TypeError, "threads=True is a bool"),
    (10**6, ValueError, rf"threads=1000000: this process may use {CORES} core"),
)
def test_threads_that_cannot_be(threads, error, told):
    with pytest.raises(error, match=told):
        measure_roofs("cpu", threads, progress=False)
