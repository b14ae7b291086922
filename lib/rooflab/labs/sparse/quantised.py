"""Weights in 8 or 4 bits: groups along a row share a scale, and a weight is scale · integer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rooflab.count.validation import size
from rooflab.labs.sparse.pruning import Array, weights

LARGEST = {8: 127, 4: 7}  # of the integers: symmetric, so that no zero point is stored


@dataclass(frozen=True, eq=False)
class GroupQuantised:
    """A matrix of integers with an fp16 scale a group, from :func:`quantise_weights`.

    ``values`` are what is stored, int8: m × k with 8 bits. With 4 bits two share a byte, 16·b + a +
    8, where a is of the first half of a group and b at the same place of the second: a vector of
    bytes unpacks to two vectors of neighbours. ``scales`` are m × ⌈k/group⌉.

    >>> import numpy as np
    >>> q = rl.sparse.quantise_weights(np.float32([[7, -3, 1, 0]]), bits=4, group=4)
    >>> q.integers.tolist(), q.values.view(np.uint8).tolist(), q.scales.tolist(), q.bytes
    ([[7, -3, 1, 0]], [[31, 5]], [[1.0]], 4)
    """

    values: Array
    scales: Array
    bits: int
    group: int
    columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix, m and k."""
        return self.values.shape[0], self.columns

    @property
    def bytes(self) -> int:
        """Bytes of integers and scales."""
        return self.values.nbytes + self.scales.nbytes

    @property
    def bits_a_value(self) -> float:
        """Stored bits for each weight, scales included."""
        m, k = self.shape
        return 8 * self.bytes / (m * k)

    @property
    def integers(self) -> Array:
        """The integers (m × k), int8."""
        if self.bits == 8:
            return self.values
        m, blocks, place = self.shape[0], [], 0
        for _, groups, n in parts(self.columns, self.group):
            half = (n + 1) // 2
            stored = self.values[:, place : place + groups * half].reshape(m, groups, half)
            both = np.concatenate([(stored & 15) - 8, stored[..., : n - half] >> 4], axis=-1)
            blocks.append(both.reshape(m, -1))
            place += groups * half
        return np.concatenate(blocks, axis=1)

    def unpack(self) -> Array:
        """Return the matrix (m × k) in fp32: each integer times its group's scale."""
        scales = np.repeat(self.scales.astype(np.float32), self.group, axis=1)
        return self.integers * scales[:, : self.columns]


def quantise_weights(w: Array, bits: int = 8, group: int = 128) -> GroupQuantised:
    """Quantise a matrix symmetrically, with a scale for each ``group`` of weights along a row.

    A scale is the largest magnitude of its group over 127 or 7, rounded to fp16; an integer is the
    weight over the stored scale, rounded to even. A group of zeros has scale 0, and so has one
    whose scale is less than the least number of fp16, 6e-8.

    Parameters
    ----------
    w : numpy.ndarray
        m × k weights in fp16, fp32 or fp64.
    bits : {8, 4}
        Width of the integers.
    group : int
        Weights that share a scale; the last group of a row is shorter where k is no multiple.

    Returns
    -------
    GroupQuantised
        Integers and scales; ``unpack()`` gives weights within half a scale of ``w``, and a
        thousandth part.

    Examples
    --------
    >>> import numpy as np
    >>> w = np.random.default_rng(0).normal(size=(8, 4096)).astype("float32")
    >>> [rl.sparse.quantise_weights(w, bits).bits_a_value for bits in (8, 4)]
    [8.125, 4.125]
    """
    if weights(w, 2).dtype.kind != "f":
        raise TypeError(f"w is {w.dtype}; it must be fp16, fp32 or fp64")
    if size("bits", bits) not in LARGEST:
        raise ValueError(f"bits={bits} must be 8 or 4")
    (m, k), group = w.shape, size("group", group)
    group = min(group, k)  # as in a row of one short group
    starts = np.arange(0, k, group)
    with np.errstate(over="ignore"):
        scales = (np.maximum.reduceat(abs(w), starts, axis=1) / LARGEST[bits]).astype(np.float16)
    if not np.isfinite(scales).all():
        row, g = np.unravel_index(int(np.isinf(scales).argmax()), scales.shape)
        raise ValueError(
            f"w[{row}, {starts[g]}:{min(k, starts[g] + group)}] is so large that its scale is "
            f"beyond fp16; weights must be {65504 * LARGEST[bits]:.3g} or less"
        )
    scale = np.repeat(scales.astype(np.float32), group, axis=1)[:, :k]
    ratio = np.divide(w, scale, out=np.zeros((m, k), np.float64), where=scale > 0)
    integers = np.clip(np.rint(ratio), -LARGEST[bits], LARGEST[bits]).astype(np.int8)
    values = integers if bits == 8 else _nibbles(integers, group)
    return GroupQuantised(values, scales, bits, group, k)


def _nibbles(integers: Array, group: int) -> Array:
    """Two integers a byte; the last byte of a group of odd size has one alone."""
    m, blocks = len(integers), []
    for columns, groups, n in parts(integers.shape[1], group):
        block, half = integers[:, columns].reshape(m, groups, n), (n + 1) // 2
        stored = block[..., :half] + np.int8(8)
        stored[..., : n - half] += block[..., half:] << 4
        blocks.append(stored.reshape(m, -1))
    return np.concatenate(blocks, axis=1)


def parts(columns: int, group: int) -> Iterator[tuple[slice, int, int]]:
    """Yield columns, number and size of the whole groups of a row, and of what is left of it."""
    full = columns // group * group
    if full:
        yield slice(0, full), full // group, group
    if full < columns:
        yield slice(full, columns), 1, columns - full
