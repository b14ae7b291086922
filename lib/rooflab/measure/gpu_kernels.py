"""cuBLAS on the GPU, through CuPy (as of CuPy 14.2).

fp32 and fp64 go through ``cupy.cublas``, whose gemm knows β and which takes row-major arrays as
they are. fp16 and bf16 products go through ``matmul(out=)``, one problem after the other: on a
batch CuPy 14.2 widens fp16 to fp32 and fails on bf16. cuBLAS may add parts of such a product in
16 bits; a math mode forbids it for the call. Vector operations on halves have no cuBLAS routine in
CuPy: they are kernels of our own, see :mod:`rooflab.measure.cuda_sources`. tf32 is fp32 with
another math mode set for the call; CUPY_TF32 is no way: CuPy reads it once, at the first fp32
product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rooflab.count import Operation
from rooflab.measure.backend import Backend, cublas_of
from rooflab.measure.cuda_sources import HALVES, PACK, THREADS, halves, resident_blocks
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

_HALF = ("fp16", "bf16")
# Math modes of cublas_api.h that CuPy 14.2 does not name: TF32_TENSOR_OP_MATH, and the default with
# MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, which keeps the parts of a product in fp32.
_TF32_MATH, _FULL_SUMS_MATH = 3, 16
_STORED = {"fp64": "fp64", "fp32": "fp32", "tf32": "fp32", "fp16": "fp16", "bf16": "bf16"}


def gpu_kernel(op: Operation, backend: Backend) -> Kernel:
    """Return the cuBLAS kernel for ``op``; raise ValueError with the reason when there is none."""
    if op.name not in _BINDERS:
        raise no_kernel(op, tuple(_BINDERS))
    compute = op.compute_dtype.name
    _refuse_dtypes(op, compute)
    xp = backend.xp
    if compute == "tf32" and int(xp.cuda.Device().compute_capability) < 80:
        raise refused(op, f"{backend.device} has no tf32 (compute capability 8.0 has)")
    if compute in _HALF:
        if op.accumulate or "c" in op.shared:
            raise refused(op, f"CuPy has no {compute} product that adds to its output (β = 1)")
        return _half_kernel(op, xp, compute)
    name, bind = _BINDERS[op.name]
    bound = partial(bind, op, cublas_of(xp))
    if compute == "tf32":
        return Kernel(
            f"cupy.cublas.{name} (tf32)", lambda operands: _in_mode(xp, _TF32_MATH, bound(operands))
        )
    return Kernel(f"cupy.cublas.{name}", bound)


def _half_kernel(op: Operation, xp: Any, compute: str) -> Kernel:
    if op.name in _HALF_PRODUCTS:
        bind = partial(_HALF_PRODUCTS[op.name], op, xp)
        return Kernel(
            f"cupy.matmul ({compute})",
            lambda operands: _in_mode(xp, _FULL_SUMS_MATH, bind(operands)),
        )
    kernel = HALVES.kernel(xp, f"half_{op.name}", halves(compute))
    return Kernel(
        f"rooflab half_{op.name} ({compute})", partial(_HALF_VECTORS[op.name], xp, kernel)
    )


def _refuse_dtypes(op: Operation, compute: str) -> None:
    stored = sorted({_STORED.get(o.dtype.name, o.dtype.name) for o in op.operands})
    if compute not in _STORED:
        why = {
            "int8": "CuPy's int8 product wraps its sums at 8 bits",
            "int4": "CuPy has no 4-bit arrays",
        }.get(compute, f"CuPy has no {compute} arithmetic")
        raise refused(op, why)
    if stored != [_STORED[compute]]:
        raise refused(
            op, f"CuPy multiplies and writes one dtype, not {' with '.join([*stored, compute])}"
        )
    if compute == "tf32" and op.unit != "tensor":
        raise refused(op, "only products of matrices have a tf32 mode")


def _number(value: float, like: Any) -> np.ndarray:
    """A scalar as cuBLAS wants it, made once: CuPy would convert a float at every call."""
    return np.array(value, dtype=like.dtype)


def _axpy(op: Operation, cublas: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    x, y = operands
    return partial(cublas.axpy, _number(ALPHA, x), x, y)


def _dot(op: Operation, cublas: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    x, y, r = operands
    return partial(cublas.dot, x, y, r)  # with r on the GPU, nothing waits for the result


def _scale(op: Operation, cublas: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    return partial(cublas.scal, _number(SCALE, operands[0]), operands[0])


def _ger(op: Operation, cublas: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, x, y = operands
    return partial(cublas.ger, _number(1, a), x, y, a)


def _gemv(op: Operation, cublas: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, x, y = operands
    one = _number(1, a)
    if one_product(op, "gpu"):  # one vector a row: Y = X Aᵀ
        return partial(cublas.gemm, "N", "T", x, a, y, one, _number(betas(op)[0], a))
    return in_turn([
        partial(cublas.gemv, "N", one, a, x, _number(beta, a), y)
        for beta, (a, x, y) in zip(betas(op), problems(op, operands), strict=True)
    ])  # fmt: skip


def _gemm(op: Operation, cublas: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, b, c = operands
    one = _number(1, a)
    if one_product(op, "gpu"):  # the rows of all A below each other: one tall product
        a, c = (m.reshape(-1, m.shape[-1]) for m in (a, c))
        return partial(cublas.gemm, "N", "N", a, b, c, one, _number(betas(op)[0], a))
    return in_turn([
        partial(cublas.gemm, "N", "N", a, b, c, one, _number(beta, a))
        for beta, (a, b, c) in zip(betas(op), problems(op, operands), strict=True)
    ])  # fmt: skip


def _in_mode(xp: Any, mode: int, call: Callable[[], Any]) -> Callable[[], Any]:
    """``call`` with cuBLAS's math ``mode`` set around it."""
    cublas = xp.cuda.cublas
    handle = xp.cuda.Device().cublas_handle
    usual, set_mode = cublas.CUBLAS_DEFAULT_MATH, cublas.setMathMode

    def in_mode() -> None:
        set_mode(handle, mode)
        try:
            call()
        finally:
            set_mode(handle, usual)

    return in_mode


def _vector_grid(xp: Any, kernel: Any, size: int) -> tuple[tuple[int], tuple[int]]:
    """Grid and block for ``size`` halves: a pack a thread, or all threads that fit on the GPU."""
    packs = -(-size // PACK)
    return (max(1, min(-(-packs // THREADS), resident_blocks(xp, kernel))),), (THREADS,)


def _matrix_grid(xp: Any, kernel: Any, rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """Grid and block for a matrix of halves: threads side by side along a row, then down."""
    across = columns // PACK if columns % PACK == 0 else columns
    wide = min(THREADS, 1 << (across - 1).bit_length())
    high = THREADS // wide
    blocks = resident_blocks(xp, kernel)
    x = min(-(-across // wide), blocks)
    return (x, max(1, min(-(-rows // high), blocks // x))), (wide, high)


def _half_axpy(xp: Any, kernel: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    x, y = operands
    grid, block = _vector_grid(xp, kernel, x.size)
    return partial(kernel, grid, block, (x, y, xp.float32(ALPHA), xp.int64(x.size)))


def _half_scale(xp: Any, kernel: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    x = operands[0]
    grid, block = _vector_grid(xp, kernel, x.size)
    return partial(kernel, grid, block, (x, xp.float32(SCALE), xp.int64(x.size)))


def _half_dot(xp: Any, kernel: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    x, y, r = operands
    grid, block = _vector_grid(xp, kernel, x.size)
    parts, arrived = xp.empty(grid[0], dtype=xp.float32), xp.zeros(1, dtype=xp.uint32)
    return partial(kernel, grid, block, (x, y, r, xp.int64(x.size), parts, arrived))


def _half_ger(xp: Any, kernel: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, x, y = operands
    grid, block = _matrix_grid(xp, kernel, *a.shape)
    return partial(kernel, grid, block, (a, x, y, xp.int64(x.size), xp.int64(y.size)))


def _half_gemv(op: Operation, xp: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, x, y = operands
    if one_product(op, "gpu"):
        return partial(xp.matmul, x, a.T, out=y)
    return in_turn([partial(xp.matmul, a, x, out=y) for a, x, y in problems(op, operands)])


def _half_gemm(op: Operation, xp: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, b, c = operands
    if one_product(op, "gpu"):
        a, c = (m.reshape(-1, m.shape[-1]) for m in (a, c))
        return partial(xp.matmul, a, b, out=c)
    return in_turn([partial(xp.matmul, a, b, out=c) for a, b, c in problems(op, operands)])


_BINDERS: dict[str, tuple[str, Any]] = {
    "axpy": ("axpy", _axpy), "dot": ("dot", _dot), "scale": ("scal", _scale), "ger": ("ger", _ger),
    "gemv": ("gemv", _gemv), "gemm": ("gemm", _gemm),
}  # fmt: skip
_HALF_PRODUCTS = {"gemv": _half_gemv, "gemm": _half_gemm}
_HALF_VECTORS = {"axpy": _half_axpy, "dot": _half_dot, "scale": _half_scale, "ger": _half_ger}
