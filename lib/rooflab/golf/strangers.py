"""Arrays that golf has not seen being made, and how much a function may write to them.

What is in them can be read without golf, so a function that writes all its numbers there could
work on them unseen. A few are harmless, such as a sum; a graded run allows no more.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from numpy import ndarray

from rooflab.golf.buffers import Buffer, owner_of
from rooflab.golf.errors import Untraceable


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
