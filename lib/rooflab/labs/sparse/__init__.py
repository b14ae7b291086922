"""Sparsity and quantised weights: fewer bytes a weight, and the instructions that unpack them."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
