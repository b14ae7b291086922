"""Kernels: write down the text of the learner's function; nothing of it runs here."""

from __future__ import annotations

import ast
import inspect
import math
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


def _collect(function: FunctionType, parts: dict[str, str], name: str = "") -> None:
    """Add the source of ``function``, under the ``name`` that it is called by, after what it uses.

    The kernel itself stands at its line of the cell, where there is room above for the rest.
    """
    outside = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        raise ValueError(
            f"the source of {function.__name__} is not known: define it in a cell"
        ) from None
    source = textwrap.dedent("".join(lines))
    is_kernel, name = not name, name or function.__name__
    parts[name] = ""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    for used in dict.fromkeys(node.id for node in nodes):
        value = outside.get(used)
        value = getattr(value, "py_func", value)
        if used in parts or used == "cuda":
            continue
        if type(value) is FunctionType:
            _collect(value, parts, used)
        elif (constant := _constant(value)) not in ("", used):
            parts[used] = f"{used} = {constant}"
    del parts[name]  # it stands after all that it uses
    above = sum(part.count("\n") + 1 for part in parts.values())
    padding = "\n" * max(0, first - 1 - above) if is_kernel else ""
    parts[name] = padding + source.replace(f"def {function.__name__}(", f"def {name}(", 1)


def _constant(value: object) -> str:
    """A number, or a tuple of them, or a type of NumPy's, as a kernel writes it; or nothing."""
    module = getattr(type(value), "__module__", "")
    if module == "numpy" and hasattr(value, "item") and not getattr(value, "shape", None):
        value = value.item()
    if isinstance(value, type) and value.__module__ == "numpy":
        return value.__name__
    if type(value) is float and not math.isfinite(value):
        return f"float({str(value)!r})"
    if type(value) is tuple and not all(map(_constant, value)):
        return ""
    return repr(value) if type(value) in (int, float, bool, tuple) else ""
