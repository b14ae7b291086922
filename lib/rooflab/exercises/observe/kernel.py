"""Kernels: write down the text of the learner's function; nothing of it runs here."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType

from rooflab.exercises.observe.observation import Case, Observation, observe


def run(case: Case, answer: Callable[..., object]) -> Observation:
    """Return the text of ``answer``, with the numbers and functions that it uses."""
    return observe(lambda: text_of(answer))


def text_of(kernel: object) -> str:
    """Return one text: numbers and functions from outside, each once, and last the kernel.

    Raises ValueError for what is no function, or one whose source is not known.
    """
    function = getattr(kernel, "py_func", kernel)  # of Numba's dispatcher
    if type(function) is not FunctionType:
        raise ValueError("a kernel is wanted: a function of one thread, defined with def")
    parts: dict[str, str] = {}
    _collect(function, parts)
    return "\n".join(parts.values())


def _collect(function: FunctionType, parts: dict[str, str]) -> None:
    outside = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    name = function.__name__
    parts[name] = ""
    for used in (*function.__code__.co_names, *function.__code__.co_freevars):
        value = outside.get(used)
        value = getattr(value, "py_func", value)
        if used in parts:
            continue
        if type(value) in (int, float, bool, tuple):
            parts[used] = f"{used} = {value!r}"
        elif type(value) is FunctionType and used != "cuda":
            _collect(value, parts)
    del parts[name]  # it stands after all that it uses
    try:
        parts[name] = textwrap.dedent(inspect.getsource(function))
    except OSError:
        raise ValueError(f"the source of {name} is not known: define it in a cell") from None
