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
    """y ← αx + y on vectors of ``n``: 2n FLOP; reads x and y, writes y (3n elements).

    Parameters
    ----------
    n : int
        Elements of x, and of y.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of x and y; its width in bits decides the bytes.

    Returns
    -------
    Operation
        The ledger of x, shape (n,), and of y, shape (n,), which is read and written.

    References
    ----------
    .. [1] C. L. Lawson et al., "Basic Linear Algebra Subprograms for Fortran usage", ACM
       Transactions on Mathematical Software 5(3), 1979.

    Examples
    --------
    >>> op = rl.axpy(1_000_000)
    >>> op.flops, op.bytes
    (2000000, 12000000)
    >>> op.intensity  # FLOP a byte, whatever the size
    0.16666666666666666
    """
    n, kind = size("n", n), _dtype(dtype)
    operands = (Operand("x", (n,), kind), Operand("y", (n,), kind, reads=1, writes=1))
    return Operation("axpy", {"n": n}, operands, 2 * n, kind)


def dot(n: int, dtype: DTypeLike = "fp32") -> Operation:
    """xᵀy of vectors of ``n``: 2n FLOP; reads both, writes one number (2n + 1 elements).

    Parameters
    ----------
    n : int
        Elements of x, and of y.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of x, y and the result; its width in bits decides the bytes.

    Returns
    -------
    Operation
        The ledger of x and y, shape (n,), and of the result r, shape (1,).

    References
    ----------
    .. [1] C. L. Lawson et al., "Basic Linear Algebra Subprograms for Fortran usage", ACM
       Transactions on Mathematical Software 5(3), 1979.

    Examples
    --------
    >>> op = rl.dot(1000)
    >>> op.flops, op.bytes
    (2000, 8004)
    """
    n, kind = size("n", n), _dtype(dtype)
    operands = (
        Operand("x", (n,), kind),
        Operand("y", (n,), kind),
        Operand("r", (1,), kind, reads=0, writes=1),
    )
    return Operation("dot", {"n": n}, operands, 2 * n, kind)


def scale(n: int, dtype: DTypeLike = "fp32") -> Operation:
    """x ← αx on a vector of ``n``: n FLOP; reads and writes x (2n elements).

    Parameters
    ----------
    n : int
        Elements of x.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of x; its width in bits decides the bytes.

    Returns
    -------
    Operation
        The ledger of x, shape (n,), which is read and written.

    References
    ----------
    .. [1] C. L. Lawson et al., "Basic Linear Algebra Subprograms for Fortran usage", ACM
       Transactions on Mathematical Software 5(3), 1979.

    Examples
    --------
    >>> rl.scale(1000).intensity  # 1 FLOP for 8 bytes: a float32 is read and written
    0.125
    """
    n, kind = size("n", n), _dtype(dtype)
    return Operation("scale", {"n": n}, (Operand("x", (n,), kind, reads=1, writes=1),), n, kind)


def ger(m: int, n: int, dtype: DTypeLike = "fp32") -> Operation:
    """A ← A + xyᵀ, A ``m``×``n``: 2mn FLOP; A read and written, x and y read (2mn + m + n).

    Parameters
    ----------
    m : int
        Rows of A, and elements of x.
    n : int
        Columns of A, and elements of y.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of A, x and y; its width in bits decides the bytes.

    Returns
    -------
    Operation
        The ledger of A, shape (m, n), which is read and written, of x, (m,), and of y, (n,).

    See Also
    --------
    outer : The same product without the sum: A is written and not read.

    References
    ----------
    .. [1] J. J. Dongarra et al., "An extended set of FORTRAN Basic Linear Algebra Subprograms",
       ACM Transactions on Mathematical Software 14(1), 1988.

    Examples
    --------
    >>> op = rl.ger(1000, 500)
    >>> op.flops, op.bytes
    (1000000, 4006000)
    """
    m, n, kind = size("m", m), size("n", n), _dtype(dtype)
    operands = (
        Operand("a", (m, n), kind, reads=1, writes=1),
        Operand("x", (m,), kind),
        Operand("y", (n,), kind),
    )
    return Operation("ger", {"m": m, "n": n}, operands, 2 * m * n, kind)


def outer(m: int, n: int, dtype: DTypeLike = "fp32") -> Operation:
    """A ← xyᵀ, A ``m``×``n``: mn FLOP; x and y read, A written (mn + m + n elements).

    :func:`ger` is BLAS's own routine, which adds to what A holds.

    >>> op = rl.outer(1000, 500)
    >>> op.flops, op.bytes
    (500000, 2006000)
    """
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

    Parameters
    ----------
    m : int
        Rows of A, and elements of y.
    n : int
        Columns of A, and elements of x.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of A, x and y; its width in bits decides the bytes.
    batch : int, default 1
        Number of independent products.
    shared : iterable of str, default none
        Operands out of "a" and "x" that all products of the batch share; they are read once.
    accumulate : bool, default False
        Whether Ax is added to what y holds, so that y is read too.

    Returns
    -------
    Operation
        The ledger of A, shape (m, n), of x, (n,), and of y, (m,), each with a leading axis
        ``batch`` where it is neither shared nor alone. Its unit is "tensor" where a batch shares
        A, else "vector".

    Notes
    -----
    A batch that shares A is the matrix product of ``gemm(m, batch, n)``, with its ledger.

    References
    ----------
    .. [1] J. J. Dongarra et al., "An extended set of FORTRAN Basic Linear Algebra Subprograms",
       ACM Transactions on Mathematical Software 14(1), 1988.

    Examples
    --------
    >>> rl.gemv(4096, 4096, "bf16").intensity  # every number of A is used once
    0.9995119570522206
    >>> rl.gemv(4096, 4096, "bf16", batch=64, shared=("a",)).intensity  # and here 64 times
    62.06060606060606
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

    Parameters
    ----------
    m : int
        Rows of A and C.
    n : int
        Columns of B and C.
    k : int
        Columns of A and rows of B: the axis that is summed over.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of A, B and C; its width in bits decides the bytes.
    a : str, DType or a dtype of NumPy or PyTorch, default ``dtype``
        Format of A.
    b : str, DType or a dtype of NumPy or PyTorch, default ``dtype``
        Format of B.
    c : str, DType or a dtype of NumPy or PyTorch, default ``dtype``
        Format of C.
    compute : str, DType or a dtype of NumPy or PyTorch, default the wider of A's and B's
        Format that the product is computed in, whatever C's is.
    batch : int, default 1
        Number of independent products.
    shared : iterable of str, default none
        Operands out of "a", "b" and "c" that all products of the batch share; they cross the bus
        once.
    accumulate : bool, default False
        Whether AB is added to what C holds (β ≠ 0), so that C is read too: mn elements more.

    Returns
    -------
    Operation
        The ledger of A, shape (m, k), of B, (k, n), and of C, (m, n), each with a leading axis
        ``batch`` where it is neither shared nor alone. Its unit is "tensor".

    References
    ----------
    .. [1] J. J. Dongarra et al., "A set of level 3 Basic Linear Algebra Subprograms", ACM
       Transactions on Mathematical Software 16(1), 1990.

    Examples
    --------
    >>> op = rl.gemm(1024, 1024, 1024, "bf16")
    >>> op.flops, op.bytes
    (2147483648, 6291456)
    >>> rl.gemm(8, 4096, 4096, "fp16", b=rl.dtype("int4", group=128))
    gemm 8×4096×4096 fp16: 268 MFLOP, 8.78 MB, 30.57 FLOP/B
      a             8×4096 fp16       65.5 kB  read
      b          4096×4096 int4       8.65 MB  read
      c             8×4096 fp16       65.5 kB  written
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
