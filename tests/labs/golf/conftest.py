"""Arrays far larger than a cache of 32 KiB."""

from __future__ import annotations

import sys

import numpy as np
import pytest

SMALL = 32 * 1024  # bytes of the cache that they are counted with
N = 327_680  # elements: 640 × 512, 80 times that cache
ROWS, COLUMNS = 640, 512


@pytest.fixture(autouse=True)
def python_itself_reports_what_nobody_catches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Golf's clock stops a function anywhere, also while the garbage collector calls pytest."""
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    """Inputs by the names that the functions of the tests give them."""
    random = np.random.default_rng(7)
    return {
        "x": random.standard_normal(N),
        "y": random.standard_normal(N),
        "z": random.standard_normal(N),
        "m": random.standard_normal((ROWS, COLUMNS)),
        "w": random.standard_normal((ROWS, COLUMNS)),
        "b": random.standard_normal(COLUMNS),
        "f": random.standard_normal(N).astype(np.float32),
        "i": random.integers(0, N, N),
        "k": random.random(N) < 0.25,
    }
