"""Numbers as a kernel sees them: float32 stays float32, integers are int64, literals adapt.

A number is Python's own where all threads share it, else an array. ``real`` is the type that a
Python float takes where it meets integers of the threads: float64 only if an argument has it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

_NAMES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
          "uint32", "bool_")  # fmt: skip
DTYPES: Mapping[str, type] = MappingProxyType(
    {name: getattr(np, name) for name in _NAMES}
    | {"bool": np.bool_, "int": np.int64, "float": np.float64}
)
FLOPS = frozenset((operator.add, operator.sub, operator.mul, operator.truediv))
_KINDS = {bool: "b", int: "i", float: "f"}


def kind(value: Any) -> str:
    """Return "b", "i" or "f"; TypeError for what is no number."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind
    if type(value) not in _KINDS:
        raise TypeError(f"{value} is no number; write one entry of it, such as A[i]")
    return _KINDS[type(value)]


def normal(value: Any) -> Any:
    """Return integers as int64 or Python's int, floats as they are."""
    if isinstance(value, np.ndarray):
        return value.astype(np.int64, copy=False) if value.dtype.kind in "iu" else value
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "iub" else value


def literal(value: Any) -> Any:
    """Return a number from outside a kernel; NumPy's float64 is Python's float."""
    return float(value) if isinstance(value, np.float64) else normal(value)


def promoted(a: Any, b: Any, real: type) -> tuple[Any, Any]:
    """Return both as C computes with them: an integer becomes the float beside it."""
    kinds = kind(a), kind(b)
    if kinds == ("f", "f") or kinds == ("i", "i"):
        return a, b
    to: Any = np.int64
    if "f" in kinds:
        to = getattr(a if kinds[0] == "f" else b, "dtype", real)
    return tuple(
        v.astype(to) if isinstance(v, np.ndarray) and v.dtype.kind in "bi" else v for v in (a, b)
    )


def as_real(value: Any, real: type) -> Any:
    """Return a number as a float: an integer as one of type ``real``."""
    if kind(value) == "f":
        return value
    return value.astype(real) if isinstance(value, np.ndarray) else float(value)


def truth(value: Any) -> Any:
    """Return a number as a bool, or an array of them."""
    if kind(value) == "b":
        return value
    return value != 0 if isinstance(value, np.ndarray) else bool(value)


def divide(a: Any, b: Any, real: type) -> Any:
    """Return a / b as CUDA does: a float, infinite for a divisor of 0."""
    a, b = as_real(a, real), as_real(b, real)
    return float(np.divide(a, b)) if type(a) is type(b) is float else a / b


def cast(value: Any, dtype: Any) -> Any:
    """Return a number as one of that dtype; integers count on as int64."""
    kind(value)
    return normal(np.asarray(value).astype(dtype)[()])


def join(bits: np.ndarray, a: Any, b: Any, real: type) -> Any:
    """Return ``a`` where ``bits`` hold, else ``b``."""
    if a is b or (type(a) is type(b) in _KINDS and repr(a) == repr(b)):
        return a
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(join(bits, x, y, real) for x, y in zip(a, b))
    a, b = promoted(a, b, real)
    if type(a) is type(b) is float:
        a, b = real(a), real(b)
    dtype = np.result_type(a, b) if "f" in (kind(a), kind(b)) else None
    return np.where(bits, np.asarray(a, dtype), np.asarray(b, dtype))


def fused(a: Any, b: Any, c: Any, real: type) -> Any:
    """Return a·b + c, rounded once for float16 and float32."""
    a, b, c = (as_real(v, real) for v in (a, b, c))
    return cast(np.asarray(a, np.float64) * b + c, np.result_type(a, b, c))


def pick(function: Callable[..., Any], a: Any, b: Any, real: type) -> Any:
    """Return the smaller (``np.minimum``) or the larger (``np.maximum``) of two numbers."""
    a, b = promoted(a, b, real)
    result = function(a, b)
    return result.item() if not {type(a), type(b)} - {*_KINDS} else normal(result)


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(value: Any, real: type) -> Any:
        value = as_real(value, real)
        return float(function(value)) if type(value) is float else function(value)

    return apply


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value, real: cast(function(as_real(value, real)), np.int64)


_ELEMENTWISE = ("sqrt", "exp", "log", "log2", "sin", "cos", "tan", "tanh", "fabs")
MATH: Mapping[str, Callable[[Any, type], Any]] = MappingProxyType(
    {name: _elementwise(getattr(np, name)) for name in _ELEMENTWISE}
    | {"floor": _whole(np.floor), "ceil": _whole(np.ceil)}
)
