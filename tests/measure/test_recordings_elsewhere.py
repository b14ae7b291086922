"""What was recorded on another computer finds its machine there, and damaged files say so."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import rooflab as rl
from rooflab.measure import recording, this_machine
from rooflab.measure.backend import host_id
from rooflab.measure.free_lunch import FreeLunch
from rooflab.measure.measurement import Measurement
from tests.support.rows import each_row

EPYC = "epyc-2core-vm"


@pytest.fixture(autouse=True)
def _nothing_stored(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))


def taken(threads: int):
    return next(m for m in rl.recording(EPYC).measurements if m.threads == threads)


@each_row(1, 2)
def test_measurements_of_a_recording_have_its_machine_with_as_many_threads(threads) -> None:
    found = this_machine.machine_of([taken(threads), taken(threads)])
    assert found == rl.recording(EPYC).at(threads) and found.threads == threads
    assert this_machine.machine_of([taken(1), taken(2)]) is None


def test_measurements_of_several_machines_have_none_in_common() -> None:
    other = dataclasses.replace(taken(1), machine="elsewhere")
    assert this_machine.machine_of([taken(1), other]) is None
    assert this_machine.machine_of([taken(1), dataclasses.replace(taken(1), threads=7)]) is None
    assert this_machine.machine_of([other]) is None and this_machine.machine_of([]) is None


def test_without_a_gpu_its_recorded_measurements_are_looked_up_all_the_same(monkeypatch) -> None:
    def no_gpu(*_: object) -> None:
        raise RuntimeError("no GPU here")

    monkeypatch.setattr(this_machine, "stored_machine", no_gpu)
    assert this_machine.machine_of([taken(1)]) == rl.recording(EPYC).at(1)
    assert this_machine.machine_of([dataclasses.replace(taken(1), machine="elsewhere")]) is None


def test_a_recordings_name_stands_for_its_machine() -> None:
    op = rl.axpy(10**6)
    by_name = rl.explain(op, EPYC, seconds=1.0)
    assert by_name.machine == rl.recording(EPYC).machine


@each_row(1, 2)
def test_a_recorded_measurement_is_explained_with_the_roofs_of_its_threads(threads) -> None:
    why = rl.explain(taken(threads))
    assert why.machine == rl.recording(EPYC).at(threads)
    assert f"{threads} thread" in why.sentence


def test_a_recording_that_cannot_be_read_says_why(tmp_path) -> None:
    folder = tmp_path / "gone.json"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"gone\.json: cannot be read \(Is a directory\)"):
        recording.read(folder)


def test_a_curve_knows_only_what_was_measured() -> None:
    k = np.array([1, 2, 4])
    curve = FreeLunch(k, 1e-3 * k, 0.0 * k, n=1000, itemsize=4, threads=1)
    assert [curve.at(one) for one in (1, 2, 4)] == [1e-3, 2e-3, 4e-3]
    with pytest.raises(ValueError, match="k=3 was not measured; there are 1, 2, 4"):
        curve.at(3)


# explain() of a measurement knows the machine it was taken on.


def measurement(machine: str) -> Measurement:
    return Measurement(rl.axpy(10_000_000), machine, "cpu", "cold", 1, (0.01,) * 5, (), {})


def test_a_measurement_of_this_computer_is_explained_with_its_own_roofs(monkeypatch):
    here = rl.machine("amd-epyc-9654")
    asked = []
    monkeypatch.setattr(this_machine, "this_machine", lambda *told: asked.append(told) or here)
    found = rl.explain(measurement(host_id()))
    assert asked == [("cpu", 1)]
    assert found.machine is here
    assert found.seconds == 0.01


def test_a_measurement_of_an_unknown_machine_asks_for_one():
    with pytest.raises(TypeError, match="machine=None: say which"):
        rl.explain(measurement("somebody-elses-laptop"))


def test_a_named_machine_is_taken():
    assert rl.explain(measurement(host_id()), "h200-sxm").machine.id == "nvidia-h200-sxm"


def test_a_gpu_of_another_computer_is_looked_up_without_a_gpu_here(monkeypatch):
    monkeypatch.setattr(this_machine, "probe_gpu", lambda: (None, "CuPy is not installed"))
    elsewhere = Measurement(rl.axpy(10**7), "nvidia-h200-sxm", "gpu", "cold", None, (1e-4,) * 5)
    assert rl.explain(elsewhere).machine.id == "nvidia-h200-sxm"
    unknown = Measurement(rl.axpy(10**7), "gpu-of-a-friend", "gpu", "cold", None, (1e-4,) * 5)
    with pytest.raises(TypeError, match="machine=None: say which"):
        rl.explain(unknown)
