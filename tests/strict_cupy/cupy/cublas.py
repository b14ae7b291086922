"""cupy.cublas, with the signatures of CuPy 14.2. ``import cupy`` does not load it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import host, multiplied, ndarray
from ._gpu import TF32_MATH, gpu


def _launch(name: str, flop: float, written: ndarray, *arrays: ndarray) -> None:
    """Refuse what cuBLAS cannot take, and what CuPy would copy first; then queue the routine."""
    kind = written.dtype
    if any(not isinstance(a, ndarray) for a in (written, *arrays)):
        raise AttributeError("'numpy.ndarray' object has no attribute 'ptr'")
    if kind.char not in "fd":
        raise TypeError("invalid dtype")
    assert all(a.dtype == kind for a in arrays), "one dtype"
    for a in (written, *arrays):
        assert a.flags.c_contiguous or a.flags.f_contiguous, "CuPy would copy"
    in_tf32 = gpu.math_mode == TF32_MATH and kind.char == "f"
    rate = "tf32" if in_tf32 else {"f": "fp32", "d": "fp64_tensor"}[kind.char]
    nbytes = 2 * written.nbytes + sum(a.nbytes for a in arrays)
    gpu.launch(f"{name} {kind}" + (" tf32" if in_tf32 else ""), gpu.seconds(nbytes, flop, rate))


def _number(value: Any, like: ndarray) -> Any:
    """A scalar, or an array of one, as the routine's own type."""
    if isinstance(value, ndarray):
        return value._host.astype(like.dtype)
    return np.asarray(value, like.dtype)


PIECE = 1 << 15  # elements that a cache holds with what is added to them


def axpy(a: Any, x: ndarray, y: ndarray) -> None:
    """y += a * x."""
    _launch("axpy", 2 * x.size, y, x)
    added, alpha = host(x), _number(a, x)
    for start in range(0, x.size, PIECE):
        part = slice(start, start + PIECE)
        y._host[part] += alpha * added[part]


def scal(a: Any, x: ndarray) -> None:
    """x *= a."""
    _launch("scal", x.size, x)
    x._host[...] *= _number(a, x)


def dot(x: ndarray, y: ndarray, out: ndarray | None = None) -> ndarray:
    """x · y, into ``out`` (one element) if given."""
    _launch("dot", 2 * x.size, x, y)
    total = np.dot(host(x).astype(float), host(y).astype(float))
    if out is None:
        return ndarray._of(np.asarray(total, x.dtype))
    out._host[...] = total
    return out


def ger(alpha: Any, x: ndarray, y: ndarray, a: ndarray) -> None:
    """a += alpha * x yᵀ."""
    _launch("ger", 2 * a.size, a, x, y)
    a._host[...] += _number(alpha, a) * np.outer(host(x), host(y))


def gemv(transa: str, alpha: Any, a: ndarray, x: ndarray, beta: Any, y: ndarray) -> None:
    """y = alpha * op(a) @ x + beta * y."""
    _launch("gemv", 2 * a.size, y, a, x)
    left = _turned(transa, a)
    added = _number(beta, y) * host(y) if float(beta) else 0
    y._host[...] = _number(alpha, y) * (left @ host(x)) + added


def gemm(
    transa: str,
    transb: str,
    a: ndarray,
    b: ndarray,
    out: ndarray | None = None,
    alpha: Any = 1.0,
    beta: Any = 0.0,
) -> ndarray:
    """out = alpha * op(a) @ op(b) + beta * out."""
    assert a.ndim == b.ndim == 2
    assert a.dtype == b.dtype
    left, right = _turned(transa, a), _turned(transb, b)
    if out is None:
        out = ndarray((left.shape[0], right.shape[1]), a.dtype, "F")
        beta = 0.0
    assert out.shape == (left.shape[0], right.shape[1])
    assert out.dtype == a.dtype
    _launch("gemm", 2.0 * left.size * right.shape[1], out, a, b)
    added = _number(beta, out) * host(out) if float(beta) else 0
    if gpu.math_mode == TF32_MATH and out.dtype == np.float32:
        left, right = _tf32(left), _tf32(right)
    out._host[...] = _number(alpha, out) * multiplied(left, right) + added
    return out


def _tf32(values: np.ndarray) -> np.ndarray:
    """fp32 rounded to the 11 significant bits of tf32."""
    bits = np.ascontiguousarray(values).view(np.uint32) + np.uint32(0x1000)
    bits &= np.uint32(0xFFFFE000)
    return bits.view(np.float32)


def _turned(trans: Any, a: ndarray) -> np.ndarray:
    if trans not in ("N", "n", "T", "t", "H", "h"):
        raise TypeError(f"invalid trans: {trans!r}")
    return host(a) if trans in "Nn" else host(a).T
