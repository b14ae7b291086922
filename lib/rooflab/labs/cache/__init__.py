"""Caches: what a loop nest moves between the levels of a simulated hierarchy, and why."""

from __future__ import annotations

import importlib

from rooflab.optional import installed

_HOME = {
    **dict.fromkeys(("AccessStream", "Guard", "Reference"), "rooflab.labs.cache.stream"),
    **dict.fromkeys(
        ("gemm_stream", "gemv_stream", "elementwise_stream", "transpose_stream", "stencil_stream"),
        "rooflab.labs.cache.nests",
    ),
    **dict.fromkeys(("Cache", "Hierarchy"), "rooflab.labs.cache.hierarchy"),
    "Ledger": "rooflab.labs.cache.ledger",
    "simulate": "rooflab.labs.cache.simulator",
    **dict.fromkeys(
        ("stack_distance", "miss_curve", "smallest_cache"), "rooflab.labs.cache.distances"
    ),
    **dict.fromkeys(("tile_ledger", "footprint", "gemm_bounds"), "rooflab.labs.cache.formula"),
    **dict.fromkeys(("compare", "Comparison"), "rooflab.labs.cache.comparison"),
    **dict.fromkeys(("turn_cost", "TurnCost"), "rooflab.labs.cache.two_costs"),
    "tiles": "rooflab.labs.cache.tiles_picture",
}
__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rooflab.cache' has no attribute {name!r}")
    with installed(f"rooflab.cache.{name}"):
        return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
