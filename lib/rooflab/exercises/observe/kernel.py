"""Kernels: write down the text of the learner's function; nothing of it runs here."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

from rooflab.exercises.observe.observation import Case, Observation, observe


@dataclass(frozen=True)
class CudaText:
    """CUDA C++ where a function stands otherwise: the answer of an exercise as a text."""

    text: str

    def __call__(self) -> str:
        """Return the text."""
        return self.text


def run(case: Case, answer: Callable[..., object] | str) -> Observation:
    """Return the text of ``answer``, with the numbers and functions that it uses.

    A text in which ``...`` stands for code is no answer yet.
    """
    seen = observe(lambda: text_of(answer))
    return {"missing": True} if _unfinished(str(seen.get("value", ""))) else seen


def _unfinished(text: str) -> bool:
    try:
        nodes = ast.walk(ast.parse(text))
    except SyntaxError:  # CUDA C++
        return "..." in re.sub(r"(?s)//[^\n]*|/\*.*?\*/", "", text)
    return any(isinstance(node, ast.Constant) and node.value is ... for node in nodes)


def text_of(kernel: object) -> str:
    """Return one text: numbers and functions from outside, each once, and last the kernel.

    CUDA C++ is a text already.

    Raises ValueError for what is no function, or one whose source is not known.
    """
    if type(kernel) in (str, CudaText):
        return kernel if type(kernel) is str else kernel()
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
