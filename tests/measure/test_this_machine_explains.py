"""explain() of a measurement knows the machine it was taken on."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.measure import this_machine
from rooflab.measure.backend import host_id
from rooflab.measure.measurement import Measurement


def measurement(machine: str) -> Measurement:
    return Measurement(rl.axpy(10_000_000), machine, "cpu", "cold", 1, (0.01,) * 5, (), {})


def test_a_measurement_of_this_computer_is_explained_with_its_own_roofs(monkeypatch):
    here = rl.machine("amd-epyc-9654")
    asked = []
    monkeypatch.setattr(
        this_machine,
        "this_machine",
        lambda backend, threads: asked.append((backend, threads)) or here,
    )
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
