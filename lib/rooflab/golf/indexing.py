"""Brackets: slices are views and move nothing; lists, index arrays and masks copy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.golf.buffers import owner_of
from rooflab.golf.coverage import distinct_bytes, place
from rooflab.golf.functions import arrays_in
from rooflab.golf.trace import Trace


def get(trace: Trace, array: Any, key: Any) -> Any:
    """``array[key]``: a view, a copy of what the index names, or one element, which is read."""
    plain, where = trace.raw(array), trace.raw(key)
    found = plain[where]
    if not isinstance(found, ndarray):
        trace.record("getitem", [(plain, plain.itemsize)], [])
        return found
    if owner_of(found) is owner_of(plain):
        return trace.wrap(found)
    wrapped = trace.wrap(found)
    named = min(found.nbytes, distinct_bytes(plain))  # repeated elements cross the bus once
    trace.record("getitem", [*_indices(where), (plain, named)], [found])
    return wrapped


def put(trace: Trace, array: Any, key: Any, value: Any) -> None:
    """``array[key] = value``: the value is read, what the index names is written."""
    if type(value) is trace.kind and _is_that(trace, array, key, value):
        return  # the last third of a[key] += …: NumPy sees the same view and does nothing
    trace.own(array)
    plain, where, given = trace.raw(array), trace.raw(key), trace.raw(value)
    target = plain[where]
    is_view = isinstance(target, ndarray) and owner_of(target) is owner_of(plain)
    held = arrays_in((given,))
    if isinstance(given, (list, tuple)) and not held:
        held = [given := np.asarray(given)]  # of numbers: few of them, or nobody saw them made
    if is_view and isinstance(given, ndarray) and _copies_first(target, given):
        held = [given := trace.copied("copy (overlap)", given)]
    plain[where] = given
    reads = [*_indices(where), *held]
    size = target.nbytes if isinstance(target, ndarray) else plain.itemsize
    trace.record(
        "setitem", reads, [target if is_view else (plain, min(size, distinct_bytes(plain)))]
    )


def _is_that(trace: Trace, array: Any, key: Any, value: Any) -> bool:
    target = trace.raw(array)[trace.raw(key)]
    return isinstance(target, ndarray) and place(target) == place(trace.raw(value))


def _copies_first(target: ndarray, given: ndarray) -> bool:
    """NumPy copies an overlapping value unless both run along one line in the same direction."""
    if not np.may_share_memory(target, given) or not np.shares_memory(target, given):
        return False
    return target.ndim > 1 or (given.ndim > 0 and target.strides[0] * given.strides[-1] < 0)


def _indices(key: Any) -> list[ndarray]:
    parts = key if isinstance(key, tuple) else (key,)
    return [part for part in parts if isinstance(part, ndarray)]
