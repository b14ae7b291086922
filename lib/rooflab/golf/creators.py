"""np.empty and its like inside a traced function: there they give traced arrays.

These functions take no array, so NumPy tells nobody when they are called, and what they made could
be worked on unseen. The traced function therefore gets a stand-in for the numpy module whose
makers do tell (captured.py exchanges it). The real module stays as it is: compiled code such as
numpy.random calls np.empty too, and would crash on anything but its result.

Nor does NumPy tell when np.array or np.max is given a list of arrays: it copies them into one array
first. The stand-ins count that copy.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.golf.functions import arrays_in
from rooflab.golf.trace import Trace
from rooflab.golf.ufuncs import refuse_dtype

_MAKERS = (np.empty, np.zeros, np.ones, np.full, np.arange)
_CONVERTERS = (
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray,
)  # fmt: skip
_OF_ONE_ARRAY = (
    np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.all, np.any, np.mean, np.var, np.std,
    np.argmax, np.argmin, np.cumsum, np.cumprod,
)  # fmt: skip
_NOT_WRITTEN = (np.empty, np.zeros)  # the system hands out their pages; NumPy does not touch them


class NumPy(ModuleType):
    """The numpy module as a traced function sees it: some functions exchanged."""

    def __init__(self, exchanged: dict[str, Callable]) -> None:
        super().__init__("numpy")
        self.__dict__.update(exchanged)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def stand_ins(trace: Trace) -> dict[int, Any]:
    """Return id of an original → its stand-in; numpy itself has one too."""
    exchanged = {f.__name__: (f, _stand_in(trace, f, _make)) for f in _MAKERS}
    exchanged |= {f.__name__: (f, _stand_in(trace, f, _convert)) for f in _CONVERTERS}
    exchanged |= {f.__name__: (f, _stand_in(trace, f, _after_joining)) for f in _OF_ONE_ARRAY}
    module = NumPy({name: new for name, (_, new) in exchanged.items()})
    return {id(np): module, **{id(old): new for old, new in exchanged.values()}}


@contextmanager
def importing(module: NumPy, scope: dict[str, Any] | None) -> Iterator[None]:
    """Let ``import numpy`` inside a function whose module is ``scope`` give ``module``."""
    original = builtins.__import__

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level=0):
        found = original(name, globals, locals, fromlist, level)
        return module if found is np and globals is scope and scope is not None else found

    builtins.__import__ = import_
    try:
        yield
    finally:
        builtins.__import__ = original


def _stand_in(trace: Trace, original: Callable, model: Callable) -> Callable:
    def function(*args: Any, **kwargs: Any) -> Any:
        return model(trace, original, args, kwargs)

    function.__name__ = function.__qualname__ = original.__name__
    return function


def _make(trace: Trace, original: Callable, args: tuple, kwargs: dict) -> Any:
    trace.check(original.__name__)
    kwargs.pop("like", None)
    made = original(*trace.raw(args), **trace.raw(kwargs))
    wrapped = trace.wrap(made)
    if original not in _NOT_WRITTEN:
        trace.record(original.__name__, [], [made])
    return wrapped


def _convert(trace: Trace, original: Callable, args: tuple, kwargs: dict) -> Any:
    """np.array and np.asarray: the array itself, or a copy that is read and written.

    All arrays of a list are read, and one new array is written.
    """
    name = original.__name__
    trace.check(name)
    given = args[0] if args else kwargs.get("object", kwargs.get("a"))
    plain, kwargs = trace.raw(args), trace.raw(kwargs)
    for array in arrays_in((*plain, *kwargs.values())):
        trace.meet(array, name)
    kwargs.pop("like", None)
    result = original(*plain, **kwargs)
    source = trace.raw(given)
    if not isinstance(source, (ndarray, list, tuple)):
        trace.strangers.note(result)  # perhaps an array that an object of the function's holds
    sources = arrays_in((source,))
    if sources:
        refuse_dtype(name, result.dtype)
    if isinstance(source, ndarray) and np.may_share_memory(source, result):
        same = source.shape == result.shape and source.strides == result.strides
        return given if same and type(given) is trace.kind else trace.wrap(result)
    wrapped = trace.wrap(result)
    trace.record(name, sources, [result])
    return wrapped


def _after_joining(trace: Trace, original: Callable, args: tuple, kwargs: dict) -> Any:
    """A function of one array that is given a list of them: np.array of the list comes first."""
    if args and type(args[0]) in (list, tuple) and _holds_traced(trace, args[0]):
        args = (_convert(trace, np.array, args[:1], {}), *args[1:])
    return original(*args, **kwargs)


def _holds_traced(trace: Trace, value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(_holds_traced(trace, item) for item in value)
    return type(value) is trace.kind
