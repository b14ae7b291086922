"""Caches: what a loop nest moves between the levels of a simulated hierarchy."""

from __future__ import annotations

from rooflab.lazy import attach

_HOME = {
    **dict.fromkeys(("AccessStream", "Guard", "Reference"), "rooflab.labs.cache.stream"),
    "gemm_stream": "rooflab.labs.cache.nests",
    **dict.fromkeys(("Cache", "Hierarchy"), "rooflab.labs.cache.hierarchy"),
    "Ledger": "rooflab.labs.cache.ledger",
    "simulate": "rooflab.labs.cache.simulator",
    **dict.fromkeys(("tile_ledger", "gemm_bounds", "smallest_cache"), "rooflab.labs.cache.formula"),
    **dict.fromkeys(("turn_cost", "TurnCost"), "rooflab.labs.cache.two_costs"),
    "tiles": "rooflab.labs.cache.tiles_picture",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOME)
