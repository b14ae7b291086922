"""What a function reaches besides its arguments: names of its module and of enclosing functions.

While it is traced, names that hold an array give a traced one, and names that hold numpy or one
of its makers (``from numpy import empty``) give its stand-in. Everything is put back afterwards.
Functions of the same module that it calls see the same; functions of other modules do not, and
large arrays that they make are refused when they turn up.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.golf.creators import importing
from rooflab.golf.trace import Trace

_ONE = threading.RLock()  # one run at a time exchanges names


@contextmanager
def traced(
    trace: Trace, function: FunctionType | None, stand_ins: Mapping[int, Any]
) -> Iterator[list[Any]]:
    """Exchange what ``function`` reaches by name; gives the traced arrays among it."""
    undo: list[tuple[dict[str, Any] | CellType, str, Any]] = []
    held: list[Any] = []

    def stand_in(value: Any, name: str) -> Any:
        if isinstance(value, ndarray) and type(value) is not trace.kind and value.ndim:
            held.append(trace.add_input(value, name))
            return held[-1]
        return stand_ins.get(id(value))

    with _ONE, importing(stand_ins[id(np)], function and function.__globals__):
        try:
            for scope, name, value in list(reached(function)):
                new = stand_in(value, name)
                if new is not None:
                    undo.append((scope, name, value))
                    _set(scope, name, new)
            yield held
        finally:
            for scope, name, value in undo:
                _set(scope, name, value)


def _set(scope: dict[str, Any] | CellType, name: str, value: Any) -> None:
    if isinstance(scope, dict):
        scope[name] = value
    else:
        scope.cell_contents = value


def reached(function: FunctionType | None) -> Iterator[tuple[Any, str, Any]]:
    """Every (scope, name, value) that the function and its module's functions can reach."""
    waiting = [function] if function else []
    seen: set[object] = set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for scope, name, value in _held_by(current):
            if (id(scope), name) not in seen:
                seen.add((id(scope), name))
                yield scope, name, value
            if isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
                waiting.append(value)


def _held_by(function: FunctionType) -> Iterator[tuple[Any, str, Any]]:
    scope = function.__globals__
    for name in _names(function.__code__) & scope.keys():
        yield scope, name, scope[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield cell, name, cell.cell_contents
        except ValueError:
            continue  # a name that has no value yet


def _names(code: CodeType) -> set[str]:
    inner = (_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)
