"""Loops: nests as text, transformations, exact legality with a counterexample, generated code."""

from __future__ import annotations

import importlib

from rooflab.optional import installed

_HOME = {
    "Nest": "rooflab.labs.loops.nest",
    "Verdict": "rooflab.labs.loops.legality.verdict",
    "Instance": "rooflab.labs.loops.legality.points",
    "Arrow": "rooflab.labs.loops.legality.points",
    "space": "rooflab.labs.loops.space_picture",
}
__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rooflab.labs.loops' has no attribute {name!r}")
    with installed(f"rooflab.loops.{name}"):
        return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
