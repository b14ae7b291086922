"""Golf: NumPy functions on traced arrays, and the bytes that they move over the memory bus."""

from __future__ import annotations

from rooflab.labs.golf.buffers import GolfError, Untraceable
from rooflab.labs.golf.cache import CACHE
from rooflab.labs.golf.holes import HOLES, Hole
from rooflab.labs.golf.ledger import Step, Trip
from rooflab.labs.golf.score import ChunkSweep, Golf, golf, sweep
from rooflab.labs.golf.trace import Limits

__all__ = [
    "CACHE", "HOLES", "ChunkSweep", "Golf", "GolfError", "Hole", "Limits", "Step", "Trip",
    "Untraceable", "golf", "sweep",
]  # fmt: skip
