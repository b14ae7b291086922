"""Precision: number formats bit by bit, rounding, shared scales, and products in narrow formats."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
