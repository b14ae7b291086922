"""The threads of a launch as six axes of NumPy arrays, masks over them, and their warps.

A value that differs between threads is an array with the axes block z, y, x, thread z, y, x, of
length 1 where it does not differ. Broadcasting does the rest; what all share is a plain number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from rooflab.labs.cuda.emulator.report import Point, Thread

WARP = 32
MOST_THREADS = 1 << 17  # executed at once: what fits into caches, and a local array of 64 into RAM
Shape = tuple[int, ...]
ONE = (1,) * 6
SPECIAL = (
    *(f"cuda.{name}.{axis}" for name in ("blockIdx", "threadIdx", "gridDim", "blockDim")
      for axis in "xyz"),
    "cuda.laneid", "cuda.warpsize",
)  # fmt: skip


class Mask:
    """The threads that execute: ``bits`` over the six axes, and their ``count``."""

    __slots__ = ("bits", "count")

    def __init__(self, bits: np.ndarray, count: int) -> None:
        self.bits, self.count = bits, count


def chunks(grid: Point, threads: int) -> Iterator[tuple[Point, Point]]:
    """Yield first block and size (both x, y, z) of boxes of blocks that execute at once."""
    room = max(1, MOST_THREADS // max(threads, 4 * WARP))
    x = min(grid[0], room)
    y = min(grid[1], room // x) if x == grid[0] else 1
    z = min(grid[2], room // (x * y)) if (x, y) == grid[:2] else 1
    axes = (range(0, n, step) for n, step in zip(grid[::-1], (z, y, x)))
    for k, j, i in itertools.product(*axes):
        yield (i, j, k), (min(x, grid[0] - i), min(y, grid[1] - j), min(z, grid[2] - k))


class Geometry:
    """A box of blocks of a grid: coordinates, thread numbers and warps of their threads."""

    def __init__(self, grid: Point, block: Point, first: Point, box: Point) -> None:
        self.grid, self.block = grid, block
        self.shape: Shape = (*box[::-1], *block[::-1])
        self.blocks, self.block_threads = int(np.prod(box)), int(np.prod(block))
        self.threads = self.blocks * self.block_threads
        self.block_warps = -(-self.block_threads // WARP)
        self.padded = self.block_threads % WARP != 0
        self.all = Mask(np.ones(ONE, bool), self.threads)
        self.none = Mask(np.zeros(ONE, bool), 0)
        starts = enumerate(zip((*first[::-1], 0, 0, 0), self.shape))
        self.coordinates = [
            np.arange(start, start + size).reshape(*ONE[:i], -1, *ONE[i + 1 :])
            for i, (start, size) in starts
        ]
        self._representatives: dict[Shape, tuple[np.ndarray, ...]] = {}
        self.block_offset = np.arange(self.blocks).reshape(*self.shape[:3], 1, 1, 1)
        first_threads = self.representatives((*self.shape[:3], 1, 1, 1))[0]
        self.block_numbers = first_threads.ravel() // self.block_threads

    def special(self) -> dict[str, Any]:
        places = [plain(axis) for axis in self.coordinates]
        _, _, _, z, y, x = self.coordinates
        number = x if self.block[0] % WARP == 0 else (z * self.block[1] + y) * self.block[0] + x
        values = (*places[2::-1], *places[:2:-1], *self.grid, *self.block, plain(number % WARP))
        return dict(zip(SPECIAL, (*values, WARP)))

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

    # Thread numbers count through the blocks of the whole grid, x fastest.

    def representatives(self, shape: Shape) -> tuple[np.ndarray, ...]:
        """Return the lowest (and the highest) number of the threads that share an entry."""
        if shape not in self._representatives:
            (x, y, _), (tx, ty, tz) = self.grid, self.block
            steps = np.cumprod([1, tx, ty, tz, x, y])[::-1].tolist()
            axes = [*zip(steps, self.coordinates, shape, self.shape)]
            self._representatives[shape] = tuple(
                np.broadcast_to(
                    sum(by * (a if n == size else a.take([end])[0]) for by, a, n, size in axes),
                    shape,
                )
                for end in ((0,) if shape == self.shape else (0, -1))
            )
        return self._representatives[shape]

    def thread(self, number: int) -> Thread:
        block, inside = divmod(int(number), self.block_threads)
        return Thread(*(
            (value % x, value // x % y, value // (x * y))
            for value, (x, y, _) in ((block, self.grid), (inside, self.block))
        ))  # fmt: skip

    def lanes(self, mask: Mask, *values: Any, full: bool = False) -> tuple[Any, list[np.ndarray]]:
        """Return thread numbers (lowest and highest) and values, flat, of the active threads."""
        shapes = map(np.shape, values)
        shape = self.shape if full else np.broadcast_shapes(ONE, mask.bits.shape, *shapes)
        every = [*self.representatives(shape), *(np.broadcast_to(v, shape) for v in values)]
        bits = np.broadcast_to(mask.bits, shape)
        flat = [array.ravel() if mask is self.all else array[bits] for array in every]
        return flat[: -len(values)], flat[-len(values) :]

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
