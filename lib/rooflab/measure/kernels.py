"""Operation → a call that really computes it, on operands that are already there.

``bind(operands)`` looks everything up once and returns a call without arguments, so that what is
timed is the routine and as little Python as possible.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from rooflab.count import Operation
from rooflab.measure.backend import Backend, cublas_of
from rooflab.measure.cuda_sources import HALVES, PACK, THREADS, halves, resident_blocks
from rooflab.measure.timing import Call
from rooflab.predict.estimate import one_product

ALPHA = 0.5  # of axpy: sums grow slowly enough for millions of calls
SCALE = -1.0  # of scale: neither 1, which OpenBLAS skips, nor a road to zero or infinity
LARGEST = 2**31 - 1  # BLAS here counts with 32-bit integers


@dataclass(frozen=True)
class Kernel:
    """A named way to compute an operation.

    ``bind(operands)`` returns the call; what the call returns is its result when ``returns`` is
    true, else the result is in the written operand.
    """

    name: str
    bind: Callable[[Sequence[Any]], Call]
    returns: bool = False


def kernel_for(op: Operation, backend: Backend, run: Callable[..., Any] | None = None) -> Kernel:
    """Return the learner's ``run`` as a kernel, or the real BLAS or CuPy routine for ``op``.

    Raises ValueError with the reason when there is no such routine, TypeError when ``run`` cannot
    be called.
    """
    if run is not None:
        if not callable(run):
            kind = type(run).__name__
            raise TypeError(f"run={run!r} is a {kind}; it must be callable as run(*operands)")
        name = getattr(run, "__name__", type(run).__name__)
        return Kernel(f"run: {name}", lambda operands: functools.partial(run, *operands), True)
    if max(max(o.shape, default=1) for o in op.operands) > LARGEST:
        raise ValueError(f"op: {op.label} has a size above {LARGEST}, the most that BLAS counts to")
    return gpu_kernel(op, backend) if backend.is_gpu else cpu_kernel(op, backend)


def no_kernel(op: Operation, known: Sequence[str]) -> ValueError:
    """The error for an operation without a routine of its own."""
    names = ", ".join(o.name for o in op.operands)
    return ValueError(
        f"op: there is no default kernel for {op.name!r} (only for {', '.join(known)}); "
        f"pass run=, a function of ({names}) that computes it"
    )


def refused(op: Operation, reason: str) -> ValueError:
    """The error for a dtype, or a way to accumulate, that the libraries cannot compute."""
    return ValueError(f"op: {op.label} cannot be measured: {reason}; pass run= to use your own")


def in_turn(calls: Sequence[Call]) -> Call:
    """One call that makes several, for batches without a routine of their own."""
    if len(calls) == 1:
        return calls[0]
    calls = tuple(calls)

    def all_of_them() -> None:
        for call in calls:
            call()

    return all_of_them


def problems(op: Operation, arrays: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The batch, one tuple of arrays a problem; operands that are shared come with every one."""
    if op.batch == 1:
        return [tuple(arrays)]
    shared = [o.name in op.shared for o in op.operands]
    return [
        tuple(a if once else a[i] for a, once in zip(arrays, shared, strict=True))
        for i in range(op.batch)
    ]


def betas(op: Operation) -> list[float]:
    """β of each problem: 1 where the output is added to, as it is after the first of a shared C."""
    first = 1.0 if op.accumulate else 0.0
    later = 1.0 if "c" in op.shared else first
    return [first, *[later] * (op.batch - 1)]


# Real BLAS on the CPU: the routines of scipy.linalg.blas, writing in place.
#
# Arguments are positional, which halves the cost of a call through f2py (116 against 200 ns for a
# saxpy of 16), and every output is passed with its overwrite flag: a copy would be timed otherwise.


Binder = Callable[..., Call]
"""(operation, routine, *operands) -> the call; on a GPU the routine is CuPy's module of them."""
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
    return Kernel(library, lambda operands: bind(op, routine, *operands), op.name == "dot")


def _cpu_gemv(op: Operation, routine: Any, a: Any, x: Any, y: Any) -> Call:
    if one_product(op, "cpu"):
        # All lie by rows, so their transposes are F-ordered, and Yᵀ = (Aᵀ)ᵀ Xᵀ.
        # The last three: transpose the first, not the second, and overwrite Yᵀ.
        return partial(routine, 1.0, a.T, x.T, betas(op)[0], y.T, 1, 0, 1)
    return in_turn([
        partial(routine, 1.0, a, x, beta, y, 0, 1, 0, 1, 0, 1)  # offsets, strides, trans, overwrite
        for beta, (a, x, y) in zip(betas(op), problems(op, (a, x, y)), strict=True)
    ])  # fmt: skip


def _cpu_gemm(op: Operation, gemm: Any, a: Any, b: Any, c: Any) -> Call:
    products = problems(op, (a, b, c))
    if one_product(op, "cpu"):  # all B side by side: one wide product, with the first β
        products = [(a, _side_by_side(b), _side_by_side(c))]
    return in_turn([
        partial(gemm, 1.0, a, b, beta, c, 0, 0, 1)  # trans_a, trans_b, overwrite_c
        for beta, (a, b, c) in zip(betas(op)[: len(products)], products, strict=True)
    ])  # fmt: skip


def _side_by_side(matrices: Any) -> Any:
    """(batch, rows, columns), each matrix F-ordered, as (rows, batch · columns) without copying."""
    batch, rows, columns = matrices.shape
    return matrices.swapaxes(1, 2).reshape(batch * columns, rows).T


_ROUTINES: dict[str, tuple[str, Binder]] = {
    "axpy": ("axpy", lambda op, axpy, x, y: partial(axpy, x, y, x.size, ALPHA)),
    "dot": ("dot", lambda op, dot, x, y, r: partial(dot, x, y)),
    "scale": ("scal", lambda op, scal, x: partial(scal, SCALE, x)),
    # strides of x and y, a, overwrite all
    "ger": ("ger", lambda op, ger, a, x, y: partial(ger, 1.0, x, y, 1, 1, a, 1, 1, 1)),
    "gemv": ("gemv", _cpu_gemv),
    "gemm": ("gemm", _cpu_gemm),
}

# cuBLAS on the GPU, through CuPy (as of CuPy 14.2).
#
# fp32 and fp64: ``cupy.cublas``, whose gemm knows β and takes row-major arrays as they are.
# tf32: fp32 with a math mode set for the call. CuPy's CUPY_TF32 is read once, at the first fp32
# product, so it cannot change from one call to the next.
# fp16 and bf16 products: ``matmul(out=)``, one problem after the other. On a batch CuPy 14.2 widens
# fp16 to fp32 and fails on bf16. cuBLAS may add parts of such a product in 16 bits; a math mode
# forbids it for the call.
# fp16 and bf16 vectors: CuPy wraps no cuBLAS routine for them. The kernels are our own, see
# :mod:`rooflab.measure.cuda_sources`.


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
    if compute != "tf32":
        return Kernel(f"cupy.cublas.{name}", lambda operands: bound(*operands))
    return Kernel(f"cupy.cublas.{name} (tf32)", _in_mode(xp, _TF32_MATH, bound))


def _half_kernel(op: Operation, xp: ModuleType, compute: str) -> Kernel:
    if op.name in _HALF_PRODUCTS:
        bound = partial(_HALF_PRODUCTS[op.name], op, xp)
        return Kernel(f"cupy.matmul ({compute})", _in_mode(xp, _FULL_SUMS_MATH, bound))
    kernel, bind = HALVES.kernel(xp, f"half_{op.name}", halves(compute)), _HALF_VECTORS[op.name]
    name = f"rooflab half_{op.name} ({compute})"
    return Kernel(name, lambda operands: bind(xp, kernel, *operands))


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


def _gpu_gemv(op: Operation, cublas: Any, a: Any, x: Any, y: Any) -> Call:
    one = _number(1, a)
    if one_product(op, "gpu"):  # one vector a row: Y = X Aᵀ
        return partial(cublas.gemm, "N", "T", x, a, y, one, _number(betas(op)[0], a))
    return in_turn([
        partial(cublas.gemv, "N", one, a, x, _number(beta, a), y)
        for beta, (a, x, y) in zip(betas(op), problems(op, (a, x, y)), strict=True)
    ])  # fmt: skip


def _gpu_gemm(op: Operation, cublas: Any, *operands: Any) -> Call:
    products = _gpu_products(op, operands)
    return in_turn([
        partial(cublas.gemm, "N", "N", a, b, c, _number(1, a), _number(beta, a))
        for beta, (a, b, c) in zip(betas(op)[: len(products)], products, strict=True)
    ])  # fmt: skip


def _gpu_products(op: Operation, operands: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The products of a GEMM; one tall one, with the first β, where the batch shares B."""
    if not one_product(op, "gpu"):
        return problems(op, operands)
    a, b, c = operands
    return [(a.reshape(-1, a.shape[-1]), b, c.reshape(-1, c.shape[-1]))]


def _in_mode(xp: ModuleType, mode: int, bind: Binder) -> Binder:
    """``bind`` of operands to a call with cuBLAS's math ``mode`` set around it."""
    cublas = xp.cuda.cublas
    handle = xp.cuda.Device().cublas_handle
    usual, set_mode = cublas.CUBLAS_DEFAULT_MATH, cublas.setMathMode

    def in_mode(call: Call) -> None:
        set_mode(handle, mode)
        try:
            call()
        finally:
            set_mode(handle, usual)

    return lambda operands: partial(in_mode, bind(*operands))


def _vector_grid(xp: ModuleType, kernel: Any, size: int) -> tuple[tuple[int], tuple[int]]:
    """Grid and block for ``size`` halves: a pack a thread, or all threads that fit on the GPU."""
    packs = -(-size // PACK)
    return (max(1, min(-(-packs // THREADS), resident_blocks(xp, kernel))),), (THREADS,)


def _matrix_grid(
    xp: ModuleType, kernel: Any, rows: int, columns: int
) -> tuple[tuple[int, int], ...]:
    """Grid and block for a matrix of halves: threads side by side along a row, then down."""
    across = columns // PACK if columns % PACK == 0 else columns
    wide = min(THREADS, 1 << (across - 1).bit_length())
    high = THREADS // wide
    blocks = resident_blocks(xp, kernel)
    x = min(-(-across // wide), blocks)
    return (x, max(1, min(-(-rows // high), blocks // x))), (wide, high)


def _half_axpy(xp: ModuleType, kernel: Any, x: Any, y: Any) -> Call:
    grid, block = _vector_grid(xp, kernel, x.size)
    return partial(kernel, grid, block, (x, y, xp.float32(ALPHA), xp.int64(x.size)))


def _half_scale(xp: ModuleType, kernel: Any, x: Any) -> Call:
    grid, block = _vector_grid(xp, kernel, x.size)
    return partial(kernel, grid, block, (x, xp.float32(SCALE), xp.int64(x.size)))


def _half_dot(xp: ModuleType, kernel: Any, x: Any, y: Any, r: Any) -> Call:
    grid, block = _vector_grid(xp, kernel, x.size)
    parts, arrived = xp.empty(grid[0], dtype=xp.float32), xp.zeros(1, dtype=xp.uint32)
    return partial(kernel, grid, block, (x, y, r, xp.int64(x.size), parts, arrived))


def _half_ger(xp: ModuleType, kernel: Any, a: Any, x: Any, y: Any) -> Call:
    grid, block = _matrix_grid(xp, kernel, *a.shape)
    return partial(kernel, grid, block, (a, x, y, xp.int64(x.size), xp.int64(y.size)))


def _half_gemv(op: Operation, xp: ModuleType, a: Any, x: Any, y: Any) -> Call:
    if one_product(op, "gpu"):
        return partial(xp.matmul, x, a.T, out=y)
    return in_turn([partial(xp.matmul, a, x, out=y) for a, x, y in problems(op, (a, x, y))])


def _half_gemm(op: Operation, xp: ModuleType, *operands: Any) -> Call:
    return in_turn([partial(xp.matmul, a, b, out=c) for a, b, c in _gpu_products(op, operands)])


_BINDERS: dict[str, tuple[str, Binder]] = {
    "axpy": ("axpy", lambda op, cublas, x, y: partial(cublas.axpy, _number(ALPHA, x), x, y)),
    # with r on the GPU, nothing waits for the result
    "dot": ("dot", lambda op, cublas, x, y, r: partial(cublas.dot, x, y, r)),
    "scale": ("scal", lambda op, cublas, x: partial(cublas.scal, _number(SCALE, x), x)),
    "ger": ("ger", lambda op, cublas, a, x, y: partial(cublas.ger, _number(1, a), x, y, a)),
    "gemv": ("gemv", _gpu_gemv),
    "gemm": ("gemm", _gpu_gemm),
}
_HALF_PRODUCTS: dict[str, Binder] = {"gemv": _half_gemv, "gemm": _half_gemm}
_HALF_VECTORS: dict[str, Binder]
_HALF_VECTORS = {"axpy": _half_axpy, "dot": _half_dot, "scale": _half_scale, "ger": _half_ger}
