"""Fusion: the same arithmetic with fewer bytes, and recomputing instead of keeping."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
