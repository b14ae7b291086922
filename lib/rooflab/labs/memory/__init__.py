"""Memory: where data lies, and what it costs in time and in energy to fetch it from there."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
