"""Products y = Wx with one thread: W dense, in 8 or 4 bits, or packed 2:4; x and y in fp32."""

from __future__ import annotations

import numpy as np

from rooflab.labs.sparse import kernels
from rooflab.labs.sparse.weights import Array, GroupQuantised, Packed24, check

SPAN = 256  # numbers of x that the 2:4 kernel takes in one turn


def gemv(w: Array | GroupQuantised | Packed24, x: Array) -> Array:
    """Return y = Wx: dense, in 8 or 4 bits, or packed 2:4, each with a kernel of its own.

    Integers become fp32 in registers, and a scale multiplies the sum of its group. What the kernels
    of 4 bits and 2:4 ask of x is done to it before, once for all rows.

    Parameters
    ----------
    w : numpy.ndarray, GroupQuantised or Packed24
        m × k weights: fp32, of :func:`quantise_weights`, or of :func:`pack` in fp32.
    x : numpy.ndarray
        k numbers, fp32.

    Returns
    -------
    numpy.ndarray
        m numbers, fp32.

    Examples
    --------
    >>> import numpy as np
    >>> w, x = np.float32([[0, 7, 0, -7]]), np.float32([1, 2, 3, 4])
    >>> packed, quantised = rl.sparse.pack(w), rl.sparse.quantise_weights(w, bits=4)
    >>> [rl.sparse.gemv(form, x).item() for form in (w, packed, quantised)]
    [-14.0, -14.0, -14.0]
    """
    if not isinstance(w, GroupQuantised):
        check("w", w.values if isinstance(w, Packed24) else w, 2, ["float32"], finite=False)
    check("x", x, 1, ["float32"])
    m, k = w.shape
    if x.size != k:
        raise ValueError(f"x has {x.size} numbers; it must have {k}, one for each column of w")
    x, y = np.ascontiguousarray(x), np.empty(m, np.float32)
    if isinstance(w, Packed24):
        planes = np.pad(x, (0, -k % SPAN)).reshape(-1, SPAN // 8, 8).swapaxes(1, 2)
        kernels.packed(w.values, w.positions, np.ascontiguousarray(planes), y)
    elif not isinstance(w, GroupQuantised):  # scales of 1: the same kernel as of 8 bits
        ones = np.broadcast_to(np.uint16(0x3C00), (m, -(-k // 128)))
        kernels.grouped(np.ascontiguousarray(w), ones, kernels.HALF, 128, x, y)
    elif w.bits == 8:
        kernels.grouped(w.values, w.scales.view(np.uint16), kernels.HALF, w.group, x, y)
    else:
        left, right = np.pad(x, (0, k % 2)).reshape(-1, 2).T
        right, stride = right / np.float32(16), w.group // 2
        offsets = np.float32(-8) * np.add.reduceat(left, np.arange(0, left.size, stride))
        stored = w.values, w.scales.view(np.uint16), kernels.HALF
        kernels.int4(*stored, stride, left - right, right, offsets, y)
    return y
