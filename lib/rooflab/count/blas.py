"""The BLAS operations of the course, each as a ledger.

FLOP and element counts follow the reference BLAS definitions (Lawson et al. 1979, Dongarra et al.
1988 and 1990): a multiply-add is 2 FLOP; ``accumulate`` is β ≠ 0, where the output is read too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rooflab.count.dtypes import DTypeLike, as_dtype, wider
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operand, Operation
from rooflab.count.validation import flag, size, unknown


def axpy(n: int, dtype: DTypeLike = "fp32") -> Operation:
    """y ← αx + y on vectors of ``n``: 2n FLOP; reads x and y, writes y (3n elements)."""
    n, kind = size("n", n), _dtype(dtype)
    operands = (Operand("x", (n,), kind), Operand("y", (n,), kind, reads=1, writes=1))
    return Operation("axpy", {"n": n}, operands, 2 * n, kind)


def dot(n: int, dtype: DTypeLike = "fp32") -> Operation:
    """xᵀy of vectors of ``n``: 2n FLOP; reads both, writes one number (2n + 1 elements)."""
    n, kind = size("n", n), _dtype(dtype)
    operands = (
        Operand("x", (n,), kind),
        Operand("y", (n,), kind),
        Operand("r", (1,), kind, reads=0, writes=1),
    )
    return Operation("dot", {"n": n}, operands, 2 * n, kind)


def scale(n: int, dtype: DTypeLike = "fp32") -> Operation:
    """x ← αx on a vector of ``n``: n FLOP; reads and writes x (2n elements)."""
    n, kind = size("n", n), _dtype(dtype)
    return Operation("scale", {"n": n}, (Operand("x", (n,), kind, reads=1, writes=1),), n, kind)


def ger(m: int, n: int, dtype: DTypeLike = "fp32") -> Operation:
    """A ← A + xyᵀ, A ``m``×``n``: 2mn FLOP; A read and written, x and y read (2mn + m + n)."""
    m, n, kind = size("m", m), size("n", n), _dtype(dtype)
    operands = (
        Operand("a", (m, n), kind, reads=1, writes=1),
        Operand("x", (m,), kind),
        Operand("y", (n,), kind),
    )
    return Operation("ger", {"m": m, "n": n}, operands, 2 * m * n, kind)


def outer(m: int, n: int, dtype: DTypeLike = "fp32") -> Operation:
    """A ← xyᵀ, A ``m``×``n``: mn FLOP; x and y read, A written (mn + m + n elements)."""
    m, n, kind = size("m", m), size("n", n), _dtype(dtype)
    operands = (
        Operand("a", (m, n), kind, reads=0, writes=1),
        Operand("x", (m,), kind),
        Operand("y", (n,), kind),
    )
    return Operation("outer", {"m": m, "n": n}, operands, m * n, kind)


def gemv(
    m: int,
    n: int,
    dtype: DTypeLike = "fp32",
    *,
    batch: int = 1,
    shared: Iterable[str] = (),
    accumulate: bool = False,
) -> Operation:
    """y ← Ax (+ y), A ``m``×``n``: 2mn FLOP; mn + n + m elements (+ m with ``accumulate``).

    ``batch`` independent products; operands named in ``shared`` ("a", "x") are read once for all
    of them. Sharing A makes this the matrix product of ``gemm(m, batch, n)``, with its ledger.
    """
    m, n, batch, kind = size("m", m), size("n", n), size("batch", batch), _dtype(dtype)
    shared, beta = _shared(shared, ("a", "x")), flag("accumulate", accumulate)
    many = _leading(batch, shared)
    y = (*many("y"), m)
    operands = (
        Operand("a", (*many("a"), m, n), kind),
        Operand("x", (*many("x"), n), kind),
        Operand("y", y, kind, reads=int(beta), writes=1, axis=_longer(y) if "a" in shared else -1),
    )
    return Operation(
        "gemv", {"m": m, "n": n}, operands, 2 * m * n * batch, kind,
        unit="tensor" if batch > 1 and "a" in shared else "vector",
        batch=batch, shared=shared, accumulate=beta,
    )  # fmt: skip


def gemm(
    m: int,
    n: int,
    k: int,
    dtype: DTypeLike = "fp32",
    *,
    a: DTypeLike | None = None,
    b: DTypeLike | None = None,
    c: DTypeLike | None = None,
    compute: DTypeLike | None = None,
    batch: int = 1,
    shared: Iterable[str] = (),
    accumulate: bool = False,
) -> Operation:
    """C ← AB (+ C), A ``m``×``k``, B ``k``×``n``: 2mnk FLOP; mk + kn + mn elements (+ mn).

    ``a``, ``b``, ``c`` override the dtype of one operand; the product is computed in the wider of
    A's and B's (or in ``compute``), whatever C is. ``batch`` independent products; operands named
    in ``shared`` ("a", "b", "c") are read once for all of them.
    """
    m, n, k, batch = size("m", m), size("n", n), size("k", k), size("batch", batch)
    kind, given = _dtype(dtype), {"a": a, "b": b, "c": c}
    kinds = {name: kind if one is None else as_dtype(name, one) for name, one in given.items()}
    shared, beta = _shared(shared, ("a", "b", "c")), flag("accumulate", accumulate)
    many = _leading(batch, shared)
    operands = (
        Operand("a", (*many("a"), m, k), kinds["a"]),
        Operand("b", (*many("b"), k, n), kinds["b"], axis=-2),
        Operand(
            "c", (*many("c"), m, n), kinds["c"], reads=int(beta), writes=1, axis=_longer((m, n))
        ),
    )
    return Operation(
        "gemm", {"m": m, "n": n, "k": k}, operands, 2 * m * n * k * batch,
        wider(kinds["a"], kinds["b"]) if compute is None else as_dtype("compute", compute),
        unit="tensor", batch=batch, shared=shared, accumulate=beta,
    )  # fmt: skip


def _shared(names: Iterable[str], allowed: tuple[str, ...]) -> tuple[str, ...]:
    if names is None or isinstance(names, (bool, int, float)):
        raise TypeError(f"shared={names!r} must be a tuple of operand names out of {allowed}")
    listed = (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        if name not in allowed:
            raise unknown("shared", name, allowed)
    return tuple(name for name in allowed if name in listed)


def _leading(batch: int, shared: tuple[str, ...]) -> Callable[[str], tuple[int, ...]]:
    """Leading axis of an operand: none for a single product or a shared operand."""
    return lambda name: () if batch == 1 or name in shared else (batch,)


def _longer(shape: tuple[int, ...]) -> int:
    """Axis of an output along which scale blocks lie.

    An output has no contraction axis here; its longer side is chosen, so that a matrix product
    and its transpose, or a column and a vector, cost the same.
    """
    return -2 if len(shape) > 1 and shape[-2] > shape[-1] else -1
