"""Blocks of memory behind arrays: who shares one, where it counts, and whose it is."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy import ndarray
from numpy.lib._stride_tricks_impl import DummyArray
from numpy.lib.array_utils import byte_bounds

from rooflab.golf.coverage import LINE, Coverage, place


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
        self.read, self.written = Coverage(lines=True), Coverage(lines=True)

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
