"""Matrix products in narrow formats: quantised operands, exact products, a narrow accumulator."""

from __future__ import annotations

from reprlib import repr as short

import numpy as np
from numpy.typing import ArrayLike

from rooflab.count.validation import size
from rooflab.labs.precision.blocks import BLOCKS, LIMITS, block_quantise
from rooflab.labs.precision.formats import FormatLike, as_format
from rooflab.labs.precision.rounding import floats, quantise, rounded


def multiply(
    a: ArrayLike,
    b: ArrayLike,
    format: FormatLike,
    *,
    accumulate: FormatLike = "fp32",
    chunk: int | None = None,
) -> np.ndarray:
    """Multiply two matrices as a matrix unit would that knows only these formats.

    Both operands are quantised, their products are exact, and the sums over k are rounded to
    ``accumulate`` after each addition.

    Parameters
    ----------
    a, b : array_like
        m×k and k×n.
    format : str or Format
        Of the operands: one of :func:`formats`, or one of :func:`block_quantise`, whose blocks lie
        along k. "int8" and "int4" have a scale for each row of ``a`` and column of ``b``.
    accumulate : str or Format, default "fp32"
        Of the sums; "int32", which wraps around, for integers.
    chunk : int, optional
        Number of additions in that format, after which the sum is added to one in fp32.

    Returns
    -------
    ndarray
        m×n as float32, or float64 if a format is fp64.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.full((1, 1000), 0.75), np.ones((1000, 1))
    >>> [float(rl.precision.multiply(a, b, "bf16", accumulate=s)[0, 0]) for s in ("fp32", "bf16")]
    [750.0, 256.0]
    >>> float(rl.precision.multiply(a, b, "bf16", accumulate="bf16", chunk=100)[0, 0])
    750.0
    """
    left, right = _matrix("a", a), _matrix("b", b)
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"a is {left.shape} and b {right.shape}; a's columns must be b's rows")
    if accumulate == "int32":
        if format not in LIMITS or chunk is not None:
            raise ValueError(f"accumulate='int32' is for {' and '.join(LIMITS)}, without chunk=")
        return _integer_product(left, right, str(format))
    sums = as_format("accumulate", accumulate)
    # Column j of a times row j of b is added in step j; float64 has room for exact products.
    columns = _operand(left, format).T.astype(np.float64)
    rows = _operand(right.T, format).T.astype(np.float64)
    length = len(columns)
    step = length if chunk is None else size("chunk", chunk)
    total = np.zeros((left.shape[0], right.shape[1]))
    generator = np.random.default_rng()  # of no use when rounding to nearest
    for start in range(0, length, step):
        part = np.zeros_like(total)
        for j in range(start, min(start + step, length)):
            part = rounded(
                part + np.multiply.outer(columns[j], rows[j]), sums, "nearest", generator
            )
        total = part if chunk is None else (total + part).astype(np.float32).astype(np.float64)
    return total if "fp64" in (sums.name, getattr(format, "name", format)) else _narrow(total)


def error(result: ArrayLike, exact: ArrayLike) -> float:
    """Return the relative error of an array, ‖result − exact‖ / ‖exact‖ (Frobenius).

    Parameters
    ----------
    result, exact : array_like
        Of one shape.

    Returns
    -------
    float
        NaN or infinite where the result is.

    Examples
    --------
    >>> rl.precision.error([3.0, 4.5], [3.0, 4.0])
    0.1
    """
    values, wanted = (np.asarray(x, np.float64) for x in (result, exact))
    if values.shape != wanted.shape:
        raise ValueError(f"result has shape {values.shape} and exact {wanted.shape}; make them one")
    distance = float(np.linalg.norm((values - wanted).ravel()))
    if distance == 0:
        return 0.0
    norm = float(np.linalg.norm(wanted.ravel()))
    return distance / norm if norm else float("inf")


def _matrix(argument: str, value: ArrayLike) -> np.ndarray:
    array = floats(argument, value)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{argument}={short(value)} has shape {array.shape}; it must be a matrix")
    return array


def _operand(values: np.ndarray, format: FormatLike) -> np.ndarray:
    if format in BLOCKS:
        return block_quantise(values, str(format)).values
    return quantise(values, format)


def _integer_product(a: np.ndarray, b: np.ndarray, format: str) -> np.ndarray:
    left, right = block_quantise(a, format), block_quantise(b.T, format)
    # float64 adds these integers exactly, and its products are BLAS's
    sums = left.elements.astype(np.float64) @ right.elements.T.astype(np.float64)
    wrapped = sums.astype(np.int64).astype(np.int32)
    return _narrow(wrapped * left.scales.astype(np.float64) * right.scales.T.astype(np.float64))


def _narrow(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)
