"""One traced run: inputs in, steps, result and minimum out, and every failure in plain words."""

from __future__ import annotations

import functools
import inspect
import linecache
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.golf.arguments import as_function, bind, entered
from rooflab.golf.array import TracedArray
from rooflab.golf.cache import Cache
from rooflab.golf.captured import reached, traced
from rooflab.golf.coverage import Coverage
from rooflab.golf.creators import stand_ins
from rooflab.golf.errors import GolfError, Stopped
from rooflab.golf.functions import arrays_in
from rooflab.golf.ledger import Step
from rooflab.golf.loops import may_loop
from rooflab.golf.trace import Limits, Trace
from rooflab.golf.watchdog import watched

_FOREIGN = {"cupy", "jax", "numba", "numexpr", "pandas", "polars", "scipy", "sklearn", "torch"}
LONGEST = 60  # characters of a line that an error repeats
WAITS = 0.1  # of its time a function computes less than that: it sleeps, or waits for something


@dataclass(frozen=True)
class Run:
    """What came out of a traced run."""

    name: str
    steps: tuple[Step, ...]
    result: Any
    minimum: int
    elements: int
    changed: tuple[str, ...]
    written: tuple[int, ...]


def run(f: Callable[..., Any], arrays: tuple[Any, ...], cache: Cache, limits: Limits) -> Run:
    """Call ``f(*arrays)`` on traced arrays; see :func:`rooflab.golf.golf`."""
    function, name = as_function(f)
    given = bind(f, name, arrays)
    trace = Trace(TracedArray, cache, limits, function.__code__ if function else None)
    inputs: dict[int, Any] = {}

    def enter(value: Any, label: str) -> Any:
        if not isinstance(value, ndarray):
            return value
        if id(value) not in inputs:
            inputs[id(value)] = trace.add_input(value, label)
        return inputs[id(value)]

    args, kwargs = entered(given, enter)
    if not inputs:
        raise TypeError(f"golf({name}): give at least one NumPy array for {name} to work on")
    try:
        with traced(trace, function, stand_ins(trace)) as held:
            answer = _called(trace, name, function, functools.partial(f, *args, **kwargs))
            written = tuple(
                i
                for i, value in enumerate(arrays)
                if id(value) in inputs and inputs[id(value)].buffer.changed
            )
            return _finished(trace, name, answer, [*inputs.values(), *held], written)
    finally:
        trace.over = True


def _called(trace: Trace, name: str, function: FunctionType | None, call: Callable[[], Any]) -> Any:
    start = time.thread_time()
    try:
        with watched(trace):
            answer = call()
        if trace.strangers.refused:  # and f swallowed that
            raise trace.strangers.refused
    except Stopped as error:
        where = f"({_at(trace, error)})"
        waited = time.thread_time() - start < WAITS * trace.limits.seconds
        raise _error(trace, f"{name} {_stopped(trace, function, where, waited)}") from None
    except GolfError as error:
        raise _error(trace, f"{name}, {_at(trace, error)}: {error}", type(error)) from error
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise _error(
            trace, f"{name} raised {said} ({_at(trace, error)}{_library(function)})"
        ) from error
    if inspect.iscoroutine(answer):
        answer.close()  # or Python warns that nobody awaited it
    if inspect.iscoroutine(answer) or inspect.isasyncgen(answer):
        raise _error(trace, f"{name} has not run yet: write `def`, not `async def`")
    if inspect.isgenerator(answer):
        raise _error(trace, f"{name} gives a generator, which has not run yet; return an array")
    return answer


def _stopped(trace: Trace, function: FunctionType | None, where: str, waited: bool) -> str:
    """Say why it was stopped. ``where``: the line; ``waited``: hardly anything was computed."""
    if "steps" not in trace.stop_reason:
        late = f"took longer than {trace.stop_reason}"
        if waited:
            return f"{late} and waited most of that time {where}; a count of bytes needs no wait"
        if function is not None and not may_loop(function):
            return f"{late} {where}; does it need all that work, or arrays that large?"
    made = "" if "steps" in trace.stop_reason else f", having made {len(trace):,} steps"
    return (
        f"was stopped after {trace.stop_reason}{made}; "
        "does its loop end? A loop over elements is no NumPy: give golf larger chunks"
    )


def _error(trace: Trace, text: str, kind: type[GolfError] = GolfError) -> GolfError:
    error = kind(text)
    error.step = len(trace)
    return error


def _at(trace: Trace, error: BaseException) -> str:
    """Say where: the step that was reached, the function's line and its text."""
    where = f"at step {len(trace) + 1}"
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if frame.f_code in trace.codes:
            text = linecache.getline(frame.f_code.co_filename, line).strip()
            shown = f" `{text}`" if 0 < len(text) <= LONGEST else ""
            return f"{where}, line {line - trace.first_line + 1}{shown}"
    return where


def _library(function: FunctionType | None) -> str:
    """Name the libraries that the function reaches and that golf cannot see into."""
    values = [value for _, _, value in reached(function)]
    names = (str(v.__name__ if isinstance(v, ModuleType) else type(v).__module__) for v in values)
    found = sorted({name.partition(".")[0] for name in names} & _FOREIGN)
    return f"; golf cannot see into {' or '.join(found)}" if found else ""


def _finished(
    trace: Trace, name: str, answer: Any, inputs: list[Any], written: tuple[int, ...]
) -> Run:
    try:
        found = _arrays(trace, answer)
    except RecursionError:
        raise _error(trace, f"{name} gives a list that holds itself; return an array") from None
    buffers = [trace.meet(array, "the result") for array in found]
    made = list(dict.fromkeys(b for b in buffers if not b.source))
    for number, buffer in enumerate(made, 1):
        buffer.label.name = "result" if len(made) == 1 else f"result{number}"
    sources = list(dict.fromkeys(array.buffer for array in inputs))
    minimum = sum(b.read.bytes() + b.written.bytes() for b in sources)
    for buffer in made:  # what it returns and has written: fresh zeros move nothing
        returned = Coverage(*(a for a, b in zip(found, buffers) if b is buffer), lines=True)
        minimum += min(returned.bytes(), buffer.written.bytes())
    trace.cache.flush()
    steps = trace.steps()
    minimum = min(minimum, sum(step.bytes for step in steps))  # an index may name a byte twice
    elements = max(array.size for array in inputs)
    changed = tuple(b.label.name for b in sources if b.changed)
    return Run(name, steps, _plain(trace, answer), minimum, max(1, elements), changed, written)


def _arrays(trace: Trace, answer: Any) -> list[ndarray]:
    values = answer.values() if isinstance(answer, dict) else (answer,)
    return arrays_in(trace.raw(list(values)))


def _plain(trace: Trace, answer: Any) -> Any:
    """The answer in plain arrays that share nothing with the caller's."""
    if type(answer) is trace.kind:
        return np.copy(answer.array) if answer.buffer.borrowed else answer.array
    if type(answer) in (tuple, list):
        return type(answer)(_plain(trace, value) for value in answer)
    if type(answer) is dict:
        return {key: _plain(trace, value) for key, value in answer.items()}
    return answer
