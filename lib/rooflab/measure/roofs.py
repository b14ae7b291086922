"""The roofs of this machine: its peak FLOP/s, and its bandwidth per memory level and mix."""

from __future__ import annotations

import time
from typing import Any

from rooflab.count.sizes import size
from rooflab.measure.alone import ALONE
from rooflab.measure.backend import select
from rooflab.measure.environment import available_cores, now
from rooflab.measure.progress import Progress, told

SCHEMA = 1


def measure_roofs(
    backend: str | None = "cpu", threads: int | None = None, progress: Progress = True
) -> dict[str, Any]:
    """Measure the roofs and return them as plain JSON data, in SI units, in a few seconds.

    `threads`: CPU threads, None for every core this process may use. `progress`: True draws a bar,
    False nothing; a function is called with the share done, 0 to 1. The result holds "schema",
    "backend", "threads", "measured_on", "seconds" (how long it took), "peak" {dtype: entry},
    "bandwidth" {level: {mix: entry}}, "capacity" {level: bytes the threads hold together} and
    "notes"; an entry is {"value", "samples"} and perhaps "note". A value is the median of the
    three fastest slices, see :mod:`rooflab.measure.ceiling`. Bandwidths count what the operation
    asks for (copy: one read, one write an element), as the byte ledger does.

    Safe to call in a thread: nearly all its time is spent in machine code, outside the GIL.
    Raises ValueError or TypeError for a wrong `backend` or `threads`, RuntimeError for "gpu"
    without one.
    """
    chosen = select(backend, threads)
    count = None if chosen.is_gpu else thread_count(threads)
    began = time.perf_counter()
    with ALONE, told(progress, "measuring the roofs") as tell:
        if chosen.is_gpu:
            from rooflab.measure.gpu_roofs import gpu_roofs

            found = gpu_roofs(chosen, tell)
        else:
            from rooflab.measure.cpu_roofs import cpu_roofs

            found = cpu_roofs(chosen, count, tell)
    return {
        "schema": SCHEMA,
        "backend": chosen.name,
        "threads": count,
        "measured_on": now(),
        "seconds": round(time.perf_counter() - began, 3),
        **found,
    }


def thread_count(threads: object) -> int:
    """`threads` checked, None becoming all cores. Roofs of more threads than cores mean nothing."""
    cores = available_cores()
    if threads is None:
        return cores
    count = size("threads", threads)
    if count > cores:
        raise ValueError(
            f"threads={count}: this process may use {cores} core{'s' * (cores > 1)}; "
            f"give 1{f' to {cores}' * (cores > 1)}, or None for all"
        )
    return count
