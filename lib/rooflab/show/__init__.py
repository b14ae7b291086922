"""Show: figures, live pictures, and the words that say what they show."""

from __future__ import annotations

import importlib

_HOME = {
    "roofline": "rooflab.show.figures",
    "waterfall": "rooflab.show.waterfall_figure",
    "golf": "rooflab.show.golf_figure",
    "pieces": "rooflab.show.golf_curves",
    "scores": "rooflab.show.golf_curves",
    "tokens": "rooflab.show.layer_time",
    "walk": "rooflab.show.layer_walk",
    "Point": "rooflab.show.drawing",
    "Picture": "rooflab.show.drawing",
}
__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rooflab.show' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
