"""This computer on offer: what is known of it already, without waking a GPU."""

from __future__ import annotations

import sys

import pytest

from rooflab.measure import backend, store, this_machine
from rooflab.measure.backend import Backend
from rooflab.show.rooflines.machine_choices import NOT_MEASURED, this_offer
from tests.measure.test_this_machine import ROUTINES, roofs


@pytest.fixture
def asleep(monkeypatch, tmp_path):
    """CuPy is installed and not imported; importing it or trying the GPU fails the test."""
    monkeypatch.setenv(store.ENV, str(tmp_path))
    monkeypatch.delenv("ROOFLAB_BACKEND", raising=False)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(this_machine, "cupy_installed", lambda: True)
    monkeypatch.setattr(backend, "probe_gpu", lambda: pytest.fail("the GPU was woken"))
    return monkeypatch


def test_a_computer_that_nobody_measured_is_greyed(asleep):
    found = this_offer()
    assert found.machine is None
    assert found.reason == NOT_MEASURED
    assert "cupy" not in sys.modules


def test_a_measured_gpu_is_offered_before_the_cpu(asleep):
    names = []
    for kind, name in (("cpu", "A Processor"), ("gpu", "Some Card 9000")):
        with asleep.context() as here:
            here.setattr(this_machine, "select", lambda *_, k=kind, n=name: Backend(k, None, "", n))
            here.setattr(
                this_machine, "measured_roofs",
                lambda chosen, count, progress: {**roofs(chosen.name, count), "routines": ROUTINES},
            )  # fmt: skip
            this_machine.this_machine(kind, progress=False)
        names.append(this_offer().machine.kind)
    assert names == ["cpu", "gpu"]
    assert this_offer().name == "Some Card 9000"
    assert "cupy" not in sys.modules
