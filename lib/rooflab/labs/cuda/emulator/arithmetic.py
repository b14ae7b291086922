"""Numbers as a kernel sees them: float32 stays float32, integers are int64, literals adapt.

A number is Python's own where all threads share it, else an array. ``real`` is the type in which
Python's floats are computed with: float64 only if an argument has it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

_NAMES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 bool_"
DTYPES: Mapping[str, type] = MappingProxyType(
    {name: getattr(np, name) for name in _NAMES.split()}
    | {"bool": np.bool_, "int": np.int64, "float": np.float64}
)
MOST_PARTS = 64  # of a tuple, itself included
FLOPS = frozenset((operator.add, operator.sub, operator.mul, operator.truediv))
_KINDS = {bool: "b", int: "i", float: "f"}


def kind(value: Any) -> str:
    """Return "b", "i" or "f"; TypeError for what is no number."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind
    if type(value) not in _KINDS:
        raise TypeError(f"{words(value)} is no number; write one entry of it, such as A[i]")
    return _KINDS[type(value)]


def words(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    if isinstance(value, np.ndarray | np.generic | int | float):
        return "a number"
    return "what a function without return gives" if value is None else str(value)[:60]


def normal(value: Any) -> Any:
    """Return integers as int64 or Python's int, floats as they are."""
    if isinstance(value, np.ndarray):
        return value.astype(np.int64, copy=False) if value.dtype.kind in "iu" else value
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "iub" else value


def literal(value: Any) -> Any:
    """Return a number from outside a kernel; NumPy's float64 is Python's float."""
    return float(value) if isinstance(value, np.float64) else bounded(normal(value))


def bounded(value: Any) -> Any:
    """Return a value that is no integer of more than 64 bits and no tuple of many parts."""
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise OverflowError("an integer has more than 64 bits")
    parts = [value] if isinstance(value, tuple) else []
    for each in parts:
        parts += each if isinstance(each, tuple) else ()
        if len(parts) > MOST_PARTS:
            raise ValueError(f"a tuple has more than {MOST_PARTS - 1} parts")
    return value


def promoted(a: Any, b: Any, real: type) -> tuple[Any, Any]:
    """Return both as C computes with them: an integer becomes the float beside it."""
    kinds = kind(a) + kind(b)
    if kinds in ("ff", "ii"):
        return a, b
    to = getattr(a if kinds[0] == "f" else b, "dtype", real) if "f" in kinds else np.int64
    cast = [isinstance(v, np.ndarray) and v.dtype.kind in "bi" for v in (a, b)]
    return a.astype(to) if cast[0] else a, b.astype(to) if cast[1] else b


def as_real(value: Any, real: type) -> Any:
    """Return a number as a float: an integer as one of type ``real``."""
    array = isinstance(value, np.ndarray)
    return value if kind(value) == "f" else value.astype(real) if array else float(value)


def truth(value: Any) -> Any:
    whole = isinstance(value, np.ndarray)
    return value if kind(value) == "b" else value != 0 if whole else bool(value)


def undefined(op: Callable[..., Any], a: Any, b: Any) -> tuple[str, str, Any] | None:
    """Return what fault ``a op b`` of integers has, and where; None if there can be none."""
    if op in (operator.floordiv, operator.mod):
        return "division by zero", "an integer is divided by 0", b == 0
    if op not in (operator.lshift, operator.rshift, operator.pow):
        return None
    large = b > 63 if op is not operator.pow or type(a) is type(b) is int and abs(a) > 1 else False
    return "undefined", "shifts and powers of integers are by 0 to 63, not by {at}", (b < 0) | large


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
    kinds = kind(a) + kind(b)
    dtype = np.result_type(a, b) if "f" in kinds else np.int64 if "i" in kinds else np.bool_
    return np.where(bits, np.asarray(a, dtype), np.asarray(b, dtype))


def fused(a: Any, b: Any, c: Any, real: type) -> Any:
    """Return a·b + c, rounded once for float16 and float32."""
    a, b, c = (as_real(v, real) for v in (a, b, c))
    shared = type(a) is type(b) is type(c) is float
    result = cast(np.float64(a) * b + c, real if shared else np.result_type(a, b, c))
    return float(result) if shared else result


def pick(function: Callable[..., Any], a: Any, b: Any, real: type) -> Any:
    """Return the smaller (``np.minimum``) or the larger (``np.maximum``) of two numbers."""
    a, b = promoted(a, b, real)
    result = function(a, b)
    return result.item() if not {type(a), type(b)} - {*_KINDS} else normal(result)


def of_real(function: Callable[..., Any], value: Any, real: type) -> Any:
    """Return a function of a real number; the next integer for ``np.floor`` and ``np.ceil``."""
    value = as_real(value, real)
    shared = type(value) is float
    result = function(real(value) if shared else value)
    if function in (np.floor, np.ceil):
        return cast(result, np.int64)
    return float(result) if shared else result


_MATH = ("sqrt", "exp", "log", "log2", "sin", "cos", "tan", "tanh", "fabs", "floor", "ceil")
MATH: Mapping[str, Any] = MappingProxyType({name: getattr(np, name) for name in _MATH})
