"""Show: figures, live pictures, and the words that say what they show."""

from __future__ import annotations

from rooflab.lazy import attach

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
__getattr__, __dir__, __all__ = attach(__name__, _HOME)
