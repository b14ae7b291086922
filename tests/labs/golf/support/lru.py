"""A cache simulator: least recently used lines of 64 bytes, written back when they leave.

It knows nothing of golf: explicit loops tell it each element that they read or write. A line that
is written without having been read is not loaded first (the store overwrites all of it); what a
processor loads all the same for ownership is counted by neither.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

LINE = 64


@dataclass(frozen=True)
class Vector:
    """An array of the simulated program: where it starts, and the width of an element."""

    base: int
    width: int


class Cache:
    """``loaded`` and ``stored``: bytes that crossed the bus in either direction."""

    def __init__(self, size: int = 32 * 1024) -> None:
        self._lines: OrderedDict[int, bool] = OrderedDict()  # line → has it been written to?
        self._most, self._free = size // LINE, 0
        self.loaded = self.stored = 0

    def array(self, elements: int, width: int = 8) -> Vector:
        """Return a new array, at the start of a line of its own."""
        base = self._free
        self._free += -(-elements * width // LINE) * LINE
        return Vector(base, width)

    def read(self, array: Vector, index: int) -> None:
        """Read one element."""
        self.touch((array.base + index * array.width) // LINE, False)

    def write(self, array: Vector, index: int) -> None:
        """Write one element."""
        self.touch((array.base + index * array.width) // LINE, True)

    def bytes(self) -> int:
        """Bytes over the bus, once everything that was written is back in memory."""
        while self._lines:
            self._evict()
        return self.loaded + self.stored

    def touch(self, line: int, writes: bool) -> None:
        """Read or write something in a line."""
        dirty = self._lines.pop(line, None)
        if dirty is None:
            self.loaded += 0 if writes else LINE
            if len(self._lines) == self._most:
                self._evict()
        self._lines[line] = writes or bool(dirty)

    def _evict(self) -> None:
        _, dirty = self._lines.popitem(last=False)
        self.stored += LINE * dirty
