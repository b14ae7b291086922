"""Golf: NumPy functions on traced arrays, and the bytes that they move over the memory bus."""

from rooflab.golf.buffers import GolfError, Untraceable
from rooflab.golf.cache import CACHE
from rooflab.golf.holes import HOLES, Hole
from rooflab.golf.ledger import Step, Trip
from rooflab.golf.score import ChunkSweep, Golf, golf, sweep
from rooflab.golf.trace import Limits

__all__ = [
    "CACHE", "HOLES", "ChunkSweep", "Golf", "GolfError", "Hole", "Limits", "Step", "Trip",
    "Untraceable", "golf", "sweep",
]  # fmt: skip
