"""A measured machine that needs no measuring."""

from __future__ import annotations

import pytest

import rooflab as rl

ROOFS = {
    "schema": 1, "backend": "cpu", "threads": 1, "measured_on": "2026-11-21T10:00:00Z",
    "seconds": 1.0,
    "peak": {"fp32": {"value": 1.2e11, "samples": []}, "fp64": {"value": 6e10, "samples": []}},
    "bandwidth": {
        level: {mix: {"value": rate, "samples": []} for mix in ("read", "axpy", "copy", "update")}
        for level, rate in (("l1", 4e11), ("l2", 1.5e11), ("l3", 6e10), ("dram", 2e10))
    },
    "capacity": {"l1": 32768, "l2": 1048576, "l3": 33554432, "dram": 25_000_000_000},
    "spill": {},
}  # fmt: skip


@pytest.fixture
def here() -> rl.Machine:
    """A machine with four memory levels, measured on 2026-11-21."""
    return rl.Machine.from_roofs(ROOFS, id="here", name="A test machine")


def measurement(op: rl.Operation, machine: str, seconds: float) -> object:
    """A measurement of ``op`` that took ``seconds``, cold, with one thread."""
    from rooflab.measure.measurement import Measurement

    return Measurement(op=op, machine=machine, backend="cpu", cache="cold", threads=1,
                       samples=(seconds,) * 20, warnings=(), environment={})  # fmt: skip
