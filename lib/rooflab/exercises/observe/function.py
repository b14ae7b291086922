"""Run an answer that is a function of numbers, or of arrays, on a case."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from types import FunctionType

from rooflab.exercises.observe.observation import Case, Observation, observe


def run(case: Case, answer: Callable[..., object]) -> Observation:
    given = dict(copy.deepcopy(case))
    named = {name: given.pop(name) for name in _keyword_only(answer) if name in given}
    return observe(lambda: answer(*given.values(), **named))


def run_with_arrays(case: Case, answer: Callable[..., object]) -> Observation:
    from numpy import array

    return run({n: array(v) if isinstance(v, list) else v for n, v in case.items()}, answer)


def _keyword_only(answer: Callable[..., object]) -> Sequence[str]:
    """Names of the arguments that a function takes by name alone."""
    if type(answer) is not FunctionType:
        return ()
    code = answer.__code__
    return code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
