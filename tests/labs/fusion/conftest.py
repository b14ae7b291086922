"""Roofs and costs that need no measuring, for every test of the lab."""

from __future__ import annotations

import pytest

from rooflab.measure import this_machine
from tests.labs.fusion.support import calibrate_at_once
from tests.support.machine import ROOFS


@pytest.fixture(autouse=True)
def calibrated(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(this_machine, "measured_roofs", lambda *_: {**ROOFS, "routines": {}})
    calibrate_at_once(monkeypatch)
