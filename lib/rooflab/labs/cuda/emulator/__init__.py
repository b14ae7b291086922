"""A CUDA emulator: per-thread Python kernels over NumPy, with traffic counted and faults found."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
