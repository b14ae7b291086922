"""Cold operands on a CPU: copies are used in turn, and a buffer is read to empty the caches.

A GPU's L2 is emptied by ``l2_flush`` in gpu.py.

The buffer is read, never written: a written one leaves dirty lines behind, and the call being timed
would pay for carrying them to memory (364 against 294 µs seen for the same call).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rooflab.measure.backend import available_cores
from rooflab.measure.caches import last_level_bytes

MARGIN = 4
"""Times the last-level cache that must pass before operands are used again: caches are not
perfectly least-recently-used, and a core may see several slices of a last level."""
MOST_COPIES = 64
A_CORE = 128 << 20  # bytes that one core reads while evicting; for more, others help


def copies_needed(
    working_set: int, room: int, last_level: int | None = None, calls: int = MOST_COPIES
) -> int:
    """How many sets of operands are used in turn, so that they fill ``MARGIN`` last-level caches.

    At most 64, one a call and what ``room`` bytes hold; at least 1.
    """
    wanted = math.ceil(MARGIN * (last_level or last_level_bytes()) / max(1, working_set))
    return max(1, min(wanted, MOST_COPIES, calls, room // max(1, working_set)))


def flows(passing: int, last_level: int) -> bool:
    """Whether a round of operands of ``passing`` bytes in all pushes its own first ones out."""
    return passing >= MARGIN * last_level


def evictor(
    passing: int, threads: int = 1, last_level: int | None = None
) -> Callable[[], float | None]:
    """Return a function that pushes the operands out of the caches by reading.

    ``passing``: bytes that a round of operands moves through the caches by itself. Where they are
    enough, nothing more is read. With several ``threads`` each reads a part, because operands may
    also lie in the private caches of the other cores. A large buffer is read by all cores.
    """
    level = last_level or last_level_bytes()
    if flows(passing, level):
        return lambda: None
    wanted = MARGIN * level
    buffer, readers = _ones(wanted // 8), max(threads, min(available_cores(), wanted // A_CORE))
    if readers <= 1:
        return lambda: float(np.add.reduce(buffer))
    return lambda: _read_in_parts(np.array_split(buffer, readers))


@functools.lru_cache(maxsize=1)
def _ones(length: int) -> np.ndarray:
    """The buffer to read. It is written, because pages never touched are all one page of zeros."""
    return np.ones(length)


def _read_in_parts(parts: Sequence[np.ndarray]) -> float:
    with ThreadPoolExecutor(len(parts)) as pool:  # NumPy's sums let go of the interpreter lock
        return float(sum(pool.map(np.add.reduce, parts)))
