"""Arrays that tell a cache simulator every line they touch: a count that knows nothing of golf.

A NumPy call on them is computed as usual. Then its arrays are walked side by side from the first
element to the last, and every line that a real loop would touch next is handed to the simulator.
The addresses are those of an allocator that hands out the block freed last, as most do for a size.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable
from unittest import mock

import numpy as np

from tests.labs.golf.support.lru import LINE, Cache


class Blocks:
    """Where the memory of each array begins, for as long as the array lives."""

    def __init__(self) -> None:
        self._begins: dict[int, int] = {}
        self._free: dict[int, list[int]] = defaultdict(list)
        self._end = 0

    def begin(self, owner: np.ndarray) -> int:
        if id(owner) not in self._begins:
            lines = -(-owner.nbytes // LINE)
            if self._free[lines]:
                begin = self._free[lines].pop()
            else:
                begin, self._end = self._end, self._end + lines * LINE
            self._begins[id(owner)] = begin
            weakref.finalize(owner, self._freed, id(owner), lines)
        return self._begins[id(owner)]

    def _freed(self, key: int, lines: int) -> None:
        self._free[lines].append(self._begins.pop(key))


class Walked(np.ndarray):
    """An array whose calls are walked on ``simulator``."""

    simulator: Cache
    blocks: Blocks

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        plain = [_plain(value) for value in inputs]
        given = tuple(_plain(array) for array in out)
        result = getattr(ufunc, method)(*plain, **({"out": given} if given else {}), **options)
        _walk([p for p in plain if np.ndim(p)], [result] if np.ndim(result) else [])
        return out[0] if given else _walked(result)

    def __array_function__(self, function, types, args, kwargs):
        if function is np.apply_along_axis:
            return function._implementation(*args, **kwargs)  # NumPy's own loop over lines
        plain = [_plain(value) for value in args]
        named = {key: _plain(value) for key, value in kwargs.items()}
        result = function(*plain, **named)
        if function is np.copyto:
            _walk([plain[1]], [plain[0]])
        elif function is not np.empty_like and getattr(result, "base", None) is None:
            many = plain[0] if isinstance(plain[0], list) else plain
            _walk([p for p in many if np.ndim(p) and not isinstance(p, str)],
                  [result] if np.ndim(result) else [])  # fmt: skip
        return _walked(result)

    def copy(self, order="C"):
        result = _plain(self).copy(order)
        _walk([_plain(self)], [result])
        return _walked(result)

    def __setitem__(self, key, value):
        target = _plain(self)[key]
        same = isinstance(value, np.ndarray) and value.ctypes.data == target.ctypes.data
        _plain(self)[key] = _plain(value)
        if not same:
            _walk([_plain(value)] if np.ndim(value) else [], [target])


def simulated(function: Callable, arrays: list, size: int) -> int:
    """Bytes over the bus of a cache of ``size`` bytes while ``function(*arrays)`` runs."""
    Walked.simulator, Walked.blocks = Cache(size), Blocks()
    given = [_walked(a.copy()) if isinstance(a, np.ndarray) else a for a in arrays]
    ours = {"empty": _empty, "array": _array, "max": _max}
    with mock.patch.multiple(np, **ours):
        kept = function(*given)
    del kept
    return Walked.simulator.bytes()


def _empty(*args, original=np.empty):
    return _walked(original(*args))


def _array(items, *args, original=np.array, **options):
    """One array of a list of them: NumPy copies the first, then the second, and so on."""
    if not _listed(items):
        return original(items, *args, **options)
    result = original([_plain(item) for item in items], *args, **options)
    for item, place in zip(items, result):
        _walk([_plain(item)], [place])
    return _walked(result)


def _max(values, *args, original=np.max, **options):
    return original(np.array(values) if _listed(values) else values, *args, **options)


def _listed(values) -> bool:
    return isinstance(values, list) and any(isinstance(value, Walked) for value in values)


def _plain(value):
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value.view(np.ndarray) if isinstance(value, Walked) else value


def _walked(value):
    return value.view(Walked) if isinstance(value, np.ndarray) and value.ndim else value


def _walk(reads: list, writes: list) -> None:
    """Touch the lines of all arrays in turns, so that each is as far along as the others."""
    arrays = [*reads, *writes]
    if not arrays:
        return
    met = [(*_lines(array), n >= len(reads)) for n, array in enumerate(arrays)]
    places, lines = (np.concatenate(column) for column in zip(*(one[:2] for one in met)))
    stores = np.concatenate([np.full(len(line), store) for _, line, store in met])
    order = np.lexsort((stores, places))
    for line, store in zip(lines[order].tolist(), stores[order].tolist()):
        Walked.simulator.touch(line, store)


def _lines(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines in the order in which a loop over ``array`` meets them, and how far along (0 to 1)."""
    offsets = np.zeros((1,), np.int64)
    for length, step in zip(array.shape, array.strides):
        offsets = (offsets[:, None] + step * np.arange(length)).ravel()
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    begin = Walked.blocks.begin(owner) + array.ctypes.data - owner.ctypes.data
    line = (begin + offsets) // LINE
    changes = np.flatnonzero(np.diff(line, prepend=-1))
    return changes / len(line), line[changes]
