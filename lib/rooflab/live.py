"""``rl.live``: pictures that move in the browser, each found where its subject lives."""

from __future__ import annotations

from rooflab.lazy import attach

_HOME = {
    "roofline": "rooflab.show.rooflines.live",
    "box": "rooflab.show.rooflines.live",
    "free_lunch": "rooflab.show.free_lunch_picture",
    "morph": "rooflab.show.time_to_roofline",
    "golf": "rooflab.labs.golf.live",
    "film": "rooflab.labs.llm.film.live",
    "layer": "rooflab.labs.llm.linear_layer",
    "mountain": "rooflab.labs.memory.picture",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOME)
