"""golf's cache: what a NumPy call finds in it, what it brings along, and what leaves for that.

The cache holds 512 KiB, whatever arrays they belong to. What was touched longest ago leaves first
(least recently used, LRU). Bytes that are found move nothing. What is read and not found is carried
in. What was written is carried out when it leaves, and counts for the call that wrote it. What is
written and not found is not carried in first, though many processors do so.

A cache of hardware holds lines of 64 bytes. Here neighbouring lines that were touched together
are one ``Stretch``, so a call on millions of numbers takes some hundred steps of Python.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

CACHE = 512 * 1024
"""Bytes of golf's cache: what a core has near it, in its second level."""
GRAINS = 16  # a call touches its arrays in turns, all together such a part of the cache each time


@dataclass
class Passage:
    """One array passing by in one step. ``moved``: those of its ``bytes`` that cross the bus."""

    label: Any
    bytes: int
    way: str
    shape: tuple[int, ...]
    dtype: str
    moved: int = 0


@dataclass
class CachedOperand:
    """Bytes ``low`` to ``high`` of ``place`` in a call, read and written by these passages.

    ``place``: a buffer's id, and for a view with gaps where it lies in there. ``some``: as many
    bytes as an index names, somewhere between ``low`` and ``high``.
    """

    place: tuple[int, Any]
    low: int
    high: int
    read: Passage | None = None
    write: Passage | None = None
    some: int | None = None

    @property
    def length(self) -> int:
        return self.high - self.low


@dataclass(slots=True)
class Stretch:
    """Bytes in the cache, touched together; ``writer`` pays when they are carried out."""

    place: tuple[int, Any]
    low: int
    high: int
    writer: Passage | None
    touched: int = field(default=0)


class Cache:
    """An LRU cache of ``size`` bytes."""

    def __init__(self, size: int) -> None:
        self.size, self._used, self._now = size, 0, 0
        self._held: dict[int, dict[tuple[int, Any], list[Stretch]]] = {}  # by buffer, by place
        self._oldest: list[tuple[int, int, Stretch]] = []  # a heap; empty stretches are gone

    def hold(self, buffer: int, nbytes: int) -> None:
        """A new buffer: nothing of it is in the cache before it is touched."""

    def call(self, operands: Sequence[CachedOperand]) -> None:
        """One call: its arrays pass by side by side, each from its first byte to its last."""
        found = [one.some is None or self._has(one) for one in operands]
        for one, here in zip(operands, found):
            if not here:
                _pay(one, one.some)
        dense = _merged([one for one, here in zip(operands, found) if here])
        total = sum(one.length for one in dense)
        for start, stop, fresh in self._turns(total):
            for one in dense:
                low, high = (one.low + one.length * at // total for at in (start, stop))
                if fresh:
                    _pay(one, high - low)
                elif low < high:
                    self._touch(one, low, high)

    def _turns(self, total: int) -> Iterator[tuple[int, int, bool]]:
        """Cut a call of ``total`` bytes. In its middle nothing can be found: True there.

        At the beginning it finds what lay in the cache before; what it leaves there is its end.
        """
        grain = max(1, self.size // GRAINS)
        edge = self.size + grain
        first, last = (edge, total - edge) if total > 2 * edge else (total, total)
        yield from ((at, min(at + grain, first), False) for at in range(0, first, grain))
        yield first, last, True
        yield from ((at, min(at + grain, total), False) for at in range(last, total, grain))

    def leave(self, buffer: int) -> None:
        """Forget a buffer that is gone: nobody wants what was written to it."""
        for stretches in self._held.pop(buffer, {}).values():
            for one in stretches:
                self._used -= one.high - one.low
                one.low = one.high

    def flush(self) -> None:
        """The end of the run: what was written goes out to memory."""
        for places in self._held.values():
            for stretches in places.values():
                for one in stretches:
                    if one.writer:
                        one.writer.moved += one.high - one.low
        self._held.clear()

    def _has(self, one: CachedOperand) -> bool:
        """Whether all bytes of ``one`` are in the cache."""
        at = one.low
        for found in self._held.get(one.place[0], {}).get(one.place, ()):
            if found.low > at:
                break
            at = max(at, found.high)
        return at >= one.high

    def _touch(self, one: CachedOperand, low: int, high: int) -> None:
        found = self._taken(one.place, low, high)
        if one.read:
            one.read.moved += high - low - sum(b - a for a, b, _ in found)
        if one.write:
            found = [(low, high, one.write)]
        elif sum(b - a for a, b, _ in found) < high - low:
            found = _filled(found, low, high)
        stretches = self._held.setdefault(one.place[0], {}).setdefault(one.place, [])
        at = bisect_right(stretches, low, key=_low)
        new = [Stretch(one.place, a, b, writer) for a, b, writer in found]
        stretches[at:at] = new
        for stretch in new:
            self._now += 1
            stretch.touched = self._now
            heapq.heappush(self._oldest, (self._now, stretch.low, stretch))
        self._used += high - low
        if self._used > self.size:
            self._make_room()

    def _taken(self, place: tuple[int, Any], low: int, high: int) -> list[tuple]:
        """Take out what lies between ``low`` and ``high``: (low, high, writer), in order."""
        stretches = self._held.get(place[0], {}).get(place)
        if not stretches:
            return []
        first = last = bisect_right(stretches, low, key=_high)
        found, kept = [], []
        while last < len(stretches) and stretches[last].low < high:
            one = stretches[last]
            a, b = max(low, one.low), min(high, one.high)
            found.append((a, b, one.writer))
            self._used -= b - a
            if b < one.high:  # a rest on the right keeps its age
                rest = Stretch(place, b, one.high, one.writer, one.touched)
                heapq.heappush(self._oldest, (rest.touched, rest.low, rest))
                kept.append(rest)
            one.high = max(a, one.low)
            if one.low < one.high:
                kept.insert(0, one)
            last += 1
        stretches[first:last] = kept
        return found

    def _make_room(self) -> None:
        while self._used > self.size:
            one = self._oldest[0][2]
            length = one.high - one.low
            leaves = min(length, self._used - self.size)
            if leaves == length:
                heapq.heappop(self._oldest)
                if length:
                    stretches = self._held[one.place[0]][one.place]
                    del stretches[bisect_right(stretches, one.low, key=_low) - 1]
            if one.writer:
                one.writer.moved += leaves
            self._used -= leaves
            one.low += leaves


class Scratchpad(Cache):
    """Near memory that is filled by hand, such as a GPU's shared memory.

    An array that the function makes lies in it for as long as it lives, where there is room for
    all of it. Everything else is far, and so is every view of it, however often it is read.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._near: dict[int, int] = {}

    def hold(self, buffer: int, nbytes: int) -> None:
        if self._used + nbytes <= self.size:
            self._near[buffer] = nbytes
            self._used += nbytes

    def call(self, operands: Sequence[CachedOperand]) -> None:
        for one in operands:
            if one.place[0] not in self._near:
                _pay(one, one.length if one.some is None else one.some)

    def leave(self, buffer: int) -> None:
        self._used -= self._near.pop(buffer, 0)


_low, _high = attrgetter("low"), attrgetter("high")
MEMORIES = {"cache": Cache, "scratchpad": Scratchpad}


def _pay(one: CachedOperand, nbytes: int) -> None:
    for passage in (one.read, one.write):
        if passage:
            passage.moved += nbytes


def _filled(found: Sequence[tuple], low: int, high: int) -> list[tuple]:
    """``found`` and, between its parts, what had to be carried in and nobody has written to."""
    parts: list[tuple] = []
    for a, b, writer in [*found, (high, high, None)]:
        if low < a:
            parts.append((low, a, None))
        if a < b:
            parts.append((a, b, writer))
        low = b
    return parts


def _merged(operands: Sequence[CachedOperand]) -> list[CachedOperand]:
    """Operands that share bytes become one: a call carries the same bytes once."""
    done: list[CachedOperand] = []
    for one in operands:
        for other in done:
            if other.place == one.place and other.low < one.high and one.low < other.high:
                other.low, other.high = min(other.low, one.low), max(other.high, one.high)
                other.read, other.write = other.read or one.read, other.write or one.write
                break
        else:
            done.append(one)
    return done
