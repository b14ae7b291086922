"""Products y = Wx with one thread: W dense, in 8 or 4 bits, or packed 2:4; x and y in fp32."""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.labs.sparse import kernels
from rooflab.labs.sparse.pruning import Array, Packed24
from rooflab.labs.sparse.quantised import GroupQuantised

SPAN = 256  # numbers of x that the 2:4 kernel takes in one turn


def gemv_dense(w: Array, x: Array) -> Array:
    """Return y = Wx, W dense in fp32: what the other products are compared with.

    Parameters
    ----------
    w, x : numpy.ndarray
        m × k, and k numbers, fp32.

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
    m, k = _fp32("w", w, 2).shape
    return _written(m, kernels.dense, np.ascontiguousarray(w), _vector(x, k))


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
    m, k = _quantised(q, 8).shape
    stored = q.values, q.scales.view(np.uint16), kernels.HALF
    return _written(m, kernels.int8, *stored, q.group, _vector(x, k))


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
    m, k = _quantised(q, 4).shape
    pairs = np.pad(_vector(x, k), (0, k % 2)).reshape(-1, 2)
    stride, left, right = q.group // 2, pairs[:, 0], pairs[:, 1] / np.float32(16)
    offsets = np.float32(-8) * np.add.reduceat(left, np.arange(0, left.size, stride))
    stored = q.values, q.scales.view(np.uint16), kernels.HALF
    return _written(m, kernels.int4, *stored, stride, left - right, right, offsets)


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
    if not isinstance(p, Packed24) or p.values.dtype != np.float32:
        kind = f"in {p.values.dtype}" if isinstance(p, Packed24) else type(p).__name__
        raise TypeError(f"p is {kind}; it must be rl.sparse.pack(w) of a w in float32")
    m, k = p.shape
    planes = np.pad(_vector(x, k), (0, -k % SPAN)).reshape(-1, SPAN // 8, 8).swapaxes(1, 2)
    return _written(m, kernels.packed, p.values, p.positions, np.ascontiguousarray(planes))


def _written(m: int, kernel: Any, *arguments: Any) -> Array:
    y = np.empty(m, np.float32)
    kernel(*arguments, y)
    return y


def _quantised(q: GroupQuantised, bits: int) -> GroupQuantised:
    if not isinstance(q, GroupQuantised) or q.bits != bits:
        kind = f"in {q.bits} bits" if isinstance(q, GroupQuantised) else type(q).__name__
        raise TypeError(f"q is {kind}; it must be rl.sparse.quantise_weights(w, bits={bits})")
    return q


def _vector(x: Array, columns: int) -> Array:
    if _fp32("x", x, 1).size != columns:
        raise ValueError(f"x has {x.size} numbers; the matrix has {columns} columns")
    if not (finite := np.isfinite(x)).all():
        place = int(finite.argmin())
        raise ValueError(f"x[{place}] is {x[place]}; all of x must be finite")
    return np.ascontiguousarray(x)


def _fp32(name: str, array: Array, dimensions: int) -> Array:
    if not isinstance(array, np.ndarray) or array.dtype != np.float32:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} is {kind}; it must be a NumPy array of float32")
    if array.ndim != dimensions or not array.size:
        right = ("k numbers", "m rows and k columns")[dimensions - 1]
        raise ValueError(f"{name} has shape {array.shape}; it must have {right}, 1 or more")
    return array
