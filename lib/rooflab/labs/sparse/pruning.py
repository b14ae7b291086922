"""2:4 sparsity: at most two of each four weights along a row are not zero, and two are stored.

A stored weight comes with its position in its four, 2 bits. In fp16 that is (2·16 + 2·2) / 64 =
0.5625 of the dense bytes, in 8 bits 0.625, in fp32 0.53.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def as_weights(w: object, dimensions: int | None = None) -> Array:
    """Return ``w`` if it is an array of real, finite numbers, one at least, of ``dimensions``."""
    if not isinstance(w, np.ndarray) or w.dtype.kind not in "fi" or w.dtype.itemsize > 8:
        kind = w.dtype if isinstance(w, np.ndarray) else type(w).__name__
        raise TypeError(f"w is {kind}; it must be a NumPy array of fp16, fp32, fp64 or integers")
    if not w.size or w.ndim != (dimensions or max(1, w.ndim)):
        right = "m rows and k columns, 1 or more" if dimensions else "an axis and 1 element or more"
        raise ValueError(f"w has shape {w.shape}; it must have {right}")
    if not (finite := np.isfinite(w)).all():
        place = np.unravel_index(int(finite.argmin()), w.shape)
        at = ", ".join(map(str, place))
        raise ValueError(f"w[{at}] is {w[place]}; all weights must be finite")
    return w


@dataclass(frozen=True, eq=False)
class Packed24:
    """A 2:4 matrix without its zeros, from :func:`pack`.

    ``values`` (m × k/2) are the two weights of each four, in their order, in the matrix's format.
    ``positions`` (m × ⌈k/8⌉, uint8) say which of the four they are, 2 bits each, 4 to a byte, the
    first in the lowest bits.

    >>> import numpy as np
    >>> p = rl.sparse.pack(np.float32([[0, 5, 0, 7, 1, 0, 2, 0]]))
    >>> p.values.tolist(), f"{p.positions[0, 0]:08b}", p.bytes
    ([[5.0, 7.0, 1.0, 2.0]], '10001101', 17)
    """

    values: Array
    positions: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix, m and k."""
        return self.values.shape[0], 2 * self.values.shape[1]

    @property
    def bytes(self) -> int:
        """Bytes of values and positions."""
        return self.values.nbytes + self.positions.nbytes

    def unpack(self) -> Array:
        """Return the matrix (m × k) with its zeros."""
        m, k = self.shape
        places = (self.positions[..., None] >> np.uint8([0, 2, 4, 6]) & 3).reshape(m, -1)
        w = np.zeros((m, k // 4, 4), self.values.dtype)
        places = places[:, : k // 2].reshape(m, -1, 2)
        np.put_along_axis(w, places, self.values.reshape(m, -1, 2), axis=2)
        return w.reshape(m, k)


def prune(w: Array) -> Array:
    """Return ``w`` with zeros for the two smallest magnitudes of each four; of equal ones, the last.

    Parameters
    ----------
    w : numpy.ndarray
        Weights of any real format; the last axis, k, is a multiple of 4.

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
    pruned = _fours(as_weights(w)).copy()
    order = np.argsort(-abs(pruned.astype(np.float64)), axis=-1, kind="stable")
    np.put_along_axis(pruned, order[..., 2:], 0, axis=-1)
    return pruned.reshape(w.shape)


def pack(w: Array) -> Packed24:
    """Pack a 2:4 matrix: two values of each four along a row, and their positions.

    Parameters
    ----------
    w : numpy.ndarray
        m × k weights of any real format, as :func:`prune` returns; k is a multiple of 4.

    Returns
    -------
    Packed24
        Values and positions; ``unpack()`` gives ``w`` back exactly.

    Examples
    --------
    >>> import numpy as np
    >>> w = rl.sparse.prune(np.random.default_rng(0).normal(size=(8, 64)).astype("float16"))
    >>> p = rl.sparse.pack(w)
    >>> p.bytes / w.nbytes, (p.unpack() == w).all().item()
    (0.5625, True)
    """
    fours = _fours(as_weights(w, 2))
    m, k = w.shape
    if (over := np.count_nonzero(fours, axis=-1) > 2).any():
        row, four = np.unravel_index(int(over.argmax()), over.shape)
        raise ValueError(
            f"w[{row}, {4 * four}:{4 * four + 4}] is {fours[row, four].tolist()}, with more than 2 "
            "numbers that are not 0; w must be 2:4, as rl.sparse.prune(w) is"
        )
    places = np.sort(np.argsort(fours == 0, axis=-1, kind="stable")[..., :2], axis=-1)
    bits = np.zeros((m, 4 * math.ceil(k / 8)), np.uint8)
    bits[:, : k // 2] = places.reshape(m, -1)
    positions = (bits.reshape(m, -1, 4) << np.uint8([0, 2, 4, 6])).sum(-1, dtype=np.uint8)
    return Packed24(np.take_along_axis(fours, places, axis=-1).reshape(m, k // 2), positions)


def _fours(w: Array) -> Array:
    if w.shape[-1] % 4:
        raise ValueError(f"w has k = {w.shape[-1]} columns; k must be a multiple of 4")
    return w.reshape(*w.shape[:-1], -1, 4)
