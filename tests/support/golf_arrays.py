"""The arrays that golf draws for a case, drawn once for all answers to it.

A table of answers plays the same few cases a thousand times, and drawing their random numbers takes
a third of that. Each answer gets copies, because it may write over what it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any

import pytest
from numpy import ndarray

from rooflab.exercises.kinds import golf as kind
from rooflab.labs.golf import holes

KEPT = 32  # draws, of some 8 MB: three cases of each of five holes, and the judge's own
DRAWS = ("_vectors", "_matrix")


def once(draw: Callable[..., list[ndarray]]) -> Callable[..., list[ndarray]]:
    """``draw``, whose last results are kept."""
    kept = lru_cache(KEPT)(draw)

    @wraps(draw)
    def drawn(n: int, dtype: Any, seed: int) -> list[ndarray]:
        return [array.copy() for array in kept(n, dtype, seed)]

    return drawn


@contextmanager
def drawn_once() -> Iterator[None]:
    """Golf's arrays are drawn once for each size, type and seed."""
    with pytest.MonkeyPatch.context() as patch:
        for name in DRAWS:
            patch.setattr(holes, name, once(getattr(holes, name)))
        patch.setattr(kind, "SEED_BITS", 0)  # the judge's own seed is always the same, too
        yield
