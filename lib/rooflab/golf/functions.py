"""NumPy functions that are not ufuncs: each has a stated model here, or is refused by name.

Views move nothing; ``_ONCE`` reads each array once and writes its result once; reductions are
those of ufuncs; what NumPy composes of several calls is composed in composites.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.golf import composites
from rooflab.golf.buffers import owner_of
from rooflab.golf.errors import no_model
from rooflab.golf.trace import Trace
from rooflab.golf.ufuncs import needs_copy, refuse_dtype

_VIEWS = {
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze,
    np.expand_dims, np.broadcast_to, np.broadcast_arrays, np.atleast_1d, np.atleast_2d,
    np.atleast_3d, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.flip, np.fliplr,
    np.flipud, np.rot90, np.diagonal, np.real, np.imag, np.matrix_transpose, np.unstack,
    np.lib.stride_tricks.sliding_window_view,
}  # fmt: skip
_ONCE = {
    np.where, np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.dstack,
    np.copy, np.repeat, np.roll, np.clip, np.nonzero, np.flatnonzero, np.count_nonzero, np.round,
    np.vdot, np.inner, np.trace,
}  # fmt: skip
_ABOUT = {
    np.shape, np.ndim, np.size, np.may_share_memory, np.shares_memory, np.result_type,
    np.can_cast, np.min_scalar_type, np.iscomplexobj, np.isrealobj, np.common_type,
}  # fmt: skip
_REDUCTIONS = {
    np.sum: np.add, np.prod: np.multiply, np.max: np.maximum, np.min: np.minimum,
    np.amax: np.maximum, np.amin: np.minimum, np.all: np.logical_and, np.any: np.logical_or,
}  # fmt: skip
_FILLED = {np.zeros_like: 0, np.ones_like: 1}


def apply(trace: Trace, function: Any, args: tuple, kwargs: dict) -> Any:
    """Compute ``function(*args, **kwargs)`` on traced arrays by its model, or refuse it."""
    kwargs = {key: value for key, value in kwargs.items() if value is not np._NoValue}
    while args and args[-1] is np._NoValue:
        args = args[:-1]
    model = _MODELS.get(function)
    if model is not None:
        return model(trace, *args, **kwargs)
    name = function.__name__
    if function in _ABOUT:
        return function(*trace.raw(args), **trace.raw(kwargs))
    if function in _VIEWS:
        return view_or_copy(trace, name, function, args, kwargs)
    if function in _ONCE:
        return moved_once(trace, name, function, args, kwargs)
    module = (function.__module__ or "numpy").replace("numpy", "np", 1).split("._")[0]
    raise no_model(f"{module}.{name}")


def view_or_copy(trace: Trace, name: str, function: Callable, args: Any, kwargs: dict) -> Any:
    """Compute; where the result is no view of an argument, it was read and written once."""
    trace.check(name)
    plain = trace.raw(args)
    result = function(*plain, **trace.raw(kwargs))
    sources = arrays_in(plain)
    owners = {id(owner_of(array)) for array in sources}
    for array in arrays_in((result,)):
        refuse_dtype(name, array.dtype)
    copies = [array for array in arrays_in((result,)) if id(owner_of(array)) not in owners]
    wrapped = trace.wrap(result)
    if copies:
        trace.record(name, sources, copies)
    return wrapped


def moved_once(trace: Trace, name: str, function: Callable, args: Any, kwargs: dict) -> Any:
    """Compute; every distinct array among the arguments is read once, the result written once."""
    trace.check(name)
    out = kwargs.get("out")
    trace.own(out)
    plain, named = trace.raw(args), trace.raw(kwargs)
    sources = arrays_in((*plain, *(value for key, value in named.items() if key != "out")))
    for array in sources:
        trace.meet(array, name)
        refuse_dtype(name, array.dtype)
        if out is not None and needs_copy(array, named["out"]):
            raise no_model(f"{name} with an out= that overlaps its input")
    result = function(*plain, **named)
    for array in arrays_in((result,)):
        refuse_dtype(name, array.dtype)
    wrapped = trace.wrap(result)
    trace.record(name, sources, arrays_in((result,)))
    return wrapped if out is None else out


def arrays_in(values: Any) -> list[ndarray]:
    """Return the plain arrays among ``values`` and in tuples and lists among them."""
    found: list[ndarray] = []
    for value in values:
        if isinstance(value, ndarray):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += arrays_in(value)
    return found


def _reduction(ufunc: np.ufunc) -> Callable:
    def model(trace: Trace, a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        names = ("dtype", "out") if ufunc in (np.add, np.multiply) else ("out",)
        kwargs = {**dict(zip((*names, "keepdims"), args)), **kwargs}
        return ufunc.reduce(a, axis=axis, **kwargs)

    return model


def _accumulation(ufunc: np.ufunc) -> Callable:
    def model(trace: Trace, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            a, axis = np.ravel(a), 0
        return ufunc.accumulate(a, axis=axis, dtype=dtype, out=out)

    return model


def _copyto(trace: Trace, dst: Any, src: Any, casting: str = "same_kind", where: Any = True):
    trace.own(dst)
    target, source, mask = trace.raw(dst), trace.raw(src), trace.raw(where)
    trace.meet(target, "copyto")
    if isinstance(source, ndarray) and needs_copy(source, target):
        raise no_model("np.copyto between overlapping views")
    np.copyto(target, source, casting, mask)
    trace.record("copyto", arrays_in((source, mask)), [target])


def _putmask(trace: Trace, a: Any, mask: Any, values: Any) -> None:
    """Of one number: the same as ``a[mask] = number``."""
    if np.ndim(trace.raw(values)):
        raise no_model("np.putmask with an array of values")
    a[mask] = values


def _like(fill: Any = None) -> Callable:
    """np.empty_like makes an array and writes nothing; zeros_like and ones_like write it once."""

    def model(trace: Trace, prototype: Any, *args: Any, **kwargs: Any) -> Any:
        plain = np.empty_like(trace.raw(prototype), *args, **kwargs)
        made = trace.wrap(plain)
        if fill is not None:
            plain[...] = fill
            trace.record("ones_like" if fill else "zeros_like", [], [plain])
        return made

    return model


def _full_like(trace: Trace, a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    made = np.full_like(trace.raw(a), trace.raw(fill_value), *args, **kwargs)
    wrapped = trace.wrap(made)
    trace.record("full_like", arrays_in((trace.raw(fill_value),)), [made])
    return wrapped


_MODELS: dict[Any, Callable] = {
    **{function: _reduction(ufunc) for function, ufunc in _REDUCTIONS.items()},
    np.cumsum: _accumulation(np.add),
    np.cumprod: _accumulation(np.multiply),
    np.copyto: _copyto,
    np.putmask: _putmask,
    np.empty_like: _like(),
    **{function: _like(fill) for function, fill in _FILLED.items()},
    np.full_like: _full_like,
    **composites.MODELS,
}
