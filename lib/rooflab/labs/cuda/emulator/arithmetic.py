"""Numbers as a kernel sees them: float32 stays float32, integers are int64.

A number that all threads share is Python's own, or NumPy's if it is a float, else an array.
``real`` is the type of literals and of integers that become floats: float64 only if an argument
has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

_NAMES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 bool_"
DTYPES: Mapping[str, type] = MappingProxyType(
    {name: getattr(np, name) for name in _NAMES.split()}
    | {"bool": np.bool_, "int": np.int64, "float": np.float64}
)
CONSTANTS: Mapping[str, Any] = MappingProxyType(
    {f"{module}{name}": dtype for module in ("", "np.", "numpy.") for name, dtype in DTYPES.items()}
    | {f"math.{name}": getattr(math, name) for name in ("inf", "pi", "e")}
)
_KINDS = MappingProxyType({bool: "b", int: "i", float: "f"})
_WORDS = MappingProxyType({
    tuple: "a tuple", np.ndarray: "a number", int: "a number",
    type(None): "what a function without return gives",
})  # fmt: skip


def kind(value: Any) -> str:
    """Return "b", "i" or "f"; TypeError for what is no number."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind
    if type(value) not in _KINDS:
        raise TypeError(f"{words(value)} is no number; write one entry of it, such as A[i]")
    return _KINDS[type(value)]


def words(value: Any) -> str:
    return _WORDS.get(type(value)) or str(value)[:60]


def normal(value: Any) -> Any:
    """Return integers as int64 or Python's int, floats as they are."""
    if isinstance(value, np.ndarray):
        return value.astype(np.int64, copy=False) if value.dtype.kind in "iu" else value
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "iub" else value


def literal(value: Any, real: type) -> Any:
    """Return a number from outside a kernel; a float of Python's is one of type ``real``."""
    return real(value) if isinstance(value, float) else bounded(normal(value))


def bounded(value: Any) -> Any:
    """Return a value that is no integer of more than 64 bits."""
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise OverflowError("an integer has more than 64 bits")
    return value


def promoted(a: Any, b: Any) -> list[Any]:
    """Return both as C computes with them: an integer becomes the float beside it."""
    kinds = kind(a) + kind(b)
    if kinds in ("ff", "ii"):
        return [a, b]
    to = (a if kinds[0] == "f" else b).dtype if "f" in kinds else np.int64
    whole = (isinstance(v, np.ndarray) and v.dtype.kind in "bi" for v in (a, b))
    return [v.astype(to) if cast else v for v, cast in zip((a, b), whole)]


def as_real(value: Any, real: type) -> Any:
    """Return a number as a float: an integer as one of type ``real``."""
    array = isinstance(value, np.ndarray)
    return value if kind(value) == "f" else value.astype(real) if array else real(value)


def truth(value: Any) -> Any:
    return value if kind(value) == "b" else normal(value != 0)


def cast(value: Any, dtype: Any) -> Any:
    """Return a number as one of that dtype; integers count on as int64."""
    kind(value)
    return normal(np.asarray(value).astype(dtype)[()])


def join(bits: np.ndarray, a: Any, b: Any) -> Any:
    """Return ``a`` where ``bits`` hold, else ``b``."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(join(bits, x, y) for x, y in zip(a, b))
    alike = type(a) is type(b) and not isinstance(a, np.ndarray) and repr(a) == repr(b)
    return a if a is b or alike else normal(np.where(bits, *promoted(a, b)))


def fused(a: Any, b: Any, c: Any, real: type) -> Any:
    """Return a·b + c, rounded once for float16 and float32."""
    a, b, c = (as_real(v, real) for v in (a, b, c))
    return cast(np.float64(a) * b + c, np.result_type(a, b, c))


def of_real(function: Callable[..., Any], value: Any, real: type) -> Any:
    """Return a function of a real number; the next integer for ``np.floor`` and ``np.ceil``."""
    result = function(as_real(value, real))
    return cast(result, np.int64) if function in (np.floor, np.ceil) else result


_MATH = ("sqrt", "exp", "log", "log2", "sin", "cos", "tan", "tanh", "fabs", "floor", "ceil")
MATH: Mapping[str, Any] = MappingProxyType({name: getattr(np, name) for name in _MATH})
