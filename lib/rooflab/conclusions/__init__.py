"""Sentences about a machine, chosen by code from what was measured on it: one module a lesson.

``rl.conclude("01-ratio", …)`` calls the function of that name in ``lesson01.py`` and shows its
sentence as Markdown. A lesson states nothing about the reader's machine in any other way: what
holds on one machine is false on the next, and a test tries each function on simulated ones.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass

from rooflab.count.suggest import unknown


@dataclass(frozen=True)
class Conclusion:
    """A sentence (``text``, Markdown) and the name of the case it was chosen for (``case``)."""

    case: str
    text: str

    def _repr_markdown_(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def cautions(*measured: object) -> str:
    """Return what the clock warned of while ``measured`` was measured, as the end of a sentence.

    A number is never shown without its warning, and a measurement's warning says of which
    operation it is. "" where nothing was to be distrusted.
    """
    told = {
        f"{one.op.label}: {text}" if hasattr(one, "op") else text: None
        for one in measured
        for text in getattr(one, "warnings", ())
    }
    return "".join(f"\n\n*Warning: {text}.*" for text in told)


def conclusions() -> dict[str, Callable[..., Conclusion]]:
    """Every conclusion by its name, in the order of the lessons."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if re.match(r"lesson\d", m.name))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {name: function for module in modules for name, function in module.CONCLUSIONS.items()}


def conclude(name: str, *measured: object, **more: object) -> Conclusion:
    """Return the sentence that what was ``measured`` supports.

    ``name``: the lesson and what it is about, as in "01-ratio"; the functions of
    ``rooflab.conclusions.lessonNN`` say which values they take, and in which units.
    Raises ValueError for another name.
    """
    there = conclusions()
    if name not in there:
        raise unknown("conclusion", name, list(there))
    return there[name](*measured, **more)
