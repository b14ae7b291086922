"""Weights in fewer bytes: packed 2:4, or in 8 or 4 bits with a scale for each group of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.count.validation import size
from rooflab.labs.precision.blocks import block_quantise

Array = np.ndarray[Any, np.dtype[Any]]
FLOATS = ("float16", "float32", "float64")
REALS = (*FLOATS, "int8", "int16", "int32")
LARGEST = {8: 127, 4: 7}  # of the integers: symmetric, so that no zero point is stored


@dataclass(frozen=True, eq=False)
class Packed24:
    """A matrix of which two in four along a row may not be 0, without its zeros, from `pack`.

    ``values`` (m × k/2) are two weights of each four, in their order and format. ``positions`` (m ×
    ⌈k/8⌉, uint8) say which two, 2 bits each, 4 to a byte, the first in the lowest bits.

    >>> import numpy as np
    >>> p = rl.sparse.pack(np.float32([[0, 5, 0, 7, 1, 0, 2, 0]]))
    >>> p.values.tolist(), f"{p.positions[0, 0]:08b}", p.bytes
    ([[5.0, 7.0, 1.0, 2.0]], '10001101', 17)
    """

    values: Array
    positions: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.values.shape[0], 2 * self.values.shape[1]

    @property
    def bytes(self) -> int:
        """Bytes of values and positions."""
        return self.values.nbytes + self.positions.nbytes

    def unpack(self) -> Array:
        """Return the matrix (m × k) with its zeros."""
        (m, k), pairs = self.shape, self.values.reshape(len(self.values), -1, 2)
        places = (self.positions[..., None] >> np.arange(0, 8, 2) & 3).reshape(m, -1, 2)
        w = np.zeros((m, k // 4, 4), self.values.dtype)
        np.put_along_axis(w, places[:, : k // 4], pairs, axis=2)
        return w.reshape(m, k)


@dataclass(frozen=True, eq=False)
class GroupQuantised:
    """A matrix of integers with an fp16 scale a group, from :func:`quantise_weights`.

    ``values`` are int8: m × k in 8 bits, m × ⌈k/2⌉ bytes in 4. Such a byte is 16·b + a + 8, with
    an integer a and its right neighbour b. ``scales`` are m × ⌈k/group⌉.

    >>> import numpy as np
    >>> q = rl.sparse.quantise_weights(np.float32([[7, -3, 1, 0]]), bits=4, group=4)
    >>> q.unpack().tolist(), q.values.tolist(), q.scales.tolist(), q.bytes
    ([[7.0, -3.0, 1.0, 0.0]], [[-33, 9]], [[1.0]], 4)
    """

    values: Array
    scales: Array
    bits: int
    group: int
    shape: tuple[int, int]

    @property
    def bytes(self) -> int:
        """Bytes of integers and scales."""
        return self.values.nbytes + self.scales.nbytes

    @property
    def bits_a_value(self) -> float:
        """Stored bits for each weight, scales included."""
        return 8 * self.bytes / (self.shape[0] * self.shape[1])

    def unpack(self) -> Array:
        """Return the matrix (m × k) in fp32: each integer times its group's scale."""
        (m, k), integers = self.shape, self.values
        if self.bits == 4:
            pairs = np.stack([(integers & 15) - 8, integers >> 4], axis=-1)
            integers = pairs.reshape(m, -1)[:, :k]
        return integers * np.repeat(self.scales.astype(np.float32), min(self.group, k), 1)[:, :k]


def prune(w: Array) -> Array:
    """Return ``w`` with zeros for the two smallest of each four magnitudes, the last of equal ones.

    Parameters
    ----------
    w : numpy.ndarray
        Weights of any real format; the last axis is a multiple of 4.

    Returns
    -------
    numpy.ndarray
        A new array of the same shape and format.

    Examples
    --------
    >>> import numpy as np
    >>> rl.sparse.prune(np.float32([3, -4, 1, 2, 0, 0, 5, 0])).tolist()
    [3.0, -4.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0]
    """
    pruned = _fours(w).copy()
    order = np.argsort(-abs(pruned.astype(np.float64)), axis=-1, kind="stable")
    np.put_along_axis(pruned, order[..., 2:], 0, axis=-1)
    return pruned.reshape(w.shape)


def pack(w: Array) -> Packed24:
    """Pack a 2:4 matrix, as :func:`prune` returns it; ``unpack()`` gives it back exactly.

    Parameters
    ----------
    w : numpy.ndarray
        m × k weights of any real format; k is a multiple of 4.

    Returns
    -------
    Packed24
        Values and positions.

    Examples
    --------
    >>> import numpy as np
    >>> rl.sparse.pack(np.eye(8, dtype="float16")).bytes  # of 128
    72
    """
    fours = _fours(w, 2)
    (m, k), over = w.shape, np.argwhere(np.count_nonzero(fours, axis=-1) > 2)
    if over.size:
        row, four = map(int, over[0])
        where = f"w[{row}, {4 * four}:{4 * four + 4}] is {fours[row, four].tolist()}"
        raise ValueError(f"{where}: w must be 2:4, two of four not 0, as rl.sparse.prune(w) is")
    places = np.sort(np.argsort(fours == 0, axis=-1, kind="stable")[..., :2], axis=-1)
    bits = np.pad(places.reshape(m, -1), ((0, 0), (0, k // 2 % 4))).reshape(m, -1, 4)
    positions = (bits << [0, 2, 4, 6]).sum(-1).astype(np.uint8)
    return Packed24(np.take_along_axis(fours, places, axis=-1).reshape(m, k // 2), positions)


def quantise_weights(w: Array, bits: int = 8, group: int = 128) -> GroupQuantised:
    """Quantise a matrix: integers, and a scale for each ``group`` of weights along a row.

    A scale is the largest magnitude over 127 or 7, in fp16, and an integer the weight over that,
    rounded. A group of zeros has scale 0, as has one whose scale would be less than 2⁻²⁵.

    Parameters
    ----------
    w : numpy.ndarray
        m × k weights in fp16, fp32 or fp64.
    bits : {8, 4}
        Width of the integers.
    group : int
        Weights that share a scale, an even number in 4 bits. The last group of a row may be less.

    Returns
    -------
    GroupQuantised
        Integers and scales.

    Examples
    --------
    >>> import numpy as np
    >>> [rl.sparse.quantise_weights(np.eye(128), bits).bits_a_value for bits in (8, 4)]
    [8.125, 4.125]
    """
    check("w", w, 2, FLOATS)
    if size("bits", bits) not in LARGEST:
        raise ValueError(f"bits={bits} must be 8 or 4")
    if size("group", group) % 2 and bits == 4:
        raise ValueError(f"group={group} must be even in 4 bits: a byte holds two of a group")
    most = 65504 * LARGEST[bits]
    if (large := np.argwhere(abs(w.astype(np.float64)) > most)).size:
        row, column = large[0].tolist()
        where = f"w[{row}, {column}] is {w[row, column]:.3g}"
        raise ValueError(f"{where}; fp16 has scales for sizes of {most} or less")
    blocks = block_quantise(w, f"int{bits}", group=group)
    integers, scales = blocks.elements, blocks.scales.astype(np.float16)
    if bits == 4:
        pairs = np.pad(integers, ((0, 0), (0, w.shape[1] % 2)))
        integers = (pairs[:, 1::2] << 4) + pairs[:, ::2] + np.int8(8)
    return GroupQuantised(integers, scales, bits, group, w.shape)


def check(name: str, array: object, axes: int, kinds: Sequence[str], finite: bool = True) -> None:
    """Refuse what is no array of these ``kinds`` with ``axes``, or one at least if that is 0."""
    if not isinstance(array, np.ndarray) or str(array.dtype) not in kinds:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} is {kind}; it must be a NumPy array of {' or '.join(kinds)}")
    if not array.size or array.ndim != (axes or max(1, array.ndim)):
        right = f"{axes or 1} axes, and no size of 0"
        raise ValueError(f"{name} has shape {array.shape}; it must have {right}")
    if finite and not (good := np.isfinite(array)).all():
        place = np.argwhere(~good)[0].tolist()
        raise ValueError(f"{name}{place} is {array[tuple(place)]}; all numbers must be finite")


def _fours(w: Array, axes: int = 0) -> Array:
    check("w", w, axes, REALS)
    if w.shape[-1] % 4:
        raise ValueError(f"w has k = {w.shape[-1]} columns; k must be a multiple of 4")
    return w.reshape(*w.shape[:-1], -1, 4)
