"""One traced run: inputs in, steps, result and minimum out, and every failure in plain words."""

from __future__ import annotations

import contextlib
import functools
import inspect
import linecache
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from numbers import Number
from pathlib import Path
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.labs.golf.array import TracedArray
from rooflab.labs.golf.buffers import LINE, Coverage, GolfError, Stopped
from rooflab.labs.golf.cache import Cache
from rooflab.labs.golf.numpy_rules import arrays_in, importing, refuse_dtype, stand_ins
from rooflab.labs.golf.program import Recorder, in_builtins, is_number, unfollowed
from rooflab.labs.golf.trace import Limits, Trace, nested
from rooflab.labs.golf.watchdog import Watch, by_the_clock, limited, may_loop

# The time that f has. Every further call that golf sees raises Stopped too.


_OURS = (str(Path(__file__).parent), str(weakref.__file__))
_PROGRAMS = str(Path(__file__).with_name("replay.py"))  # stands in f's place
_CALLS_F = str(Path(__file__).with_name("run.py"))


def watched(trace: Trace) -> contextlib.AbstractContextManager[None]:
    """Raise Stopped in the body once ``trace.limits.seconds`` are used up."""

    def tell(reason: str) -> None:
        trace.stop_reason = reason

    seconds = trace.limits.seconds
    longest = f"{by_the_clock(seconds):g} s"
    return limited(Watch(seconds, f"{seconds:g} s", longest, _inside_f, tell))


def _inside_f(frame: FrameType | None) -> bool:
    """Whether f runs, and not golf's own code or what that calls, such as a weakref's callback."""
    if frame is not None and frame.f_code.co_filename == contextlib.__file__:
        return False  # perhaps on the way into or out of ``watched``
    top = frame
    while frame is not None and (
        not (file := frame.f_code.co_filename).startswith(_OURS) or file == _PROGRAMS
    ):
        frame = frame.f_back
    return frame is not None and frame is not top and frame.f_code.co_filename == _CALLS_F


# What golf is given: the function inside ``f``, and its arguments by name, checked.


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
    inner = _whole(f)
    inner = inspect.unwrap(getattr(inner, "__func__", inner))
    name = getattr(inner, "__name__", type(inner).__name__)
    if not isinstance(inner, FunctionType):
        inner = type(inner).__dict__.get("__call__")  # an object that is called like a function
    module = str(inner.__module__) if isinstance(inner, FunctionType) else "numpy"  # may be None
    ours = module.partition(".")[0] != "numpy"
    return (inner if ours else None), "the function" if name == "<lambda>" else name


def _whole(f: Any) -> Any:
    """The function that ``f`` fills a part of, where it is a partial."""
    while isinstance(f, functools.partial):
        f = f.func
    return f


def bind(f: Any, name: str, arrays: tuple[Any, ...]) -> inspect.BoundArguments | tuple[Any, ...]:
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return arrays  # NumPy's own functions in C do not tell their parameters
    if isinstance(_whole(f), np.ufunc):
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


# What a function reaches besides its arguments: names of its module and of enclosing functions.
#
# While it is traced, names that hold an array give a traced one, and names that hold numpy or one
# of its makers (``from numpy import empty``) give its stand-in. Everything is put back afterwards.
# Functions of the same module that it calls see the same, and so do methods of its classes and
# functions in a list or dictionary. Functions of other modules do not, and large arrays that they
# make are refused when they turn up.


_ONE = threading.RLock()  # one run at a time exchanges names


@contextmanager
def traced(
    trace: Trace, function: FunctionType | None, stand_ins: Mapping[int, Any]
) -> Iterator[list[Any]]:
    """Exchange what ``function`` reaches by name; gives the traced arrays among it."""
    undo: list[tuple[dict[str, Any] | CellType, str, Any]] = []
    builtin = {} if trace.recorder is None else in_builtins()
    held: list[Any] = []

    def stand_in(value: Any, name: str) -> Any:
        if isinstance(value, ndarray) and type(value) is not trace.kind and value.ndim:
            held.append(trace.add_input(value, name))
            if trace.recorder is not None:
                trace.recorder.add_input(held[-1], name, None)
            return held[-1]
        return stand_ins.get(id(value))

    with _ONE, importing(stand_ins, function and function.__globals__):
        try:
            for scope, name, value in list(reached(function)):
                new = builtin.get(name) if value is _BUILT_IN else stand_in(value, name)
                if new is not None:
                    undo.append((scope, name, value))
                    _set(scope, name, new)
            yield held
        finally:
            for scope, name, value in undo:
                _set(scope, name, value)


_BUILT_IN = object()  # the value of a name that no module has: Python's own, or none at all


def _set(scope: dict[str, Any] | CellType, name: str, value: Any) -> None:
    if value is _BUILT_IN:
        del scope[name]
    elif isinstance(scope, dict):
        scope[name] = value
    else:
        scope.cell_contents = value


def reached(function: FunctionType | None) -> Iterator[tuple[Any, str, Any]]:
    """Every (scope, name, value) that the function and its module's functions can reach."""
    waiting = [function] if function else []
    if function:  # a method: the others of its class, too
        owner = function.__globals__.get(function.__qualname__.partition(".")[0])
        waiting += _functions_in(owner, function.__globals__) if isinstance(owner, type) else []
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
            waiting += _functions_in(value, function.__globals__)


DEEP = 3  # levels: a dictionary of objects with methods


def _functions_in(value: Any, scope: dict[str, Any], levels: int = DEEP) -> list[FunctionType]:
    """Return the functions of the module ``scope`` that ``value`` is, wraps or holds."""
    if isinstance(value, FunctionType):
        return [value] if value.__globals__ is scope else []
    kind = value if isinstance(value, type) else type(value)
    held: list[Any] = []
    if type(value) in (list, tuple, dict):
        held += value.values() if type(value) is dict else value
    elif kind.__module__ == scope.get("__name__"):
        held += vars(kind).values()
    elif kind is property:
        held += [value.fget, value.fset]
    else:  # partial, a method, a cached function
        held += [inspect.getattr_static(value, name, None) for name in _WRAPPED]
        held = [one for one in held if isinstance(one, FunctionType)]
    inner = (_functions_in(one, scope, levels - 1) for one in held if levels)
    return [function for functions in inner for function in functions]


_WRAPPED = ("__func__", "__wrapped__", "func")


def _held_by(function: FunctionType) -> Iterator[tuple[Any, str, Any]]:
    scope = function.__globals__
    for name in {name for code in nested(function.__code__) for name in code.co_names}:
        yield scope, name, scope.get(name, _BUILT_IN)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield cell, name, cell.cell_contents
        except ValueError:
            continue  # a name that has no value yet


_FOREIGN = {"cupy", "jax", "numba", "numexpr", "pandas", "polars", "scipy", "sklearn", "torch"}
LONGEST = 60  # characters of a line that an error repeats
MANY = 10_000  # steps: then something walks over single elements, also without a loop of its own
WAITS = 0.9  # of its time a function computed less than that: it slept, or waited for something


def run(
    f: Callable[..., Any], arrays: tuple[Any, ...], cache: Cache, limits: Limits, record: bool
) -> dict[str, Any]:
    """Call ``f(*arrays)`` on traced arrays; return what a Golf says of the run, by its fields."""
    function, name = as_function(f)
    given = bind(f, name, arrays)
    recorder = Recorder() if record else None
    trace = Trace(TracedArray, cache, limits, function.__code__ if function else None, recorder)
    inputs: dict[int, Any] = {}

    def enter(value: Any, label: str) -> Any:
        if not isinstance(value, ndarray):
            return value
        if id(value) not in inputs:
            inputs[id(value)] = trace.add_input(value, label)
            if recorder is not None:
                place = next(i for i, one in enumerate(arrays) if one is value)
                recorder.add_input(inputs[id(value)], label, place)
        return inputs[id(value)]

    args, kwargs = entered(given, enter)
    if not inputs:
        raise TypeError(f"golf({name}): give at least one NumPy array for {name} to work on")
    try:
        with recorder or nullcontext(), traced(trace, function, stand_ins(trace)) as held:
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
        if function is not None and not may_loop(function) and len(trace) < MANY:
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
) -> dict[str, Any]:
    try:
        values = answer.values() if isinstance(answer, dict) else (answer,)
        found = arrays_in(trace.raw(list(values)))
    except RecursionError:
        raise _error(trace, f"{name} gives a list that holds itself; return an array") from None
    program = trace.recorder.program(answer) if trace.recorder is not None else None
    buffers = [trace.meet(array, "the result") for array in found]
    made = list(dict.fromkeys(b for b in buffers if not b.source))
    for number, buffer in enumerate(made, 1):
        buffer.label.name = "result" if len(made) == 1 else f"result{number}"
    sources = list(dict.fromkeys(array.buffer for array in inputs))
    minimum = sum(b.read.bytes() + b.written.bytes() for b in sources)
    for buffer in made:  # what it returns and has written: fresh zeros move nothing
        own = (array for array, its in zip(found, buffers) if its is buffer)
        returned = Coverage(*own, lines=buffer.origin % LINE)
        minimum += min(returned.bytes(), buffer.written.bytes())
    trace.cache.flush()
    steps = trace.steps()
    moved = sum(step.bytes for step in steps)
    return {
        "bytes": moved, "minimum": min(minimum, moved),  # an index may name a byte twice
        "steps": steps, "result": _plain(trace, answer), "name": name,
        "elements": max(1, *(array.size for array in inputs)),
        "changed": tuple(b.label.name for b in sources if b.changed), "written": written,
        "program": program,
    }  # fmt: skip


def _plain(trace: Trace, answer: Any) -> Any:
    """The answer in plain arrays that share nothing with the caller's."""
    if type(answer) is trace.kind:
        return np.copy(answer.array) if answer.buffer.borrowed else answer.array
    if type(answer) in (tuple, list):
        return type(answer)(_plain(trace, value) for value in answer)
    if type(answer) is dict:
        return {key: _plain(trace, value) for key, value in answer.items()}
    return unfollowed(answer) if is_number(answer) else answer
