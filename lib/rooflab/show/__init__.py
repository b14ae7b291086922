"""Show: figures, live pictures, and the words that say what they show."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
