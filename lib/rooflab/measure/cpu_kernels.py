"""Real BLAS on the CPU: the routines of scipy.linalg.blas, writing in place.

Arguments are positional, which halves the cost of a call through f2py (116 against 200 ns for a
saxpy of 16), and every output is passed with its overwrite flag: a copy would be timed otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rooflab.count import Operation
from rooflab.measure.backend import Backend
from rooflab.measure.kernels import (
    ALPHA,
    SCALE,
    Kernel,
    betas,
    in_turn,
    no_kernel,
    problems,
    refused,
)
from rooflab.predict.routines import one_product

Bound = Callable[[Sequence[Any]], Callable[[], Any]]
_LETTER = {"fp32": "s", "fp64": "d"}


def cpu_kernel(op: Operation, backend: Backend) -> Kernel:
    """Return the BLAS kernel for ``op``; raise ValueError with the reason when there is none."""
    if op.name not in _ROUTINES:
        raise no_kernel(op, tuple(_ROUTINES))
    letter = _LETTER.get(op.compute_dtype.name)
    if letter is None or any(o.dtype != op.compute_dtype for o in op.operands):
        found = sorted({str(op.compute_dtype), *(str(o.dtype) for o in op.operands)})
        kinds = " with ".join(found)
        raise refused(op, f"the CPU's BLAS has routines for fp32 and fp64 only, not for {kinds}")
    from scipy.linalg import blas

    name, bind = _ROUTINES[op.name]
    if op.name == "gemv" and one_product(op, "cpu"):
        name = "gemm"
    routine = getattr(blas, letter + name)
    library = f"scipy.linalg.blas.{letter}{name}"
    return Kernel(library, partial(bind, op, routine), returns=op.name == "dot")


def _axpy(op: Operation, axpy: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    x, y = operands
    return partial(axpy, x, y, x.size, ALPHA)


def _dot(op: Operation, dot: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    x, y, _ = operands
    return partial(dot, x, y)


def _scale(op: Operation, scal: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    return partial(scal, SCALE, operands[0])


def _ger(op: Operation, ger: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, x, y = operands
    return partial(ger, 1.0, x, y, 1, 1, a, 1, 1, 1)  # strides of x and y, a, overwrite all


def _gemv(op: Operation, routine: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, x, y = operands
    if one_product(
        op, "cpu"
    ):  # all lie by rows, so their transposes are F-ordered; 1: a is transposed
        return partial(routine, 1.0, a.T, x.T, betas(op)[0], y.T, 1, 0, 1)
    return in_turn([
        partial(routine, 1.0, a, x, beta, y, 0, 1, 0, 1, 0, 1)  # offsets, strides, trans, overwrite
        for beta, (a, x, y) in zip(betas(op), problems(op, operands), strict=True)
    ])  # fmt: skip


def _gemm(op: Operation, gemm: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    if one_product(op, "cpu"):  # the columns of all B side by side: one wide product
        a, b, c = operands
        operands = (a, _side_by_side(b), _side_by_side(c))
        return partial(gemm, 1.0, operands[0], operands[1], betas(op)[0], operands[2], 0, 0, 1)
    return in_turn([
        partial(gemm, 1.0, a, b, beta, c, 0, 0, 1)  # trans_a, trans_b, overwrite_c
        for beta, (a, b, c) in zip(betas(op), problems(op, operands), strict=True)
    ])  # fmt: skip


def _side_by_side(matrices: Any) -> Any:
    """(batch, rows, columns), each matrix F-ordered, as (rows, batch · columns) without copying."""
    batch, rows, columns = matrices.shape
    return matrices.swapaxes(1, 2).reshape(batch * columns, rows).T


_ROUTINES: dict[str, tuple[str, Any]] = {
    "axpy": ("axpy", _axpy),
    "dot": ("dot", _dot),
    "scale": ("scal", _scale),
    "ger": ("ger", _ger),
    "gemv": ("gemv", _gemv),
    "gemm": ("gemm", _gemm),
}
