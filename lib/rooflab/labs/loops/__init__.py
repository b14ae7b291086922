"""Loops: nests as text, transformations, exact legality with a counterexample, generated code."""

from __future__ import annotations

from rooflab.lazy import attach

_HOME = {
    "Nest": "rooflab.labs.loops.nest",
    "Verdict": "rooflab.labs.loops.legality.verdict",
    "Instance": "rooflab.labs.loops.legality.points",
    "Arrow": "rooflab.labs.loops.legality.points",
    "space": "rooflab.labs.loops.pictures.space",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOME)
