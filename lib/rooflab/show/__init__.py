"""Show: figures, live pictures, and the words that say what they show."""

from __future__ import annotations

import importlib

from rooflab.optional import installed

_HOME = {
    "roofline": "rooflab.show.rooflines.figure",
    "waterfall": "rooflab.show.waterfall_picture",
    "golf": "rooflab.labs.golf.picture",
    "pieces": "rooflab.labs.golf.curves",
    "scores": "rooflab.labs.golf.curves",
    "tokens": "rooflab.labs.llm.layer_time",
    "walk": "rooflab.labs.llm.layer_walk",
    "say": "rooflab.show.waiting",
    "Point": "rooflab.show.rooflines.points",
    "Picture": "rooflab.show.figures",
    "Panel": "rooflab.show.figures",
}
__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rooflab.show' has no attribute {name!r}")
    with installed(f"rooflab.show.{name}"):
        return getattr(importlib.import_module(_HOME[name]), name)
