"""What golf is given: the function inside ``f``, and its arguments by name, checked."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from numbers import Number
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.golf.array import TracedArray
from rooflab.golf.errors import GolfError
from rooflab.golf.ufuncs import refuse_dtype

_ELSEWHERE = {
    "torch": "give x.numpy()", "pandas": "give x.to_numpy()", "cupy": "give x.get()",
    "jax": "give np.asarray(x)", "jaxlib": "give np.asarray(x)", "polars": "give x.to_numpy()",
}  # fmt: skip


def as_function(f: Any) -> tuple[FunctionType | None, str]:
    """Return the Python function in ``f`` (None for NumPy's own) and what to call it."""
    if not callable(f):
        raise TypeError(f"f={f!r} must be a function of arrays, such as lambda x, y: 0.5 * x + y")
    if hasattr(f, "py_func"):
        raise GolfError(
            f"{f.__name__} is compiled by numba, and golf counts NumPy calls; a compiled loop "
            "moves the minimum when each array appears in it once"
        )
    inner = f
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(getattr(inner, "__func__", inner))
    name = getattr(inner, "__name__", type(inner).__name__)
    if not isinstance(inner, FunctionType):
        inner = type(inner).__dict__.get("__call__")  # an object that is called like a function
    module = str(inner.__module__) if isinstance(inner, FunctionType) else "numpy"  # may be None
    ours = module.partition(".")[0] != "numpy"
    return (inner if ours else None), "the function" if name == "<lambda>" else name


def bind(f: Any, name: str, arrays: tuple[Any, ...]) -> inspect.BoundArguments | tuple[Any, ...]:
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return arrays  # NumPy's own functions in C do not tell their parameters
    if isinstance(f, np.ufunc):
        return arrays
    try:
        bound = signature.bind(*arrays)
    except TypeError as error:
        raise TypeError(f"{name}{signature} was given {len(arrays)} inputs: {error}") from None
    bound.apply_defaults()
    return bound


def entered(bound: Any, enter: Callable[[Any, str], Any]) -> tuple[tuple, dict]:
    """Check and trace every argument; return positional and keyword arguments."""
    if isinstance(bound, tuple):
        names = ("x",) if len(bound) == 1 else tuple(f"x{i}" for i in range(1, len(bound) + 1))
        return tuple(enter(_checked(v, n), n) for v, n in zip(bound, names)), {}
    kinds = bound.signature.parameters
    for name, value in list(bound.arguments.items()):
        if kinds[name].kind is inspect.Parameter.VAR_KEYWORD:
            continue  # nothing is given by name
        if kinds[name].kind is inspect.Parameter.VAR_POSITIONAL:
            many = enumerate(value, 1)
            bound.arguments[name] = tuple(
                enter(_checked(v, f"{name}{i}"), f"{name}{i}") for i, v in many
            )
        elif isinstance(value, ndarray) or value is not kinds[name].default:
            bound.arguments[name] = enter(_checked(value, name), name)
    return bound.args, bound.kwargs


def _checked(value: Any, name: str) -> Any:
    """Return an argument that golf can trace or pass on; raise for the others by name."""
    if isinstance(value, Number | np.generic) and not isinstance(value, ndarray):
        return value
    kind = type(value)
    package = str(kind.__module__).partition(".")[0]
    if package in _ELSEWHERE:
        raise TypeError(
            f"{name} is a {package} {kind.__name__}, and golf traces NumPy; {_ELSEWHERE[package]}"
        )
    if not isinstance(value, ndarray):
        raise TypeError(
            f"{name}={value!r:.60} must be a NumPy array or a number, not {kind.__name__}"
        )
    if kind is TracedArray:
        raise GolfError("golf inside a function that golf is tracing: call it outside")
    if kind not in (ndarray, np.memmap):
        raise TypeError(f"{name} is a {kind.__name__}, which golf cannot trace; give a plain array")
    refuse_dtype(name, value.dtype)
    return value
