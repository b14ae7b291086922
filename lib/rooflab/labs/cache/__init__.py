"""Caches: what a loop nest moves between the levels of a simulated hierarchy."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
