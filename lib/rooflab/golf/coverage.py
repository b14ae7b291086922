"""Which bytes of memory were touched: stretches where views are dense, a mask where they are
not."""

from __future__ import annotations

import math

import numpy as np
from numpy import ndarray
from numpy.lib.array_utils import byte_bounds

LINE = 64  # bytes of a cache line
Place = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""Where a view lies: address of its first element, shape, strides, itemsize."""


def place(array: ndarray) -> Place:
    """Return where ``array`` lies."""
    return array.__array_interface__["data"][0], array.shape, array.strides, array.itemsize


def whole_lines(array: ndarray) -> bool:
    """Whether ``array`` skips so little that every line between its bounds has a part of it."""
    axes = sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1 and s)
    reach = array.itemsize
    for step, length in axes:
        if step - reach >= LINE:
            return False
        reach = max(reach, step) + step * (length - 1)
    return True


class Coverage:
    """A set of byte addresses, grown view by view; with ``lines`` small gaps belong to it."""

    def __init__(self, *arrays: ndarray, lines: bool = False) -> None:
        self._lines = lines
        self._runs: list[tuple[int, int]] = []  # dense stretches, sorted and apart
        self._loose: dict[Place, tuple[int, int]] = {}  # views with gaps, and their bounds
        self._some: dict[Place, tuple[int, int, int]] = {}  # bounds, and how many bytes in them
        for array in arrays:
            self.add(array)

    def add(self, array: ndarray, some: int | None = None) -> None:
        """Add the bytes of ``array``, or ``some`` bytes: as many as an index names, anywhere."""
        if array.size == 0:
            return
        low, high = byte_bounds(array)
        if some is not None:
            earlier = self._some.get(place(array), (0, 0, 0))[2]
            self._some[place(array)] = (low, high, earlier + some)
        elif array.flags.forc or (self._lines and whole_lines(array)):
            self._add_run(low, high)
        elif not self._inside(low, high):
            self._loose[place(array)] = (low, high)

    def covers(self, array: ndarray) -> bool:
        """True when every byte of ``array`` is known to be in the set."""
        return array.size == 0 or self._inside(*byte_bounds(array)) or place(array) in self._loose

    def bytes(self) -> int:
        """How many bytes the set holds; of what indices name, no more than they name."""
        sure = self._count(self._loose)
        if not self._some:
            return sure
        named = sum(count for _, _, count in self._some.values())
        whole = {where: (low, high) for where, (low, high, _) in self._some.items()}
        return min(sure + named, self._count(self._loose | whole))

    def _count(self, loose: dict[Place, tuple[int, int]]) -> int:
        if not loose:
            return sum(high - low for low, high in self._runs)
        bounds = [*loose.values(), *self._runs]
        low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        grain = _grain(low, loose, self._runs)
        seen = np.zeros((high - low) // grain, np.uint8)
        for start, stop in self._runs:
            seen[(start - low) // grain : (stop - low) // grain] = 1
        for address, shape, strides, itemsize in loose:
            steps = (*(step // grain for step in strides), 1)
            _mark(seen, (address - low) // grain, (*shape, itemsize // grain), steps)
        return int(np.count_nonzero(seen)) * grain

    def move(self, by: int) -> None:
        """Shift the set by ``by`` bytes: the block that it describes was copied elsewhere."""
        self._runs = [(low + by, high + by) for low, high in self._runs]
        self._loose = {
            (address + by, *rest): (low + by, high + by)
            for (address, *rest), (low, high) in self._loose.items()
        }
        self._some = {
            (address + by, *rest): (low + by, high + by, count)
            for (address, *rest), (low, high, count) in self._some.items()
        }

    def __bool__(self) -> bool:
        return bool(self._runs or self._loose or self._some)

    def _inside(self, low: int, high: int) -> bool:
        return any(start <= low and high <= stop for start, stop in reversed(self._runs))

    def _add_run(self, low: int, high: int) -> None:
        runs = self._runs
        if runs and runs[-1][0] <= low <= runs[-1][1]:  # a loop over chunks: grow the last one
            runs[-1] = (runs[-1][0], max(high, runs[-1][1]))
            return
        if self._inside(low, high):
            return
        joined: list[tuple[int, int]] = []
        for start, stop in sorted([*runs, (low, high)]):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
            else:
                joined.append((start, stop))
        self._runs = joined


def _grain(low: int, loose: dict[Place, tuple[int, int]], runs: list[tuple[int, int]]) -> int:
    """Largest block of bytes that no view and no stretch divides."""
    sizes = [bound - low for run in runs for bound in run]
    for address, _, strides, itemsize in loose:
        sizes += [address - low, itemsize, *strides]
    sizes += [high - low for _, high in loose.values()]
    return max(1, math.gcd(*sizes))


def _mark(seen: ndarray, offset: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> None:
    """Set to 1 where a view lies. One that repeats elements, such as windows, in few passes."""
    if math.prod(shape) <= 4 * seen.size:
        np.ndarray(shape, np.uint8, seen, offset, steps)[...] = 1
        return
    part = np.zeros_like(seen)
    part[offset + sum(step * (n - 1) for n, step in zip(shape, steps) if step < 0)] = 1
    for length, step in zip(shape, map(abs, steps)):
        done = 1 if step else length
        while done < length:  # twice as many each time
            by = min(done, length - done)
            part[step * by :] |= part[: len(part) - step * by]
            done += by
    seen |= part


def distinct_bytes(array: ndarray) -> int:
    """Bytes of memory that ``array`` touches; what a broadcast repeats counts once."""
    if array.flags.forc or array.size == 0:
        return array.nbytes
    axes = sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1 and s)
    reach = array.itemsize
    for step, length in axes:
        if step < reach:
            return Coverage(array).bytes()  # elements overlap: a sliding window
        reach += step * (length - 1)
    return math.prod(n for _, n in axes) * array.itemsize


def new_bytes(array: ndarray, earlier: list[ndarray]) -> int:
    """Bytes of ``array`` that none of the ``earlier`` arrays of the same call touches."""
    meets = [other for other in earlier if np.may_share_memory(array, other)]
    if not meets:
        return distinct_bytes(array)
    if any(place(array) == place(other) for other in meets):
        return 0
    return Coverage(array, *meets).bytes() - Coverage(*meets).bytes()
