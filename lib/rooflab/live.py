"""``rl.live``: pictures that move in the browser, each found where its subject lives."""

from __future__ import annotations

from rooflab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
