"""Arrays far larger than the 32 KiB that count as cache."""

from __future__ import annotations

import numpy as np
import pytest

N = 40_960  # elements: 80 × 512
ROWS, COLUMNS = 80, 512


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
