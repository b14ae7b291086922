"""Universal functions on traced arrays: calls, reductions, outer products, ``at``.

A call reads every distinct input once and writes its output once. NumPy makes three kinds of
copies on the side that a large array pays for, and they are counted: an input that overlaps the
output in the wrong order, an operand of a matrix product in another dtype, and the values of
``ufunc.at`` that share memory with their target. Casts in element-wise calls and sums go through
a buffer of 8192 elements, which the cache holds, and count nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.array_utils import byte_bounds

from rooflab.golf.coverage import place
from rooflab.golf.errors import Untraceable, stripped
from rooflab.golf.trace import Trace


def apply(trace: Trace, ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
    """Compute ``ufunc.method(*inputs, **kwargs)``, record it, return the traced result."""
    call = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if all(set(types.replace("->", "")) <= {"O"} for types in ufunc.types) and ufunc.types:
        raise Untraceable(
            f"{call} was made by np.frompyfunc: it calls Python for every element and gives "
            "objects, whose bytes golf does not know; write it with NumPy's own ufuncs"
        )
    trace.check(call)
    if method == "at":
        return _at(trace, ufunc, call, *inputs)
    given = kwargs.get("out", ())
    if len(given) == 1 and given[0] is ...:
        given, kwargs = (), {**kwargs, "out": ...}
    for out in given:
        trace.own(out)
    if "out" in kwargs and given:
        kwargs = {**kwargs, "out": trace.raw(given)}
    plain = [trace.raw(value) for value in inputs]
    outs = [trace.raw(out) for out in given if out is not None]
    for array in (*plain, *outs):
        _refuse_dtype(trace, call, array)
    _refuse_objects(call, plain, kwargs)
    mask = trace.raw(kwargs.get("where", True))
    if mask is not True:
        kwargs = {**kwargs, "where": mask}
    plain = _copies_on_the_side(trace, ufunc, method, plain, outs)
    result = getattr(ufunc, method)(*plain, **kwargs)
    results = result if isinstance(result, tuple) else (result,)
    made = trace.wrap(results)  # known before it is recorded, so that it has its name
    reads = [array for array in (*plain, mask) if isinstance(array, ndarray)]
    writes = [array for array in results if isinstance(array, ndarray)]
    trace.record(call, reads, writes)
    answers = tuple(out if out is not None else new for out, new in zip(given or made, made))
    return answers if isinstance(result, tuple) else answers[0]


def _refuse_dtype(trace: Trace, call: str, value: Any) -> None:
    if isinstance(value, ndarray):
        trace.meet(value, call)
        refuse_dtype(call, value.dtype)


def _refuse_objects(call: str, inputs: list, kwargs: dict) -> None:
    """Raise where NumPy would hand every number to Python: for objects that are no numbers."""
    others = [value for value in inputs if not isinstance(value, ndarray)]
    if kwargs.get("initial") not in (None, np._NoValue):
        others.append(kwargs["initial"])
    for value in others:
        if _holds_arrays(value):
            raise stripped(f"{call} of a list of arrays (np.stack can be counted)")
        refuse_dtype(call, np.asarray(value).dtype)
    for wanted in ("dtype", "signature", "sig"):
        if kwargs.get(wanted) is not None and "O" in _letters(kwargs[wanted]):
            raise Untraceable(f"{call} with {wanted}={kwargs[wanted]!r}; golf counts numbers")


def _holds_arrays(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_arrays, value))
    return isinstance(value, ndarray)


def _letters(wanted: Any) -> str:
    """The dtypes of ``dtype=`` or ``signature=`` as letters, "O" for objects."""
    if isinstance(wanted, str) and "->" in wanted:
        return wanted
    parts = wanted if isinstance(wanted, tuple) else (wanted,)
    return "".join(np.dtype(part).char for part in parts if part is not None)


def refuse_dtype(name: str, dtype: np.dtype) -> None:
    """Raise for a dtype whose bytes golf does not know: objects, texts, dates, records."""
    if dtype.kind not in "biufc" and not getattr(dtype.type, "__module__", "") == "ml_dtypes":
        raise Untraceable(
            f"{name} has dtype {dtype}; golf counts numbers: bool, integers, floats, complex"
        )


def _copies_on_the_side(
    trace: Trace, ufunc: np.ufunc, method: str, inputs: list, outs: list[ndarray]
) -> list:
    """Return ``inputs`` with those replaced by a copy that NumPy would copy first."""
    arrays = [array for array in inputs if isinstance(array, ndarray)]
    if ufunc.signature is not None and len({array.dtype for array in arrays}) > 1:
        common = np.result_type(*arrays)
        return [
            trace.copied("copy (cast)", array, common)
            if isinstance(array, ndarray) and array.dtype != common
            else array
            for array in inputs
        ]
    if method != "__call__":
        return inputs
    return [
        trace.copied("copy (overlap)", array)
        if isinstance(array, ndarray) and any(needs_copy(array, out) for out in outs)
        else array
        for array in inputs
    ]


def needs_copy(array: ndarray, out: ndarray) -> bool:
    """True when ``out`` overwrites parts of ``array`` before they have been read.

    NumPy walks from low to high addresses: where both are dense and alike and ``out`` starts
    earlier, nothing is lost and nothing is copied.
    """
    if not np.may_share_memory(array, out) or place(array) == place(out):
        return False
    low, out_low = byte_bounds(array)[0], byte_bounds(out)[0]
    alike = array.strides == out.strides and array.shape == out.shape
    forward = alike and array.flags.forc and all(step > 0 for step in array.strides)
    return np.shares_memory(array, out) and not (forward and out_low < low)


def _at(trace: Trace, ufunc: np.ufunc, call: str, target: Any, index: Any, *value: Any) -> None:
    """``ufunc.at``: what the index names is read and written, the index and values are read."""
    trace.own(target)
    array, where, values = trace.raw(target), trace.raw(index), trace.raw(value)
    _refuse_objects(call, list(values), {})
    values = [
        trace.copied("copy (overlap)", v)
        if isinstance(v, ndarray) and np.may_share_memory(v, array)
        else v
        for v in values
    ]
    touched = min(np.size(array[where]) * array.itemsize, array.nbytes)
    ufunc.at(array, where, *values)
    parts = where if isinstance(where, tuple) else (where,)
    reads = [part for part in (*parts, *values) if isinstance(part, ndarray)]
    trace.record(call, [*reads, (array, touched)], [(array, touched)])
