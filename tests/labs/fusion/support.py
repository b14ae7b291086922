"""Costs of a machine that is known: every call 1 µs, every element 0.3 ns, pages 0.2 ns a byte."""

from __future__ import annotations

import importlib

import rooflab as rl
from rooflab.measure import pages
from tests.support.machine import ROOFS

CALIBRATION = importlib.import_module("rooflab.labs.fusion.costs")  # rl.fusion.costs is a function
KEYS = [key for key, _ in CALIBRATION._calls()]
COSTS = rl.fusion.Costs(dict.fromkeys(KEYS, 1e-6), dict.fromkeys(KEYS, 3e-10), 31 << 20, 2e-10)
MACHINE = rl.Machine.from_roofs(ROOFS, id="here", name="A test machine")


def calibrate_at_once(monkeypatch) -> None:
    """Costs that need no measuring."""
    known = {"calls": COSTS.calls, "elements": COSTS.elements}
    monkeypatch.setattr(CALIBRATION, "measured_costs", lambda progress: known)
    new = pages.Pages(COSTS.recycled, COSTS.fresh)
    monkeypatch.setattr(pages, "measured_pages", lambda progress: new)
