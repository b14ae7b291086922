"""A core that is known: its latency, its line-fill buffers, its stream."""

from __future__ import annotations

from rooflab.labs.memory.concurrency import Concurrency, Run

LATENCY = 80e-9
CHAINS = (1, 2, 4, 8, 16, 32)


def core(buffers: float, stream: float, threads: int = 1) -> Run:
    """A core that has ``buffers`` places for lines on their way."""
    hops = tuple((LATENCY * max(1.0, k / buffers),) for k in CHAINS)
    return Run(threads, hops, (stream,))


def found(buffers: float = 10, stream: float = 12e9, together: float | None = 30e9) -> Concurrency:
    runs = [core(buffers, stream)]
    if together is not None:
        runs.append(core(buffers, together, 4))
    return Concurrency("dram", 2**28, CHAINS, tuple(runs), name="A core")
