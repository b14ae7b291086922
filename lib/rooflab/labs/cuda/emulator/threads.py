"""The threads of a launch as six axes of NumPy arrays, masks over them, and their warps.

A value that differs between threads is an array with the axes block z, y, x, thread z, y, x, of
length 1 where it does not differ. Broadcasting does the rest; what all share is a plain number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.labs.cuda.emulator.report import Point, Thread

WARP = 32
Shape = tuple[int, ...]
ONE = (1,) * 6
SPECIAL = (
    *(f"cuda.{name}.{axis}" for name in ("blockIdx", "threadIdx", "gridDim", "blockDim")
      for axis in "xyz"),
    "cuda.laneid", "cuda.warpsize",
)  # fmt: skip


@dataclass(eq=False, slots=True)
class Mask:
    """The threads that execute: ``bits`` over the six axes, and their ``count``."""

    bits: np.ndarray
    count: int


class Geometry:
    """Coordinates of all threads, their numbers and warps, and how masks combine."""

    def __init__(self, grid: Point, block: Point) -> None:
        self.grid, self.block = grid, block
        self.shape: Shape = (*grid[::-1], *block[::-1])
        self.blocks, self.block_threads = math.prod(grid), math.prod(block)
        self.threads = self.blocks * self.block_threads
        self.block_warps = -(-self.block_threads // WARP)
        self.padded = self.block_threads % WARP != 0
        self.all = Mask(np.ones(ONE, bool), self.threads)
        self.none = Mask(np.zeros(ONE, bool), 0)
        self.coordinates = np.ix_(*map(np.arange, self.shape))
        self.numbers = np.arange(self.threads).reshape(self.shape)  # through the blocks, x fastest
        self.block_numbers = np.arange(self.blocks).reshape(*self.shape[:3], 1, 1, 1)

    def special(self) -> dict[str, Any]:
        places = [plain(axis) for axis in self.coordinates]
        lanes = np.ravel_multi_index(self.coordinates[3:], self.block[::-1]) % WARP
        values = (*places[2::-1], *places[:2:-1], *self.grid, *self.block, plain(lanes), WARP)
        return dict(zip(SPECIAL, values))

    # Masks keep their identity where nothing changes, so that most comparisons are quick.

    def mask(self, bits: Any) -> Mask:
        if not isinstance(bits, np.ndarray):
            return self.all if bits else self.none
        count = int(np.count_nonzero(bits)) * (self.threads // bits.size)
        return self.all if count == self.threads else Mask(bits, count) if count else self.none

    def both(self, mask: Mask, bits: Any) -> Mask:
        if not isinstance(bits, np.ndarray):
            return mask if bits else self.none
        return self.same(self.mask(mask.bits & bits), mask)

    def either(self, a: Mask, b: Mask) -> Mask:
        return a if a is b or not b.count else b if not a.count else self.mask(a.bits | b.bits)

    @staticmethod
    def same(mask: Mask, before: Mask) -> Mask:
        """Return ``before`` if ``mask``, a part of it, has lost nobody."""
        return before if mask.count == before.count else mask

    def minus(self, a: Mask, b: Mask) -> Mask:
        return self.none if a is b or not a.count else self.both(a, ~b.bits) if b.count else a

    def thread(self, number: int) -> Thread:
        at = tuple(map(int, np.unravel_index(number, self.shape)))
        return Thread(at[2::-1], at[:2:-1])

    def lanes(self, mask: Mask, *values: Any, full: bool = False) -> tuple[Any, list[np.ndarray]]:
        """Return thread numbers and values, flat, of the active threads.

        Where threads share an entry, the numbers are those of the lowest and of the highest.
        """
        shapes = map(np.shape, values)
        shape = self.shape if full else np.broadcast_shapes(ONE, mask.bits.shape, *shapes)
        ends = (slice(1), slice(-1, None))[: 1 + (shape != self.shape)]
        own = (tuple(slice(None) if size > 1 else end for size in shape) for end in ends)
        numbers = [self.numbers[each] for each in own]
        bits = np.broadcast_to(mask.bits, shape)
        flat = [
            array.ravel() if mask is self.all else array[bits]
            for array in (*numbers, *(np.broadcast_to(value, shape) for value in values))
        ]
        return flat[: len(numbers)], flat[len(numbers) :]

    # A warp is 32 threads of a block, numbered x fastest; the last one may be short.

    def warps(self, values: np.ndarray, shape: Shape) -> np.ndarray:
        """Return values as those rows of 32 lanes that differ (of 1, if equal); 0 off the block."""
        if self.block[0] % WARP == 0:
            return np.broadcast_to(values, shape).reshape(-1, min(WARP, shape[5]))
        full = (*shape[:3], *self.shape[3:])
        rows = np.broadcast_to(values, full).reshape(-1, self.block_threads)
        if self.padded:
            rows = np.pad(rows, ((0, 0), (0, -self.block_threads % WARP)))
        return rows.reshape(-1, WARP)

    def all_warps(self, values: Any) -> np.ndarray:
        return self.warps(np.asarray(values), self.shape)

    def from_warps(self, rows: np.ndarray) -> np.ndarray:
        """Return what :meth:`all_warps` has made rows of."""
        return rows.reshape(self.blocks, -1)[:, : self.block_threads].reshape(self.shape)


def plain(values: np.ndarray) -> Any:
    return values.item() if values.size == 1 else values
