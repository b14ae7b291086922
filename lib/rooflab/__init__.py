"""rooflab: count the FLOPs and bytes of an operation, predict its time, measure it, explain it.

``import rooflab as rl`` gives every name a lesson uses. Names are imported on first use, so that
the import itself stays light (no scipy, matplotlib, ipywidgets, numba or cupy until needed).
"""

from __future__ import annotations

from rooflab.lazy import attach

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach(__name__)
