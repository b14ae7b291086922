"""Float64 products made of int8 ones: matrices in slices (Ozaki).

K. Ozaki et al., "Error-free transformations of matrix multiplication by using fast routines of
matrix multiplication" (2012); H. Ootomo et al., "DGEMM on integer matrix multiplication unit".
"""

from __future__ import annotations

from reprlib import repr as short

import numpy as np
from numpy.typing import ArrayLike

from rooflab.count.validation import size
from rooflab.labs.precision.formats import floats

LONGEST, LONGEST_FP32 = (2**31 - 1) // 127**2, 2**24 // 127**2  # terms of 127² that one holds


def slices(
    x: ArrayLike, count: int, bits: int = 7, *, axis: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """Cut a matrix into int8 slices that share a power of two along an axis, without an error.

    ``x`` is the sum of slices[i]·2**(exponents − (i + 1)·bits), but for bits past the last slice.

    Parameters
    ----------
    x, count, bits : array_like, int, int
        Matrix, and slices and their bits beside the sign; 8 of 7 hold all 53 of a row's largest.
    axis : int
        The axis that is summed over: -1 gives each row of A an exponent, 0 each column of B.

    Returns
    -------
    tuple of ndarray
        The slices, int8 (count, m, n), and the exponents, (m, 1) or (1, n).

    Examples
    --------
    >>> parts, exponents = rl.precision.slices([[1.0, 0.7]], 2)
    >>> parts[:, 0].tolist(), exponents.tolist()
    ([[64, 44], [0, 102]], [[1]])
    """
    rest, count = floats("x", x).astype(np.float64), size("count", count)
    if size("bits", bits) > 7:
        raise ValueError(f"bits={bits} must be 7 or less, for a slice has eight with its sign")
    if rest.ndim != 2 or not rest.size or not np.isfinite(rest).all():
        raise ValueError(f"x={short(x)} must be a matrix of finite values")
    exponents = np.frexp(np.abs(rest).max(axis, keepdims=True))[1]
    rest = np.ldexp(rest, -exponents)  # below 1
    parts = np.empty((count, *rest.shape), np.int8)
    for part in parts:
        rest *= 2.0**bits
        part[...] = np.trunc(rest)
        rest -= part
    return parts, exponents


def sliced_product(a: ArrayLike, b: ArrayLike, count: int) -> np.ndarray:
    """Multiply two float64 matrices by products of int8 slices, each of them exact.

    Slices i and j are multiplied if i + j < count, from 0: count·(count + 1)/2 products. The others
    weigh less than what the last slice leaves out.

    Parameters
    ----------
    a, b, count : array_like, array_like, int
        m×k and k×n, with k up to 133,144, so that an int32 holds the sum; slices of each.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> a, b = [[1.0, 0.7]], [[3.0], [0.3]]
    >>> [round(3.21 - rl.precision.sliced_product(a, b, n).item(), 6) for n in (1, 2, 3, 8)]
    [0.016641, 0.000382, 4e-06, 0.0]
    """
    (left, rows), (right, columns) = slices(a, count), slices(b, count, axis=0)
    length = left.shape[2]
    if length != right.shape[1] or length > LONGEST:
        raise ValueError(f"b has {right.shape[1]} rows; give a's {length}, {LONGEST:,} at most")
    # Floating point adds integers exactly while they fit the mantissa: fp32's 24 bits up to
    # k = 1,040, fp64's 53 always. So BLAS computes what int32 would, but much faster.
    kind = np.float32 if length <= LONGEST_FP32 else np.float64
    left, right = left.astype(kind), right.astype(kind)
    total = np.zeros((left.shape[1], right.shape[2]))
    for both in reversed(range(count)):  # the smallest first
        for i in range(both + 1):
            total += np.ldexp((left[i] @ right[both - i]).astype(np.float64), -7 * (both + 2))
    return np.asarray(np.ldexp(total, rows + columns))
