"""A linear layer, Y = X Wᵀ, in the ways that a library offers for it.

X holds one token a row, (rows, in); W is (out, in); Y is (rows, out). A library may be asked for
one matrix-vector product a token or for one matrix-matrix product, and W may be stored as BLAS has
it or transposed. None of them wins always, so that :mod:`rooflab.measure.decode_forms` times them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rooflab.measure.backend import Backend, cublas_of
from rooflab.measure.kernels import in_turn
from rooflab.measure.timing import Call

DTYPES = {
    "cpu": {"fp32": "float32", "fp64": "float64"},
    "gpu": {"fp32": "float32", "fp64": "float64", "fp16": "float16", "bf16": "bfloat16"},
}


@dataclass(frozen=True)
class Form:
    """A way to compute the layer: one GEMV a token or one GEMM, on W or on stored-transposed W."""

    name: str
    gemv: bool
    transposed: bool


FORMS = {
    form.name: form
    for form in (
        Form("gemv ×B", True, False),
        Form("gemv ×B on Wᵀ", True, True),
        Form("gemm", False, False),
        Form("gemm on Wᵀ", False, True),
    )
}


def array_dtype(kind: str, backend: Backend) -> np.dtype:
    """The array dtype of ``kind`` ("fp32", …); ValueError where the backend has no products."""
    known = DTYPES[backend.name]
    if kind not in known:
        where = "a GPU" if backend.is_gpu else "a CPU, whose BLAS knows no other"
        raise ValueError(f"dtype={kind!r}: the loop runs in {', '.join(known)} on {where}")
    if kind == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(known[kind])


def by_columns(form: Form, backend: Backend) -> bool:
    """Whether ``form`` wants W (out, in) stored by columns: BLAS's own order on a CPU, the other
    one on a GPU, whose arrays are row-major in this package."""
    return form.transposed == backend.is_gpu


def viewed(flat: Any, shape: tuple[int, int], columns: bool) -> Any:
    """The memory ``flat`` as a matrix of ``shape`` (out, in), by columns or by rows; no copy."""
    return flat.reshape(shape[::-1]).T if columns else flat.reshape(shape)


def relaid(matrix: Any, columns: bool, xp: Any) -> Any:
    """``matrix`` with the same numbers in the order asked for, in the same memory."""
    is_columns = not matrix.flags.c_contiguous
    if is_columns == columns or min(matrix.shape) == 1:
        return matrix
    flat = (matrix.T if is_columns else matrix).reshape(-1)
    turned = xp.ascontiguousarray(matrix.T if columns else matrix).reshape(-1)
    flat[...] = turned
    return viewed(flat, matrix.shape, columns)


def bind(form: Form, weight: Any, x: Any, y: Any, backend: Backend) -> Call:
    """Return the call that writes x Wᵀ to ``y``; ``weight`` (out, in) in the form's order."""
    if backend.is_gpu:
        return _bind_gpu(form, weight, x, y, backend.xp)
    from scipy.linalg import blas

    letter = {"float32": "s", "float64": "d"}[weight.dtype.name]
    stored, trans = (weight.T, 1) if form.transposed else (weight, 0)
    if not form.gemv:  # X and Y hold a token a row, so their transposes are F-ordered
        gemm = getattr(blas, f"{letter}gemm")
        return partial(gemm, 1.0, stored, x.T, 0.0, y.T, trans, 0, 1)
    gemv = getattr(blas, f"{letter}gemv")
    return in_turn([
        partial(gemv, 1.0, stored, row, 0.0, out, 0, 1, 0, 1, trans, 1)
        for row, out in zip(x, y, strict=True)
    ])  # fmt: skip


def _bind_gpu(form: Form, weight: Any, x: Any, y: Any, xp: Any) -> Call:
    """CuPy reads W in either order; halves go through matmul, one 2-D product at a time."""
    if weight.dtype.itemsize == 2:
        pairs = zip(x, y, strict=True) if form.gemv else [(x, y)]
        return in_turn([partial(_halves, xp, a, weight, out) for a, out in pairs])
    cublas = cublas_of(xp)
    one, zero = (np.array(value, dtype=weight.dtype) for value in (1, 0))
    if not form.gemv:
        return partial(cublas.gemm, "N", "T", x, weight, y, one, zero)
    rows = zip(x, y, strict=True)
    return in_turn([partial(cublas.gemv, "N", one, weight, row, zero, out) for row, out in rows])


def _halves(xp: Any, x: Any, weight: Any, y: Any) -> None:
    """The product of halves: activations are kept in fp32, and rounded as they go in."""
    y[...] = xp.matmul(x.astype(weight.dtype), weight.T)
