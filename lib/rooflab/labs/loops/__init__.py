"""Loops: nests as text, transformations, exact legality with a counterexample, generated code."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
