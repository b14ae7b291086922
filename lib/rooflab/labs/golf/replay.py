"""A program of NumPy calls, as :mod:`rooflab.labs.golf.program` writes it down, run once more.

It may come from a process that is not trusted. Only functions for which golf has a model can be
named in it, and only plain data stands in it. How long it may run, and with how much memory, is for
the caller to limit.
"""

from __future__ import annotations

import inspect
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.labs.golf.numpy_rules import FUNCTIONS
from rooflab.labs.golf.program import BUILTINS, KINDS, MATH, OF_LISTS, OPERATORS, decoded

_METHODS = (".copy", ".flatten", ".astype", ".transpose", ".view", ".item", ".__getitem__",
            ".__setitem__")  # fmt: skip
_OF_UFUNCS = ("__call__", "reduce", "accumulate", "reduceat", "outer", "at")
_NUMBERS = {kind.__name__: kind for kind in KINDS}


def function_of(program: Any, count: int) -> tuple[Callable[..., Any], tuple[ndarray, ...]]:
    """Return a function that does what ``program`` says, and the arrays that it takes at the end.

    The function takes ``count`` arguments before those, each array under its name in the program.
    Raises ValueError for what no recorder has written. An error of a NumPy call is raised when the
    function is called.
    """
    try:
        names = [f"number{place + 1}" for place in range(count)]
        outside, numbers = [], {}
        for name, source, number in program["inputs"]:
            if type(source) is int:
                place = range(count)[source]
                names[place] = name
            else:
                place = count + len(outside)
                outside.append(decoded(source, {}))
                names.append(name)
            numbers[number] = place
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        # A deque, because golf looks for functions of the learner's in every list it can reach.
        calls, answer = deque(program["calls"]), program["answer"]
    except (TypeError, KeyError, IndexError, ValueError, AttributeError) as error:
        raise ValueError(f"no program of golf's: {type(error).__name__}: {error}") from None

    def replay(*given: Any) -> Any:
        values = {number: given[place] for number, place in numbers.items()}
        del given
        for call in calls:
            _do(call, values, np)  # golf exchanges np while this runs
        return decoded(answer, values)

    replay.__signature__ = signature  # type: ignore[attr-defined]
    return replay, tuple(outside)


def _do(call: list[Any], values: dict[int, Any], numpy: Any) -> None:
    name, given, *rest = call
    if name == "gone":
        values.pop(given, None)
        return
    named, result = rest
    args = [decoded(value, values) for value in given]
    kwargs = {key: decoded(value, values) for key, value in named.items()}
    _keep(result, _function(name, numpy, args)(*args, **kwargs), values)


def _keep(result: Any, came: Any, values: dict[int, Any]) -> None:
    if type(result) is int:
        values[result] = came
    elif type(result) is list:
        for one, value in zip(result, came, strict=True):
            _keep(one, value, values)


def _function(name: str, numpy: Any, args: list[Any]) -> Callable[..., Any]:
    """What a call names; a method or attribute is taken from the first of ``args``."""
    if name in FUNCTIONS or name in OF_LISTS:
        return operator.attrgetter(name)(numpy)
    if name in _METHODS or name in (".T", ".mT"):
        found = getattr(args.pop(0), name[1:])
        return found if callable(found) else lambda: found
    home, _, last = name.rpartition(".")
    if home == "operator" and last in OPERATORS:
        return getattr(operator, last)
    if isinstance(ufunc := getattr(np, home, None), np.ufunc) and last in _OF_UFUNCS:
        return ufunc if last == "__call__" else getattr(ufunc, last)
    others = MATH.get(name) or BUILTINS.get(name) or _NUMBERS.get(name)
    if others is None:
        raise ValueError(f"{name!r:.60} is nothing that golf can do")
    return others
