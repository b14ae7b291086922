"""This machine is measured once, remembered, and measured again when the memory is no good."""

from __future__ import annotations

import copy
import json
import sys
import threading
import types
import warnings

import pytest

from rooflab.measure import backend, store, this_machine
from rooflab.measure.backend import Backend, available_cores, host_id
from rooflab.predict.machine import Machine
from tests.support.rows import each_row

find = this_machine.this_machine
ROUTINES = {
    "axpy/fp32": {
        "overhead_s": 1e-6, "cold_overhead_s": 2e-6,
        "points": [{"level": "dram", "efficiency": 0.9}],
    }
}  # fmt: skip


def roofs(backend: str = "cpu", threads: int | None = 1, fp32: float = 1e11) -> dict:
    mixes = {mix: {"value": 2e10, "samples": [2e10]} for mix in ("read", "axpy", "copy", "update")}
    return {
        "schema": 1, "backend": backend, "threads": threads, "notes": [], "seconds": 1.0,
        "measured_on": "2026-01-02T03:04:05Z", "peak": {"fp32": {"value": fp32, "samples": [fp32]}},
        "bandwidth": {"l1": copy.deepcopy(mixes), "dram": mixes},
        "capacity": {"l1": 32768, "dram": 1 << 30},
        "spill": {},
    }  # fmt: skip


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """A stand-in for the seconds of measuring; holds the calls it got."""
    calls = []

    def measure(backend, threads, progress):
        progress(0.5)
        calls.append((backend, threads))
        return roofs(backend, threads, fp32=1e11 * len(calls))

    monkeypatch.setenv(store.ENV, str(tmp_path))
    monkeypatch.setattr(store, "_unwritten", {})
    monkeypatch.setattr(this_machine, "measure_roofs", measure)
    monkeypatch.setattr(this_machine, "calibrate", lambda m: copy.deepcopy(ROUTINES))
    return calls


def stored_file(tmp_path):
    (path,) = tmp_path.glob("*.json")
    return path


def test_the_first_call_measures_and_later_ones_remember(measured):
    first = find("cpu", 1, progress=False)
    assert isinstance(first, Machine)
    assert first.id == host_id()
    assert first.threads == 1
    assert first.routines == ROUTINES
    assert find("cpu", 1).to_dict() == first.to_dict()
    assert measured == [("cpu", 1)]


def test_every_thread_count_has_its_own_roofs(measured):
    find("cpu", None, progress=False)
    find("cpu", available_cores())
    assert measured == [("cpu", available_cores())]


def test_refresh_measures_again(measured):
    assert find("cpu", 1, progress=False).peak("fp32") == 1e11
    assert find("cpu", 1, refresh=True, progress=False).peak("fp32") == 2e11
    assert find("cpu", 1).peak("fp32") == 2e11


def damage(change):
    document = {**roofs(), "routines": copy.deepcopy(ROUTINES)}
    change(document)
    return document


def axpy(document):
    return document["routines"]["axpy/fp32"]


@each_row(
    ([], "it holds no roofs"),
    ({"schema": "1"}, "it holds no roofs"),
    (damage(lambda d: d.update(schema=2)), "a newer version of rooflab wrote it"),
    (damage(lambda d: d.update(schema=0)), "an older version of rooflab wrote it"),
    (damage(lambda d: d.update(threads=7)), "it belongs to other threads"),
    (damage(lambda d: d.update(backend="gpu")), "it belongs to other threads or another"),
    (damage(lambda d: d.pop("measured_on")), "it does not say when"),
    (damage(lambda d: d["bandwidth"].pop("dram")), "its figures are damaged"),
    (damage(lambda d: d["bandwidth"]["l1"].pop("copy")), "its figures are damaged"),
    (damage(lambda d: d["peak"]["fp32"].update(value=-1.0)), "its figures are damaged"),
    (damage(lambda d: d["peak"]["fp32"].update(value="fast")), "its figures are damaged"),
    (damage(lambda d: d.update(capacity=None)), "its figures are damaged"),
    (damage(lambda d: d.pop("spill")), "an older version of rooflab wrote it"),
    (damage(lambda d: d.update(spill={"l2": [["x", 0]]})), "its figures are damaged"),
    (damage(lambda d: d.update(spill={"l2": [[8, 0], [8, 1]]})), "its figures are damaged"),
    (damage(lambda d: d.pop("routines")), "its figures are damaged"),
    (damage(lambda d: d.update(routines={"axpy/fp32": 3})), "its figures are damaged"),
    (damage(lambda d: axpy(d).pop("cold_overhead_s")), "its figures are damaged"),
    (damage(lambda d: axpy(d).update(overhead_s="x")), "its figures are damaged"),
    (damage(lambda d: axpy(d)["points"][0].update(efficiency=0)), "its figures are damaged"),
    (damage(lambda d: axpy(d)["points"][0].update(level="l2")), "its figures are damaged"),
)
def test_what_is_wrong_with_a_file_is_named_and_of_a_sound_one_nothing(document, told):
    assert this_machine.roofs_problem(damage(lambda d: None), "cpu", 1) == ""
    assert told in this_machine.roofs_problem(document, "cpu", 1)


def test_a_file_that_is_no_good_is_measured_again_with_one_warning(measured, tmp_path):
    find("cpu", 1, progress=False)
    stored_file(tmp_path).write_text(json.dumps(damage(lambda d: d.pop("peak"))))
    with pytest.warns(UserWarning, match="its figures are damaged") as all_told:
        assert find("cpu", 1, progress=False).peak("fp32") == 2e11
    assert len(all_told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find("cpu", 1).peak("fp32") == 2e11  # and then it is good again


def test_a_directory_that_cannot_be_written_costs_a_warning_only(measured, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.ENV, str(tmp_path / "file" / "inside"))
    with pytest.warns(UserWarning, match="cannot write"):
        find("cpu", 1, progress=False)
    assert find("cpu", 1).peak("fp32") == 1e11
    assert len(measured) == 1


def test_in_the_background_it_is_a_future_and_progress_is_told_too(measured):
    shares: list[float] = []
    future = this_machine.this_machine_async("cpu", 1, progress=shares.append)
    assert future.result(timeout=60).peak("fp32") == 1e11
    assert shares == [0.5 * this_machine.ROOFS_SHARE, 1.0]
    assert find("cpu", 1).peak("fp32") == 1e11
    assert len(measured) == 1


def test_a_bar_appears_only_where_something_is_measured(measured, capsys):
    this_machine.this_machine_async("cpu", 1).result(timeout=60)
    assert "measuring this machine" in capsys.readouterr().err
    this_machine.this_machine_async("cpu", 1).result(timeout=60)
    assert not capsys.readouterr().err
    this_machine.this_machine_async("cpu", 1, refresh=True).result(timeout=60)
    assert "measuring this machine" in capsys.readouterr().err


def test_a_failure_in_the_background_waits_in_the_future(measured):
    future = this_machine.this_machine_async("cpu", 0)
    with pytest.raises(ValueError, match="threads=0"):
        future.result(timeout=60)


def test_two_at_once_measure_once(measured):
    together = threading.Barrier(2, timeout=30)

    def call():
        together.wait()
        find("cpu", 1, progress=False)

    workers = [threading.Thread(target=call) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(measured) == 1


def test_a_gpu_has_its_own_file_and_no_threads(measured, tmp_path, monkeypatch):
    machine = with_a_card(measured, monkeypatch)
    assert machine.kind == "gpu"
    assert machine.threads is None
    assert machine.name == "Some Card 9000"
    assert "some-card-9000" in stored_file(tmp_path).name
    assert measured == [("gpu", None)]
    assert machine.routines == ROUTINES
    # Without routines it is of an older version.
    stored_file(tmp_path).write_text(json.dumps(roofs("gpu", None)))
    with pytest.warns(UserWarning, match="an older version of rooflab wrote it: measuring again"):
        assert with_a_card(measured, monkeypatch).routines == ROUTINES
    assert len(measured) == 2


@pytest.fixture
def asleep(monkeypatch):
    """CuPy is installed, and a GPU that is woken fails the test."""
    monkeypatch.delenv("ROOFLAB_BACKEND", raising=False)
    monkeypatch.setattr(this_machine, "cupy_installed", lambda: True)
    monkeypatch.setattr(backend, "probe_gpu", lambda: pytest.fail("the GPU was woken"))
    return monkeypatch


def with_a_card(measured, monkeypatch, name="Some Card 9000"):
    with monkeypatch.context() as here:
        here.setattr(this_machine, "select", lambda *_: Backend("gpu", None, "asked for", name))
        return find("gpu", progress=False)


def test_a_picture_takes_the_stored_gpu_without_waking_it(measured, asleep):
    assert this_machine.stored_machine() is None
    card = with_a_card(measured, asleep)
    assert this_machine.stored_machine() == card
    assert this_machine.stored_machine("gpu") == card
    assert this_machine.stored_machine("auto", 1) is None  # threads are a CPU's
    core = find("cpu", 1, progress=False)
    assert this_machine.stored_machine("auto", 1) == core
    asleep.setenv("ROOFLAB_BACKEND", "cpu")
    assert this_machine.stored_machine(None, 1) == core
    asleep.setattr(this_machine, "cupy_installed", lambda: False)
    asleep.delenv("ROOFLAB_BACKEND")
    assert this_machine.stored_machine(None, 1) == core


def test_a_picture_without_a_stored_gpu_takes_the_stored_cpu(measured, asleep):
    core = find("cpu", None, progress=False)
    assert this_machine.stored_machine() == core
    assert this_machine.stored_machine("gpu") is None
    with pytest.raises(ValueError, match="backend='tpu'"):
        this_machine.stored_machine("tpu")


def test_the_gpu_measured_last_is_shown_and_never_another_computers(measured, asleep, tmp_path):
    with_a_card(measured, asleep, "Card A")
    other = with_a_card(measured, asleep, "Card B")
    path = tmp_path / f"roofs-{other.id}-gpu.json"
    later = {**json.loads(path.read_text()), "measured_on": "2027-01-01T00:00:00Z"}
    path.write_text(json.dumps(later))
    assert this_machine.stored_machine().name == "Card B"
    path.rename(tmp_path / "roofs-card-b-abcdef-gpu.json")  # of a home folder that hosts share
    assert this_machine.stored_machine().name == "Card A"


def test_roofs_in_the_background_are_those_of_the_gpu_in_use_here(measured, monkeypatch):
    used, made = [], threading.current_thread()

    class Card:
        id = 1

        def __init__(self, number=0):
            self.number = number

        def use(self):
            used.append((self.number, threading.current_thread() is made))

    cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(Device=Card))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    this_machine.this_machine_async("cpu", 1, progress=False).result(timeout=60)
    assert used == [(1, False)]
