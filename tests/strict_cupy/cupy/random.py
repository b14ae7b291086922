"""cupy.random: a generator whose numbers are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import device

_old = np.random.RandomState(0)


class Generator:
    """cupy.random.Generator, as far as CuPy has it."""

    def __init__(self, seed: Any) -> None:
        self._numbers = np.random.default_rng(seed)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return device(self._numbers.random(size, dtype=dtype))

    def standard_normal(self, size: Any = None, dtype: Any = np.float64) -> Any:
        return device(self._numbers.standard_normal(size, dtype=dtype))

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Any:
        return device(self._numbers.integers(low, high, size, dtype=dtype))

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        return device(self._numbers.uniform(low, high, size))


default_rng = Generator


def seed(number: int) -> None:
    """Seed rand, randn and random."""
    _old.seed(number)


def random(size: Any = None) -> Any:
    """Uniform numbers in [0, 1)."""
    return device(_old.random_sample(size))


def rand(*shape: int, dtype: Any = np.float64) -> Any:
    """Uniform numbers in [0, 1)."""
    return device(np.asarray(_old.random_sample(shape), dtype))


def randn(*shape: int, dtype: Any = np.float64) -> Any:
    """Normal numbers."""
    return device(np.asarray(_old.standard_normal(shape), dtype))
