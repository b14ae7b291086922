"""Blocks of memory behind arrays: who shares one, where it counts, and whose it is."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy import ndarray
from numpy.lib._stride_tricks_impl import DummyArray
from numpy.lib.array_utils import byte_bounds

# What golf says when it cannot count, and when it stops a function that never ends.


class GolfError(ValueError):
    """A function that cannot be counted; the text says what stands in the way.

    ``step``: how many steps had been counted before.
    """

    step: int = 0


class Untraceable(GolfError):
    """A call, dtype or library for which golf has no model: refused, never guessed."""


class Stopped(BaseException):
    """Raised inside a function that runs too long.

    Not an Exception, so that ``except Exception`` in the function does not swallow it; what
    leaves :func:`rooflab.labs.golf` is a GolfError.
    """


def no_model(call: str) -> Untraceable:
    """Return the error for a NumPy call without a model."""
    return Untraceable(
        f"{call}: golf has no count for it, and will not guess; use add, multiply, sqrt, maximum, "
        "where, sum, dot, einsum"
    )


def stripped(by: str) -> Untraceable:
    """Return the error for a call that wants a plain array and would lose the trace."""
    return Untraceable(
        f"{by} takes the numbers out of the array; it may move few bytes, but golf cannot count "
        "them: call NumPy's own functions"
    )


# Which bytes of memory were touched: stretches where views are dense, a mask where they are
# not.


LINE = 64  # bytes of a cache line
Place = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""Where a view lies: address of its first element, shape, strides, itemsize."""


def place(array: ndarray) -> Place:
    """Return where ``array`` lies."""
    return array.__array_interface__["data"][0], array.shape, array.strides, array.itemsize


def whole_lines(array: ndarray) -> bool:
    """Whether ``array`` skips so little that every line between its bounds has a part of it."""
    low, high = byte_bounds(array)
    return _together(array.shape, array.strides, array.itemsize) >= high - low


class Coverage:
    """A set of byte addresses, grown view by view.

    ``lines``: an address at which a line begins. Then small gaps belong to the set, and a view
    with larger ones has a line, or what lies together, between each two.
    """

    def __init__(self, *arrays: ndarray, lines: int | None = None) -> None:
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
        elif array.flags.forc or (self._lines is not None and whole_lines(array)):
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
        if self._lines is not None:
            loose = {_in_lines(*where, phase=self._lines): (low - LINE, high + LINE)
                     for where, (low, high) in loose.items()}  # fmt: skip
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


def _in_lines(
    address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int, phase: int
) -> Place:
    """A view with gaps, where each of its parts fills a line at least, and lies in that line."""
    together = _together(shape, strides, itemsize)
    if together >= LINE:
        return address, shape, strides, itemsize
    far = [(n, step) for n, step in zip(shape, strides) if abs(step) - together >= LINE or n == 1]
    kept = tuple(n for n, _ in far), tuple(step for _, step in far)
    return max(address - (address - phase) % LINE, address + together - LINE), *kept, LINE


def _together(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """Bytes of a view that lie together, with gaps of less than a line."""
    reach = itemsize
    for step, length in sorted((abs(s), n) for s, n in zip(strides, shape) if n > 1 and s):
        if step - reach >= LINE:
            break
        reach = max(reach, step) + step * (length - 1)
    return reach


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


def line_bytes(array: ndarray) -> tuple[int, int]:
    """Bytes of the lines that ``array`` touches, and what of it lies together.

    Where it has gaps of a line or more, what lies together counts its own bytes, and one line at
    least.
    """
    together = _together(array.shape, array.strides, array.itemsize)
    axes = zip(map(abs, array.strides), array.shape)
    parts = math.prod(n for step, n in axes if step - together >= LINE)
    return parts * max(together, LINE), together


def crossed_bytes(array: ndarray, out: ndarray, room: int) -> int:
    """Bytes that pass when ``array`` is read in the order of ``out``, across its rows; else 0.

    Those of a line for each element, unless ``room`` bytes hold all of it, or the lines of a column
    until the next column wants them.
    """
    same = array.shape == out.shape
    large = array.nbytes > room and array.ndim > 1 and array.size == out.size
    if not large or not (same or out.ndim == 1):
        return 0
    by = out.strides if same else range(array.ndim, 0, -1)
    order = sorted(range(array.ndim), key=lambda axis: -abs(by[axis]))
    axes = [(abs(array.strides[a]), array.shape[a]) for a in order if array.shape[a] > 1]
    shares = [at for at, (step, _) in enumerate(axes) if step < LINE]
    if not shares or shares[-1] == len(axes) - 1:
        return 0
    column = math.prod(length for _, length in axes[shares[-1] + 1 :])
    return array.size * LINE if column * (LINE + out.itemsize) > room else array.nbytes


def new_bytes(array: ndarray, earlier: list[ndarray]) -> int:
    """Bytes of ``array`` that none of the ``earlier`` arrays of the same call touches."""
    meets = [other for other in earlier if np.may_share_memory(array, other)]
    if not meets:
        return distinct_bytes(array)
    if any(place(array) == place(other) for other in meets):
        return 0
    return Coverage(array, *meets).bytes() - Coverage(*meets).bytes()


@dataclass
class Label:
    """A name that may still change: what a function returns is known at its end."""

    name: str


class Buffer:
    """One block of memory: an input, or an array that the function made. Views share it.

    ``origin``: its address, before it was copied. ``borrowed``: it is the caller's own and is
    copied before anything is written to it. ``read``: bytes read before the function wrote them;
    ``written``.
    """

    def __init__(self, owner: ndarray, name: str, *, borrowed: bool = False) -> None:
        self.owner, self.label = owner, Label(name)
        self.origin = place(owner)[0]
        self.source = self.borrowed = borrowed
        self.writeable, self.changed = True, False
        self.views: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by id: no hash needed
        self.released: Callable[[], None] | None = None
        start = self.origin % LINE  # a copy starts alike
        self.read, self.written = Coverage(lines=start), Coverage(lines=start)

    def __del__(self) -> None:
        if self.released:
            self.released()

    def bounds(self) -> tuple[int, int]:
        """Return the addresses between which the views of this block lie."""
        bounds = [byte_bounds(view.array) for view in self.views.values()]
        return min(low for low, _ in bounds), max(high for _, high in bounds)

    def take_copy(self, low: int, high: int) -> ndarray:
        """Copy the caller's bytes from address ``low`` to ``high``; every view moves to the copy.

        Returns the copy's block, the new owner.
        """
        theirs = np.frombuffer((ctypes.c_ubyte * (high - low)).from_address(low), np.uint8)
        room = np.ndarray(high - low + 2 * LINE, np.uint8)  # it starts alike within a line
        skip = low % LINE + -place(room)[0] % LINE
        room[skip : skip + high - low] = theirs
        for view in self.views.values():
            old = view.array
            offset = skip + place(old)[0] - low
            writeable = view.writeable
            view.array = np.ndarray(old.shape, old.dtype, room, offset, old.strides)
            view.array.flags.writeable = writeable
        by = place(room)[0] + skip - low
        self.read.move(by)
        self.origin += by
        self.owner, self.borrowed = room, False
        return room


def owner_of(array: ndarray) -> ndarray:
    """Return the array that holds the memory of ``array``."""
    while True:
        base = array.base
        if type(base) is DummyArray:  # as_strided and sliding_window_view go through one
            base = base.base
        if not isinstance(base, ndarray):
            return array
        array = base


# Arrays that golf has not seen being made, and how much a function may write to them.
#
# What is in them can be read without golf, so a function that writes all its numbers there could
# work on them unseen. A few are harmless, such as a sum; a graded run allows no more.


class Strangers:
    """The plain arrays of a run. ``most``: bytes that may be written to them; None: any number."""

    def __init__(self, most: int | None) -> None:
        self._most, self._written = most, 0
        self._known: WeakValueDictionary[int, ndarray] = WeakValueDictionary()
        self.refused: Untraceable | None = None

    def note(self, array: ndarray) -> None:
        """Remember that the function holds this plain array itself."""
        if self._most is not None:
            owner = owner_of(array)
            self._known[id(owner)] = owner

    def wrote(self, buffer: Buffer, count: int, call: str) -> None:
        """Count what a call wrote; raise Untraceable when too much of it went to plain arrays."""
        owner = buffer.owner
        if self._most is None or buffer.source:
            return
        if owner.flags.owndata and id(owner) not in self._known:
            return
        self._written += count
        if self._written > self._most:
            self.refused = Untraceable(
                f"{call} writes to an array that golf has not seen being made; make it with "
                "np.empty, np.zeros or np.empty_like"
            )
            raise self.refused
