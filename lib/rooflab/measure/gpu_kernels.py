"""cuBLAS on the GPU, through CuPy (as of CuPy 14.2).

fp32 and fp64 go through ``cupy.cublas``, whose gemm knows β and which takes row-major arrays as
they are. fp16 and bf16 products go through ``matmul(out=)``, one problem after the other: on a
batch CuPy 14.2 widens fp16 to fp32 and fails on bf16. Their vector operations have no cuBLAS
routine, so they are element-wise kernels that compute in fp32. tf32 is fp32 with cuBLAS's math
mode set for the call; CUPY_TF32 is no way: CuPy reads it once, at the first fp32 product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rooflab.count import Operation
from rooflab.measure.backend import Backend, cublas_of
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

_HALF = ("fp16", "bf16")
_TF32_MATH = 3  # CUBLAS_TF32_TENSOR_OP_MATH of cublas_api.h, which CuPy 14.2 does not name
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
        name = "cupy.matmul" if op.name in ("gemv", "gemm") else "cupy element-wise kernel"
        return Kernel(f"{name} ({compute})", partial(_HALF_BINDERS[op.name], op, xp))
    name, bind = _BINDERS[op.name]
    bound = partial(bind, op, cublas_of(xp))
    if compute == "tf32":
        return Kernel(f"cupy.cublas.{name} (tf32)", lambda operands: _tf32(xp, bound(operands)))
    return Kernel(f"cupy.cublas.{name}", bound)


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
    if op.batch > 1 and op.shared == ("a",):  # one vector a row: Y = X Aᵀ
        return partial(cublas.gemm, "N", "T", x, a, y, one, _number(betas(op)[0], a))
    return in_turn([
        partial(cublas.gemv, "N", one, a, x, _number(beta, a), y)
        for beta, (a, x, y) in zip(betas(op), problems(op, operands), strict=True)
    ])  # fmt: skip


def _gemm(op: Operation, cublas: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, b, c = operands
    one = _number(1, a)
    if op.batch > 1 and op.shared == ("b",):  # the rows of all A below each other: one tall product
        a, c = (m.reshape(-1, m.shape[-1]) for m in (a, c))
        return partial(cublas.gemm, "N", "N", a, b, c, one, _number(betas(op)[0], a))
    return in_turn([
        partial(cublas.gemm, "N", "N", a, b, c, one, _number(beta, a))
        for beta, (a, b, c) in zip(betas(op), problems(op, operands), strict=True)
    ])  # fmt: skip


def _tf32(xp: Any, call: Callable[[], Any]) -> Callable[[], Any]:
    cublas = xp.cuda.cublas
    handle = xp.cuda.Device().cublas_handle
    usual, set_mode = cublas.CUBLAS_DEFAULT_MATH, cublas.setMathMode

    def in_tf32() -> None:
        set_mode(handle, _TF32_MATH)
        try:
            call()
        finally:
            set_mode(handle, usual)

    return in_tf32


def _half_axpy(op: Operation, xp: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    body = "y = (T)((float)x * a + (float)y)"
    kernel = xp.ElementwiseKernel("T x, float32 a", "T y", body, "rooflab_half_axpy")
    return partial(kernel, operands[0], np.float32(ALPHA), operands[1])


def _half_scale(op: Operation, xp: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    kernel = xp.ElementwiseKernel("float32 a", "T x", "x = (T)((float)x * a)", "rooflab_half_scale")
    return partial(kernel, np.float32(SCALE), operands[0])


def _half_dot(op: Operation, xp: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    kernel = xp.ReductionKernel(
        "T x, T y", "T r", "(float)x * (float)y", "a + b", "r = (T)a", "0", "rooflab_half_dot",
        reduce_type="float",
    )  # fmt: skip
    x, y, r = operands
    return partial(kernel, x, y, out=r.reshape(()))


def _half_ger(op: Operation, xp: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    body = "a = (T)((float)x * (float)y + (float)a)"
    kernel = xp.ElementwiseKernel("T x, T y", "T a", body, "rooflab_half_ger")
    a, x, y = operands
    return partial(kernel, x[:, None], y[None, :], a)


def _half_gemv(op: Operation, xp: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, x, y = operands
    if op.batch > 1 and op.shared == ("a",):
        return partial(xp.matmul, x, a.T, out=y)
    return in_turn([partial(xp.matmul, a, x, out=y) for a, x, y in problems(op, operands)])


def _half_gemm(op: Operation, xp: Any, operands: Sequence[Any]) -> Callable[[], Any]:
    a, b, c = operands
    if op.batch > 1 and op.shared == ("b",):
        a, c = (m.reshape(-1, m.shape[-1]) for m in (a, c))
        return partial(xp.matmul, a, b, out=c)
    return in_turn([partial(xp.matmul, a, b, out=c) for a, b, c in problems(op, operands)])


_BINDERS: dict[str, tuple[str, Any]] = {
    "axpy": ("axpy", _axpy), "dot": ("dot", _dot), "scale": ("scal", _scale), "ger": ("ger", _ger),
    "gemv": ("gemv", _gemv), "gemm": ("gemm", _gemm),
}  # fmt: skip
_HALF_BINDERS = {
    "axpy": _half_axpy, "dot": _half_dot, "scale": _half_scale, "ger": _half_ger,
    "gemv": _half_gemv, "gemm": _half_gemm,
}  # fmt: skip
