"""CUDA lab: kernels in an emulator and in NVIDIA's compiler, their pictures, and a small CuPy."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
