"""The roofs of a CPU: the dictionary they end in, and what is said of unsteady ones."""

from __future__ import annotations

import json
import threading

import pytest

from rooflab.measure import arrays, cpu_roofs, roofs
from rooflab.measure.backend import select
from rooflab.measure.environment import available_cores
from rooflab.measure.roof_kernels import MIXES
from rooflab.measure.roofs import measure_roofs, thread_count
from rooflab.predict.machine import Machine

MIB = 1 << 20
CORES = available_cores()


@pytest.fixture
def hurried(monkeypatch):
    """Few and short slices on little memory: the shape of the result, not its figures."""
    for name, value in (("BUDGET", 0.01), ("LEAST", 3), ("SLICE", 1e-4)):
        monkeypatch.setattr(cpu_roofs, name, value)
    monkeypatch.setattr(cpu_roofs, "available_bytes", lambda backend: 32 * MIB)


@pytest.mark.parametrize("threads", sorted({1, CORES}))
def test_roofs_are_plain_json_with_every_level_and_mix(hurried, threads):
    found = measure_roofs("cpu", threads, progress=False)
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


def test_short_memory_is_stated(hurried):
    notes = measure_roofs("cpu", 1, progress=False)["notes"]
    assert len(notes) == 1
    assert "memory is short: measured on 8 MB instead of" in notes[0]


@pytest.mark.parametrize("last_level", [8 * MIB, 300 * MIB])
def test_every_slice_stays_inside_its_memory(hurried, monkeypatch, last_level):
    """A server's last-level cache may be larger than the memory that is free."""
    store, taken = [], []

    def aligned(nbytes):
        store.append(arrays.aligned(nbytes))
        return store[-1]

    sizes = {"l1": 48 << 10, "l2": 2 * MIB, "l3": last_level}
    monkeypatch.setattr(cpu_roofs, "cache_sizes", lambda: sizes)
    monkeypatch.setattr(cpu_roofs, "sharers", lambda: {"l1": 1, "l2": 1, "l3": 2})
    monkeypatch.setattr(cpu_roofs, "aligned", aligned)
    monkeypatch.setattr(cpu_roofs, "_measure", lambda roofs, crew, tell: taken.extend(roofs))
    monkeypatch.setattr(cpu_roofs.Roof, "entry", lambda roof: {"value": 1e9})
    monkeypatch.setattr(cpu_roofs, "_settled", lambda roof, crew: taken.append(roof) or 1e9)
    cpu_roofs.cpu_roofs(select("cpu"), 1, lambda share: None)
    start = store[0].ctypes.data
    streams = [roof for roof in taken if roof.path[0] == "bandwidth"]
    assert len(streams) >= 4 * len(MIXES) + 2 * (cpu_roofs.POINTS - 1)  # l3's, if there is room
    for roof in streams:
        for _ in range(2 * cpu_roofs.WINDOWS):
            ((_, (x, y, nbytes, *_)),) = roof.jobs(1)
            assert start <= x < y, roof.path
            last = y if roof.path[2] in ("axpy", "copy") else x
            assert last + nbytes <= start + store[0].nbytes, roof.path


def test_where_caches_spill_is_measured(hurried):
    found = measure_roofs("cpu", 1, progress=False)
    assert {"l1", "l2"} & set(found["spill"]) and "dram" not in found["spill"]
    for level, pairs in found["spill"].items():
        sizes, shares = zip(*pairs)
        assert len(pairs) == cpu_roofs.POINTS and shares[0] == 0.0
        assert list(sizes) == sorted(set(sizes)) and sizes[-1] <= 2.1 * found["capacity"][level]
        assert list(shares) == sorted(shares) and shares[-1] <= 1.0


def test_progress_rises_to_one(hurried):
    shares: list[float] = []
    measure_roofs("cpu", 1, progress=shares.append)
    assert shares
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_progress_bar_is_drawn_and_cleared(hurried, capsys):
    measure_roofs("cpu", 1, progress=True)
    assert "measuring the roofs" in capsys.readouterr().err


def test_roofs_run_in_a_thread(hurried):
    found = []
    worker = threading.Thread(target=lambda: found.append(measure_roofs("cpu", 1, False)))
    worker.start()
    worker.join()
    assert found[0]["peak"]["fp32"]["value"] > 0


def test_unsteady_slices_are_confessed():
    steady = cpu_roofs.Roof(("bandwidth", "l1", "read"), 1, lambda passes: [], rates=[1e9] * 30)
    shaky = cpu_roofs.Roof(("bandwidth", "l1", "read"), 1, lambda passes: [], rates=[1e9, 2e9, 3e9])
    assert "note" not in steady.entry()
    assert "67% apart" in shaky.entry()["note"]


def test_few_slices_are_confessed():
    few = cpu_roofs.Roof(("bandwidth", "dram", "read"), 1, lambda passes: [], rates=[1e9] * 7)
    assert few.entry()["note"] == "measured 7 times only: there was no time for more"


def test_writes_are_charged_by_a_lead_in():
    """Main memory: the windows before the timed ones are walked, and not counted."""
    walked = []

    class Clock:
        size = 1

        def time(self, jobs):
            walked.append(jobs)
            return 1.0 if len(walked) > cpu_roofs.LEAD else 1e-9  # writes stay in cache at first

    roof = cpu_roofs.Roof(("bandwidth", "dram", "copy"), 500, lambda passes: [], moves_on=True)
    roof.slice(Clock())
    assert roof.rates == [500.0]
    assert len(walked) == cpu_roofs.LEAD + cpu_roofs.TIMED


@pytest.mark.parametrize(
    ("threads", "error", "told"),
    [
        (0, ValueError, "threads=0 must be a positive integer"),
        (-1, ValueError, "threads=-1"),
        (True, TypeError, "threads=True is a bool"),
        (1.0, TypeError, r"threads=1\.0 is a float"),
        ("2", TypeError, "threads='2' is a str"),
        (10**6, ValueError, rf"threads=1000000: this process may use {CORES} core"),
    ],
)
def test_threads_that_cannot_be(threads, error, told):
    with pytest.raises(error, match=told):
        measure_roofs("cpu", threads, progress=False)


def test_no_threads_means_all_cores():
    assert thread_count(None) == CORES


def test_unknown_backend_comes_with_the_known_ones():
    with pytest.raises(ValueError, match=r"backend='gpux' is unknown; did you mean 'gpu'"):
        measure_roofs("gpux")
    assert roofs.SCHEMA == 1
