"""A small simulated GPU, and the stand-in for CuPy on it."""

from __future__ import annotations

import pytest

from rooflab.labs.cuda import Device, StandIn

DEVICE = Device(
    "toy", bandwidth=1e12, l2_bandwidth=4e12, l2_bytes=32 << 20,
    peak={"float32": 1e13, "float64": 5e12},
)  # fmt: skip


@pytest.fixture
def cp() -> StandIn:
    return StandIn(DEVICE)
