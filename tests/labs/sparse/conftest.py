"""Roofs and costs that need no measuring, for every test of the lab."""

from __future__ import annotations

import importlib

import pytest

from rooflab.measure import this_machine
from tests.support.machine import ROOFS

GAIN = importlib.import_module("rooflab.labs.sparse.gain")
COSTS = {"fp32": 1e-10, "blas": 1e-10, "int8": 1e-10, "int4": 1e-10, "2:4": 2e-10}  # s a weight


@pytest.fixture(autouse=True)
def calibrated(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(this_machine, "measured_roofs", lambda *_: {**ROOFS, "routines": {}})
    monkeypatch.setattr(GAIN, "measured_weights", lambda progress: COSTS)
