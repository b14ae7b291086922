"""Weights in 8 or 4 bits: groups along a row share a scale, and a weight is scale · integer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rooflab.count.validation import size
from rooflab.labs.sparse.pruning import Array, as_weights

LARGEST = {8: 127, 4: 7}  # of the integers: symmetric, so that no zero point is stored


@dataclass(frozen=True, eq=False)
class GroupQuantised:
    """A matrix of integers with an fp16 scale a group, from :func:`quantise_weights`.

    ``values`` are stored as int8: m × k in 8 bits, m × ⌈k/2⌉ bytes in 4 bits. Such a byte is
    16·b + a + 8, with an integer a and its right neighbour b. ``scales`` are m × ⌈k/group⌉.

    >>> import numpy as np
    >>> q = rl.sparse.quantise_weights(np.float32([[7, -3, 1, 0]]), bits=4, group=4)
    >>> q.integers.tolist(), q.values.tolist(), q.scales.tolist(), q.bytes
    ([[7, -3, 1, 0]], [[-33, 9]], [[1.0]], 4)
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
        return 8 * self.bytes / (len(self.values) * self.columns)

    @property
    def integers(self) -> Array:
        """The integers (m × k), int8."""
        if self.bits == 8:
            return self.values
        pairs = np.stack([(self.values & 15) - 8, self.values >> 4], axis=-1)
        return pairs.reshape(len(self.values), -1)[:, : self.columns]

    def unpack(self) -> Array:
        """Return the matrix (m × k) in fp32: each integer times its group's scale."""
        return self.integers * _spread(self.scales, self.group, self.columns)


def quantise_weights(w: Array, bits: int = 8, group: int = 128) -> GroupQuantised:
    """Quantise a matrix symmetrically, with a scale for each ``group`` of weights along a row.

    A scale is the largest magnitude of its group over 127 or 7, rounded to fp16; an integer is the
    weight over that scale, rounded. A group of zeros has scale 0, as has one of less than 2⁻²⁵.

    Parameters
    ----------
    w : numpy.ndarray
        m × k weights in fp16, fp32 or fp64.
    bits : {8, 4}
        Width of the integers.
    group : int
        Weights that share a scale, an even number in 4 bits; the last group of a row may be shorter.

    Returns
    -------
    GroupQuantised
        Integers and scales; ``unpack()`` gives the weights back.

    Examples
    --------
    >>> import numpy as np
    >>> w = np.random.default_rng(0).normal(size=(8, 4096)).astype("float32")
    >>> [rl.sparse.quantise_weights(w, bits).bits_a_value for bits in (8, 4)]
    [8.125, 4.125]
    """
    if as_weights(w, 2).dtype.kind != "f":
        raise TypeError(f"w is {w.dtype}; it must be fp16, fp32 or fp64")
    if size("bits", bits) not in LARGEST:
        raise ValueError(f"bits={bits} must be 8 or 4")
    if size("group", group) % 2 and bits == 4:
        raise ValueError(f"group={group} must be even in 4 bits: a byte holds two of a group")
    k, most = w.shape[1], LARGEST[bits]
    with np.errstate(over="ignore"):
        peaks = np.maximum.reduceat(abs(w), np.arange(0, k, group), axis=1)
        scales = (peaks.astype(np.float64) / most).astype(np.float16)
    if np.isinf(scales).any():
        row, g = np.unravel_index(int(np.isinf(scales).argmax()), scales.shape)
        raise ValueError(
            f"w[{row}, {g * group}:{min(k, (g + 1) * group)}] has {peaks[row, g]:.3g}, for which "
            f"fp16 has no scale; weights must be {65504 * most} or less"
        )
    scale = _spread(scales, group, k)
    ratio = np.divide(w, scale, out=np.zeros(w.shape), where=scale > 0)
    integers = np.clip(np.rint(ratio), -most, most).astype(np.int8)
    if bits == 4:
        pairs = np.pad(integers, ((0, 0), (0, k % 2)))
        integers = (pairs[:, 1::2] << 4) + pairs[:, ::2] + np.int8(8)
    return GroupQuantised(integers, scales, bits, group, k)


def _spread(scales: Array, group: int, columns: int) -> Array:
    return np.repeat(scales.astype(np.float32), min(group, columns), axis=1)[:, :columns]
