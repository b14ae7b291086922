"""Expressions over matrices: products, transposes and element-wise maps, with their shapes.

An expression is an operation and its arguments. The operation alone, without arguments, is what an
e-graph stores, so it stands in classes of its own: Array, Transpose, Product, Map.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

from rooflab.count.dtypes import DType, DTypeLike, as_dtype
from rooflab.count.elementwise import ARITY
from rooflab.count.validation import size, unknown

if TYPE_CHECKING:
    import numpy as np

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
    """AB, and AB + C where it ``adds``; the routine reads an operand as its transpose if told."""

    left_transposed: bool = False
    right_transposed: bool = False
    adds: bool = False


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
    shape = _product(op, args) if isinstance(op, Product) else _broadcast(args)
    return Form(shape, dtype)


def _product(op: Product, args: Sequence[Form]) -> tuple[int, int]:
    left, right = args[0].shape, args[1].shape
    rows, inner = left[::-1] if op.left_transposed else left
    meets, columns = right[::-1] if op.right_transposed else right
    if inner != meets:
        raise ValueError(
            f"shape: {rows}×{inner} times {meets}×{columns} does not fit; "
            "the left one must have as many columns as the right one has rows"
        )
    if op.adds and args[2].shape != (rows, columns):
        raise ValueError(f"shape: {rows}×{columns} plus {args[2].shape} does not fit")
    return rows, columns


def _broadcast(args: Sequence[Form]) -> tuple[int, int]:
    rows, columns = (max(form.shape[axis] for form in args) for axis in (0, 1))
    for form in args:
        if form.shape[0] not in (1, rows) or form.shape[1] not in (1, columns):
            raise ValueError(
                f"shape: {form.shape} does not fit {rows}×{columns} element by element"
            )
    return rows, columns


# Expressions.


@dataclass(frozen=True, eq=False)
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.args)))

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined, no-any-return]  # set above: trees are deep

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return hash(self) == hash(other) and (self.op, self.args) == (other.op, other.args)

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

    def __rmul__(self, other: object) -> Expression:
        return self._scaled("mul", other)

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
        return text(self)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<Expression {self}: {rows}×{columns} {self.dtype}>"

    def subterms(self) -> Iterator[Expression]:
        """Every different expression in it, arguments before what is made of them."""
        seen: set[Expression] = set()
        todo = [(self, False)]
        while todo:
            one, ready = todo.pop()
            if one in seen:
                continue
            if ready:
                seen.add(one)
                yield one
            else:
                todo.append((one, True))
                todo.extend((arg, False) for arg in reversed(one.args))

    def value(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """Compute it with NumPy, in the NumPy formats of ``arrays``, a matrix for each name."""

        results: dict[Expression, np.ndarray] = {}
        for one in self.subterms():
            if isinstance(one.op, Array):
                results[one] = _given(one, arrays)
            else:
                results[one] = _computed(one.op, [results[arg] for arg in one.args])
        return results[self]


def _given(one: Expression, arrays: Mapping[str, Any]) -> np.ndarray:
    import numpy as np

    name = str(one)
    if name not in arrays:
        raise ValueError(f"arrays has no {name!r}, a matrix of shape {one.shape}")
    found = np.asarray(arrays[name])
    if found.shape != one.shape:
        raise ValueError(f"arrays[{name!r}] has shape {found.shape}, not {one.shape}")
    return found


def _computed(op: Op, args: Sequence[np.ndarray]) -> np.ndarray:
    if isinstance(op, Transpose):
        return args[0].T
    if isinstance(op, Product):
        left = args[0].T if op.left_transposed else args[0]
        right = args[1].T if op.right_transposed else args[1]
        product: np.ndarray = left @ right
        return product + args[2] if op.adds else product
    assert isinstance(op, Map)
    waiting = list(args)
    value = waiting.pop(0)
    for function in op.functions:
        others = [waiting.pop(0) for _ in range(function.arity - 1)]
        value = _applied(function, value, *others)
    return value


def _applied(function: Function, value: np.ndarray, *others: np.ndarray) -> np.ndarray:
    import numpy as np

    from rooflab.measure.verify import functions

    if function.number is not None:
        others = (value.dtype.type(function.number),)
    known = {**functions(np), "shift": np.left_shift}
    if value.dtype.kind == "i":
        known["div"] = np.floor_divide
    result: np.ndarray = known[function.name](value, *others)
    return result


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


# What people read.

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "shift": "<<"}


def text(expression: Expression) -> str:
    """The expression as Python would write it; ``gemm`` and ``fused`` are one routine each."""
    op, args = expression.op, expression.args
    if isinstance(op, Array):
        return op.name
    if isinstance(op, Transpose):
        return f"{_inside(args[0])}.T"
    if isinstance(op, Product):
        return _product_text(op, args)
    if len(op.functions) > 1:
        steps = ", ".join(map(str, op.functions))
        return f"fused[{steps}]({', '.join(map(text, args))})"
    (function,) = op.functions
    sign = _SIGNS.get(function.name)
    if function.number is not None:
        if function.name == "mul":
            return f"{function.number:g} * {_inside(args[0])}"
        return f"{_inside(args[0])} {sign} {function.number:g}"
    if sign:
        return f"{_inside(args[0])} {sign} {_inside(args[1])}"
    return f"{function.name}({', '.join(map(text, args))})"


def _product_text(op: Product, args: Sequence[Expression]) -> str:
    if op == Product():
        return f"{_inside(args[0])} @ {_inside(args[1])}"
    left = f"{_inside(args[0])}.T" if op.left_transposed else text(args[0])
    right = f"{_inside(args[1])}.T" if op.right_transposed else text(args[1])
    return f"gemm({', '.join((left, right, *map(text, args[2:])))})"


def _inside(expression: Expression) -> str:
    """In brackets, unless it is a name or a call already."""
    said = text(expression)
    bare = expression.op == Transpose() or said.isidentifier() or said.endswith(")")
    spaced = expression.op == Product() or (
        isinstance(expression.op, Map)
        and len(expression.op.functions) == 1
        and expression.op.functions[0].name in _SIGNS
    )
    return f"({said})" if spaced or not bare else said
