"""Expressions over matrices: products, transposes and element-wise maps, with their shapes.

An expression is an operation and its arguments. The operation alone, without arguments, is what an
e-graph stores, so it stands in classes of its own: Array, Transpose, Product, Map.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TypeAlias

from rooflab.count.dtypes import DType, DTypeLike, as_dtype
from rooflab.count.elementwise import ARITY
from rooflab.count.validation import size, unknown

# The operations.

ON_INTEGERS = ("add", "sub", "mul", "div", "shift", "max", "min")


@dataclass(frozen=True)
class Form:
    """Shape and number format of a matrix; a vector is a matrix of one column."""

    shape: tuple[int, int]
    dtype: DType


@dataclass(frozen=True)
class Array:
    """A matrix that is given, under its name."""

    name: str
    form: Form


@dataclass(frozen=True)
class Transpose:
    """Aᵀ, written out: a copy in the other order."""


@dataclass(frozen=True)
class Product:
    """AB."""


@dataclass(frozen=True)
class Function:
    """A function of an element, with the number that it takes, such as "mul" and 2."""

    name: str
    number: float | None = None

    @property
    def arity(self) -> int:
        """Arrays that it reads an element of."""
        return 1 if self.number is not None else ARITY[self.name]

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name} {self.number:g}"


@dataclass(frozen=True)
class Map:
    """Functions of every element in one pass: each takes the result of the one before."""

    functions: tuple[Function, ...]


Op: TypeAlias = Array | Transpose | Product | Map


def infer(op: Op, args: Sequence[Form]) -> Form:
    """Shape and format of what ``op`` makes of matrices of forms ``args``.

    Raises ValueError where the shapes or the formats do not fit each other.
    """
    if isinstance(op, Array):
        return op.form
    if len({form.dtype for form in args}) > 1:
        listed = " and ".join(str(form.dtype) for form in args)
        raise ValueError(f"dtype: matrices of {listed} meet; give all of them one format")
    dtype = args[0].dtype
    if isinstance(op, Transpose):
        return Form(args[0].shape[::-1], dtype)
    if isinstance(op, Map):
        rows, columns = (max(form.shape[axis] for form in args) for axis in (0, 1))
        for form in args:
            if form.shape[0] not in (1, rows) or form.shape[1] not in (1, columns):
                raise ValueError(
                    f"shape: {form.shape} does not fit {rows}×{columns} element by element"
                )
        return Form((rows, columns), dtype)
    (rows, inner), (meets, columns) = args[0].shape, args[1].shape
    if inner != meets:
        raise ValueError(
            f"shape: {rows}×{inner} times {meets}×{columns} does not fit; "
            "the left one must have as many columns as the right one has rows"
        )
    return Form((rows, columns), dtype)


# Expressions.

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "shift": "<<"}


@dataclass(frozen=True)
class Expression:
    """An operation and its arguments. Make one with ``matrix``, ``vector``, and operators.

    ``A @ B`` is the matrix product, ``A.T`` the transpose, ``A + B``, ``A - B``, ``A * B`` and
    ``A / B`` go element by element, ``2 * A`` and ``A / 2`` scale, ``A << 1`` shifts integers.

    >>> A, v = rl.search.matrix("A", 4, 8), rl.search.vector("v", 8)
    >>> (A @ v).shape, str(2 * (A @ v))
    ((4, 1), '2 * (A @ v)')
    """

    op: Op
    args: tuple[Expression, ...]
    form: Form

    @cached_property
    def _hash(self) -> int:
        return hash((self.op, self.args))

    def __hash__(self) -> int:
        return self._hash  # kept, because a term can occur in many others

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return self.form.shape

    @property
    def dtype(self) -> DType:
        """Number format of the result, and of everything in it."""
        return self.form.dtype

    @property
    def T(self) -> Expression:
        """The transpose."""
        return make(Transpose(), self)

    def __matmul__(self, other: object) -> Expression:
        return make(Product(), self, _expression("@", other))

    def __add__(self, other: object) -> Expression:
        return make(_single("add"), self, _expression("+", other))

    def __sub__(self, other: object) -> Expression:
        return make(_single("sub"), self, _expression("-", other))

    def __mul__(self, other: object) -> Expression:
        return self._scaled("mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Expression:
        return self._scaled("div", other)

    def __lshift__(self, bits: int) -> Expression:
        return make(_single("shift", size("bits", bits, 0)), self)

    def _scaled(self, function: str, other: object) -> Expression:
        if isinstance(other, Real) and not isinstance(other, bool):
            if not math.isfinite(other) or (function == "div" and other == 0):
                raise ValueError(
                    f"{function}: {other!r} must be a finite number, and no division by 0"
                )
            return make(_single(function, float(other)), self)
        return make(_single(function), self, _expression("* or /", other))

    def __str__(self) -> str:
        """Write it as in Python; ``fused`` is one pass."""
        op, texts = self.op, list(map(str, self.args))
        inside = [f"({said})" if arg._sign else said for arg, said in zip(self.args, texts)]
        if isinstance(op, Array):
            return op.name
        if isinstance(op, Transpose):
            return f"{inside[0]}.T"
        if isinstance(op, Map) and not self._sign:
            steps = ", ".join(map(str, op.functions))
            name = f"fused[{steps}]" if len(op.functions) > 1 else steps
            return f"{name}({', '.join(texts)})"
        if isinstance(op, Map) and op.functions[0].number is not None:
            at = 0 if op.functions[0].name == "mul" else 1
            inside.insert(at, f"{op.functions[0].number:g}")
        return f" {self._sign} ".join(inside)

    @property
    def _sign(self) -> str:
        """What stands between two operands, "" for nothing."""
        if isinstance(self.op, Map) and len(self.op.functions) == 1:
            return _SIGNS.get(self.op.functions[0].name, "")
        return "@" if isinstance(self.op, Product) else ""

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<Expression {self}: {rows}×{columns} {self.dtype}>"

    def subterms(self) -> Iterator[Expression]:
        """Every different expression in it, arguments before what is made of them."""
        seen: set[Expression] = set()

        def walk(one: Expression) -> Iterator[Expression]:
            if one not in seen:
                seen.add(one)
                for arg in one.args:
                    yield from walk(arg)
                yield one

        return walk(self)


def _expression(operator: str, value: object) -> Expression:
    if not isinstance(value, Expression):
        raise TypeError(f"{operator}: {value!r} must be an expression, such as matrix('A', 8, 8)")
    return value


def _single(name: str, number: float | None = None) -> Map:
    return Map((Function(name, number),))


def make(op: Op, *args: Expression) -> Expression:
    """The expression that applies ``op`` to ``args``; ValueError where they do not fit."""
    form = infer(op, [arg.form for arg in args])
    for function in op.functions if isinstance(op, Map) else ():
        _check(function, form.dtype)
    return Expression(op, args, form)


def _check(function: Function, dtype: DType) -> None:
    """Refuse what the number format does not have."""
    if dtype.kind == "float":
        if function.name == "shift":
            raise ValueError(f"shift: {dtype} has no bits to shift; use an integer dtype")
        return
    if function.name not in ON_INTEGERS:
        raise ValueError(f"{function.name}: {dtype} has only {', '.join(ON_INTEGERS)}")
    if function.number is not None and function.number != int(function.number):
        raise ValueError(f"{function}: {dtype} takes whole numbers only")


def matrix(name: str, rows: int, columns: int, dtype: DTypeLike = "fp32") -> Expression:
    """A matrix that is given, to make expressions of.

    Parameters
    ----------
    name : str
        What it is called.
    rows : int
        Its rows.
    columns : int
        Its columns.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of its numbers; its width in bits decides the bytes.

    Returns
    -------
    Expression
        The matrix. ``@``, ``+``, ``*`` and ``.T`` make larger expressions of it.

    Examples
    --------
    >>> A, B = rl.search.matrix("A", 4, 8), rl.search.matrix("B", 8, 2)
    >>> (A @ B).shape
    (4, 2)
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"name={name!r} must be a word, such as 'A'")
    form = Form((size("rows", rows), size("columns", columns)), as_dtype("dtype", dtype))
    return make(Array(name, form))


def vector(name: str, n: int, dtype: DTypeLike = "fp32") -> Expression:
    """A vector that is given: a matrix of one column.

    Parameters
    ----------
    name : str
        What it is called.
    n : int
        Its elements.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of its numbers; its width in bits decides the bytes.

    Returns
    -------
    Expression
        The vector, of shape (n, 1).

    Examples
    --------
    >>> rl.search.vector("v", 8).shape
    (8, 1)
    """
    return matrix(name, size("n", n), 1, dtype)


def elementwise(function: str, *args: Expression) -> Expression:
    """Apply a function to every element: "relu", "exp", "sqrt", or one of two arguments, "max".

    One row, or one column, is repeated where another argument has more.

    >>> A, bias = rl.search.matrix("A", 4, 8), rl.search.matrix("bias", 1, 8)
    >>> print(rl.search.elementwise("relu", A + bias))
    relu(A + bias)
    """
    if function not in ARITY:
        raise unknown("function", function, sorted(ARITY))
    if len(args) != ARITY[function]:
        raise TypeError(f"{function} takes {ARITY[function]} argument(s), not {len(args)}")
    return make(_single(function), *(_expression(function, arg) for arg in args))
