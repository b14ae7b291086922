"""Products y = Wx with one thread: W dense, in 8 or 4 bits, or packed 2:4; x and y in fp32."""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.labs.sparse import kernels
from rooflab.labs.sparse.pruning import Array, Packed24
from rooflab.labs.sparse.quantised import GroupQuantised, parts

SPAN = 256  # numbers of x that the 2:4 kernel takes in one turn

def gemv_dense(w: Array, x: Array) -> Array:
    """Return y = Wx, W dense in fp32: what the other products are compared with.

    Parameters
    ----------
    w : numpy.ndarray
        m × k, fp32.
    x : numpy.ndarray
        k numbers, fp32.

    Returns
    -------
    numpy.ndarray
        m numbers, fp32.

    Examples
    --------
    >>> import numpy as np
    >>> rl.sparse.gemv_dense(np.eye(3, dtype="float32"), np.float32([1, 2, 3])).tolist()
    [1.0, 2.0, 3.0]
    """
    w = np.ascontiguousarray(_fp32("w", w, 2))
    return dense_into(w, _vector(x, w.shape[1]), np.empty(w.shape[0], np.float32))


def gemv_int8(q: GroupQuantised, x: Array) -> Array:
    """Return y = Wx, W in 8 bits: integers become fp32 in registers, a scale multiplies a sum.

    Parameters
    ----------
    q : GroupQuantised
        m × k weights, of ``quantise_weights(w, bits=8)``.
    x : numpy.ndarray
        k numbers, fp32.

    Returns
    -------
    numpy.ndarray
        m numbers, fp32.

    Examples
    --------
    >>> import numpy as np
    >>> q = rl.sparse.quantise_weights(np.float32([[127, -127, 1, 0]]), bits=8)
    >>> rl.sparse.gemv_int8(q, np.float32([1, 2, 3, 4])).tolist()
    [-124.0]
    """
    return _quantised(q, 8, x)


def gemv_int4(q: GroupQuantised, x: Array) -> Array:
    """Return y = Wx, W in 4 bits: as :func:`gemv_int8`, with two weights to part in each byte.

    Parameters
    ----------
    q : GroupQuantised
        m × k weights, of ``quantise_weights(w, bits=4)``.
    x : numpy.ndarray
        k numbers, fp32.

    Returns
    -------
    numpy.ndarray
        m numbers, fp32.

    Examples
    --------
    >>> import numpy as np
    >>> q = rl.sparse.quantise_weights(np.float32([[7, -7, 1, 0]]), bits=4)
    >>> rl.sparse.gemv_int4(q, np.float32([1, 2, 3, 4])).tolist()
    [-4.0]
    """
    return _quantised(q, 4, x)


def gemv_24(p: Packed24, x: Array) -> Array:
    """Return y = Wx, W packed 2:4 in fp32: half the multiplications, and x is chosen for each.

    Parameters
    ----------
    p : Packed24
        m × k weights in fp32, of :func:`rooflab.labs.sparse.pack`.
    x : numpy.ndarray
        k numbers, fp32.

    Returns
    -------
    numpy.ndarray
        m numbers, fp32.

    Examples
    --------
    >>> import numpy as np
    >>> p = rl.sparse.pack(np.float32([[0, 2, 0, 1]]))
    >>> rl.sparse.gemv_24(p, np.float32([1, 2, 3, 4])).tolist()
    [8.0]
    """
    if not isinstance(p, Packed24):
        raise TypeError(f"p is {type(p).__name__}; it must be packed by rl.sparse.pack(w)")
    m, k = p.shape
    if p.values.dtype != np.float32:
        raise TypeError(f"p holds {p.values.dtype}; it must hold float32")
    return packed_into(p.values, p.positions, _vector(x, k), np.empty(m, np.float32))


def dense_into(w: Array, x: Array, y: Array) -> Array:
    """Write Wx to y and return it; all arrays lie by rows."""
    kernels.dense(w, x, y)
    return y


def quantised_into(values: Array, scales: Array, x: Array, y: Array, group: int) -> Array:
    """Write Wx to y and return it; a row of ``values`` with as many bytes as x has 8 bits."""
    known = values, scales.view(np.uint16), kernels.HALF
    if values.shape[1] == x.size:
        kernels.int8(*known, group, x, y)
        return y
    lows, highs = [], []
    for columns, groups, n in parts(x.size, group):
        block, half = x[columns].reshape(groups, n), (n + 1) // 2
        lows.append(block[:, :half])
        highs.append(np.pad(block[:, half:], ((0, 0), (0, 2 * half - n))) / np.float32(16))
    offsets = np.concatenate([np.float32(-8) * low.sum(axis=1) for low in lows])
    low, sixteenths = (np.concatenate([part.ravel() for part in half]) for half in (lows, highs))
    kernels.int4(*known, (group + 1) // 2, low - sixteenths, sixteenths, offsets, y)
    return y


def packed_into(values: Array, positions: Array, x: Array, y: Array) -> Array:
    """Write Wx to y and return it; the kernel takes x by its places in pairs of groups."""
    x = np.pad(x, (0, -x.size % SPAN)).reshape(-1, SPAN // 8, 8)
    kernels.packed(values, positions.view(np.uint8), np.ascontiguousarray(x.swapaxes(1, 2)), y)
    return y


def _quantised(q: GroupQuantised, bits: int, x: Array) -> Array:
    if not isinstance(q, GroupQuantised) or q.bits != bits:
        kind = f"in {q.bits} bits" if isinstance(q, GroupQuantised) else type(q).__name__
        raise TypeError(f"q is {kind}; it must be of rl.sparse.quantise_weights(w, bits={bits})")
    m, k = q.shape
    return quantised_into(q.values, q.scales, _vector(x, k), np.empty(m, np.float32), q.group)


def _vector(x: Any, columns: int) -> Array:
    if _fp32("x", x, 1).size != columns:
        raise ValueError(f"x has {x.size} numbers; the matrix has {columns} columns")
    if not (finite := np.isfinite(x)).all():
        place = int(finite.argmin())
        raise ValueError(f"x[{place}] is {x[place]}; all of x must be finite")
    return np.ascontiguousarray(x)


def _fp32(name: str, array: Any, dimensions: int) -> Array:
    if not isinstance(array, np.ndarray) or array.dtype != np.float32:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} is {kind}; it must be a NumPy array of float32")
    if array.ndim != dimensions or not array.size:
        right = ("k numbers", "m rows and k columns")[dimensions - 1]
        raise ValueError(f"{name} has shape {array.shape}; it must have {right}, 1 or more")
    return array
