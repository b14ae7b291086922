"""Matrix products in narrow formats: quantised operands, exact products, a narrow accumulator."""

from __future__ import annotations

from reprlib import repr as short

import numpy as np
from numpy.typing import ArrayLike

from rooflab.count.validation import size
from rooflab.labs.precision.blocks import BLOCKS, block_quantise
from rooflab.labs.precision.formats import Kind, as_format, floats, formats, quantise, rounded


def multiply(
    a: ArrayLike, b: ArrayLike, format: Kind, *, accumulate: Kind = "fp32", chunk: int | None = None
) -> np.ndarray:
    """Multiply two matrices as a matrix unit would that knows only these formats.

    Parameters
    ----------
    a, b, format : array_like, array_like, str or Format
        m×k and k×n, and what they are quantised to: one of :func:`formats`, or of
        :func:`block_quantise`, along k. Products of their values are exact.
    accumulate : str or Format
        Of the sum over k, rounded after each addition; "int32", which wraps around, for integers.
    chunk : int, optional
        Number of additions in that format, after which the sum is added to one in fp32.

    Returns
    -------
    ndarray of float32, or of float64 if a format is fp64

    Examples
    --------
    >>> a, b = [[0.75] * 1000], [[1.0]] * 1000
    >>> [rl.precision.multiply(a, b, "bf16", accumulate=s).item() for s in ("fp32", "bf16")]
    [750.0, 256.0]
    """
    left, right = floats("a", a), floats("b", b)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0] or not left.size:
        raise ValueError(
            f"a is {left.shape} and b {right.shape}; they must be m×k and k×n, 1 at least"
        )
    if accumulate == "int32":
        if format not in ("int8", "int4") or chunk is not None:
            raise ValueError("accumulate='int32' needs format='int8' or 'int4', and no chunk")
        x, y = block_quantise(left, str(format)), block_quantise(right.T, str(format))
        # float64 adds these integers exactly, and BLAS does it
        integers = x.elements.astype(np.float64) @ y.elements.T.astype(np.float64)
        wrapped = integers.astype(np.int64).astype(np.int32)
        return np.asarray(wrapped * x.scales.astype(np.float64) * y.scales.T, np.float32)
    sums = as_format("accumulate", accumulate)
    # Column j of a times row j of b is added in step j; float64 has room for exact products.
    columns, rows = _operand(left, format).T, _operand(right.T, format).T
    step = len(rows) if chunk is None else size("chunk", chunk)
    total, generator = np.zeros((left.shape[0], right.shape[1])), np.random.default_rng(0)
    for start in range(0, len(rows), step):
        part = np.zeros_like(total)
        for j in range(start, min(start + step, len(rows))):
            part = rounded(part + np.outer(columns[j], rows[j]), sums, "nearest", generator)
        total = part if chunk is None else (total + part).astype(np.float32).astype(np.float64)
    with np.errstate(over="ignore"):
        return total if {sums, format} & {"fp64", formats()["fp64"]} else total.astype(np.float32)


def error(result: ArrayLike, exact: ArrayLike) -> float:
    """Return the relative error of an array, ‖result − exact‖ / ‖exact‖ (Frobenius).

    Parameters
    ----------
    result, exact : array_like
        Of one shape.

    Returns
    -------
    float

    Examples
    --------
    >>> rl.precision.error([3.0, 4.5], [3.0, 4.0])
    0.1
    """
    if np.shape(result) != np.shape(exact):
        raise ValueError(f"result={short(result)} and exact={short(exact)} must have one shape")
    values, wanted = (np.asarray(x, np.float64).ravel() for x in (result, exact))
    distance, norm = float(np.linalg.norm(values - wanted)), float(np.linalg.norm(wanted))
    return distance / norm if norm else distance and float("inf")


def _operand(values: np.ndarray, format: Kind) -> np.ndarray:
    blocked = isinstance(format, str) and format in BLOCKS
    narrow = block_quantise(values, str(format)).values if blocked else quantise(values, format)
    return narrow.astype(np.float64)
