"""``rl.live``: pictures that move in the browser, each found where its subject lives."""

from __future__ import annotations

import importlib

from rooflab.optional import installed

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
__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rooflab.live' has no attribute {name!r}")
    with installed(f"rooflab.live.{name}"):
        return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
