"""``cp.cublas`` of the stand-in, and the one product that all of it and ``cp.matmul`` run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rooflab.cuda.arrays import ndarray, of_the_gpu
from rooflab.cuda.modules import Namespace

if TYPE_CHECKING:
    from rooflab.cuda.standin import StandIn

Transposed = str | int  # "T", "t" or 1, as cuBLAS and CuPy take it; anything else: as it is


class Cublas(Namespace):
    """``cp.cublas``: axpy, scal, dot, gemv, gemm with CuPy's argument order.

    Of real CuPy this is a module that ``import cupy`` does not load.
    """

    _called = "cp.cublas"
    _inside = frozenset(("product",))

    def __init__(self, cp: StandIn) -> None:
        self._cp = cp

    def axpy(self, a: float, x: ndarray, y: ndarray) -> None:
        """y += a·x."""
        of_the_gpu(x, y)
        if x.ndim != 1 or x.shape != y.shape or x.dtype != y.dtype:
            raise TypeError(
                f"x {x.shape} {x.dtype} and y {y.shape} {y.dtype} must be alike vectors"
            )
        constant = x.constant and y.constant
        self._blas(
            "axpy", y, [x, y], lambda: _few(y, constant) + y.dtype.type(a) * _few(x, constant),
            constant, 2 * x.size,
        )  # fmt: skip

    def scal(self, a: float, x: ndarray) -> None:
        """x *= a."""
        of_the_gpu(x)
        self._blas(
            "scal", x, [x], lambda: _few(x, x.constant) * x.dtype.type(a), x.constant, x.size
        )

    def dot(self, x: ndarray, y: ndarray, out: ndarray | None = None) -> ndarray:
        """xᵀy."""
        return self.product(x, y, out)

    def gemv(
        self, transa: Transposed, alpha: float, a: ndarray, x: ndarray, beta: float, y: ndarray
    ) -> None:
        """y = alpha·op(a)·x + beta·y."""
        of_the_gpu(a, x, y)
        self.product(_turned(a, transa), x, y, alpha, beta)

    def gemm(
        self,
        transa: Transposed,
        transb: Transposed,
        a: ndarray,
        b: ndarray,
        out: ndarray | None = None,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> ndarray:
        """out = alpha·op(a)·op(b) + beta·out."""
        of_the_gpu(a, b)
        return self.product(_turned(a, transa), _turned(b, transb), out, alpha, beta)

    def product(
        self,
        a: ndarray,
        b: ndarray,
        out: ndarray | None = None,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> ndarray:
        """alpha·a@b + beta·out by one library kernel; a new array without ``out``."""
        of_the_gpu(a, b)
        if a.dtype != b.dtype or a.ndim > 2 or b.ndim > 2:
            raise NotImplementedError("the stand-in multiplies vectors and matrices of one dtype")
        probe = np.broadcast_to(np.ones(1, a.dtype), a.shape) if a.ndim else None
        if probe is None or not b.ndim or a.shape[-1] != b.shape[0]:
            raise ValueError(f"shapes {a.shape} and {b.shape} do not fit a product")
        shape = a.shape[:-1] + b.shape[1:]
        if out is None:
            out, beta = self._cp.empty(shape, a.dtype), 0.0
        if out.shape != shape:
            raise ValueError(f"out has shape {out.shape}; {shape} is wanted")
        k, constant = a.shape[-1], a.constant and b.constant and (beta == 0 or out.constant)
        inputs = [a, b] if beta == 0 else [a, b, out]

        def compute() -> np.ndarray:
            many = _few(a, True) * _few(b, True) * k if constant else a.values() @ b.values()
            old = 0 if beta == 0 else out.dtype.type(beta) * _few(out, constant)
            return np.asarray(out.dtype.type(alpha) * many + old, dtype=out.dtype).reshape(
                -1 if constant else shape
            )

        name = {2: "gemm", 1: "gemv", 0: "dot"}[len(shape)]
        self._blas(name, out, inputs, compute, constant, 2 * out.size * k)
        return out

    def _blas(
        self,
        name: str,
        out: ndarray,
        inputs: Sequence[ndarray],
        compute: Callable[[], np.ndarray],
        constant: bool,
        flops: float,
    ) -> None:
        self._cp.run(name, out, inputs, compute, constant, flops=flops, library="cublas")


def _turned(a: ndarray, transposed: Transposed) -> ndarray:
    return a.T if transposed in ("T", "t", 1) else a


def _few(array: ndarray, constant: bool) -> np.ndarray:
    """The values, or just one of them when all are equal."""
    return array.values().reshape(-1)[:1] if constant else array.values()
