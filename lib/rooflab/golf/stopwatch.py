"""The real time of what was traced: untraced calls on cold arrays, set back after every call."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from rooflab.measure.cold import evictor
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import time_cold

if TYPE_CHECKING:
    from rooflab.golf.score import Golf


def prepared(
    golf: Golf, copies: dict[int, ndarray] | None = None
) -> tuple[Callable[[], Any], Callable[[], None]]:
    """Return a call of the untraced function and what sets its arrays back.

    Only the inputs that the traced run wrote to are copied, into ``copies`` (by id of the
    original), which functions that are called in turns share: set back before each call.
    """
    if golf.function is None:
        raise ValueError(f"{golf.name}: this Golf was made without its function; run rl.golf again")
    copies = {} if copies is None else copies
    written = {id(golf.arguments[i]): golf.arguments[i] for i in golf.written}
    for key, original in written.items():
        if key not in copies:
            copies[key] = np.copy(original, order="K")
    mine = [copies[id(value)] if id(value) in written else value for value in golf.arguments]

    def call() -> Any:
        return golf.function(*mine)

    def set_back() -> None:
        for original, copy in zip(golf.arguments, mine):
            if isinstance(copy, ndarray) and copy is not original:
                np.copyto(copy, original)

    return call, set_back


def timed(golf: Golf, *, threads: int | None, samples: int, seconds: float) -> float:
    """Median seconds of one call; caches emptied and arrays set back before each."""
    with thread_limit(threads):
        call, set_back = prepared(golf)
        evict = evictor(0, threads or 1)

        def before() -> None:
            set_back()
            evict()

        return time_cold([call], before, samples=samples, seconds=seconds).median_s


def in_turn(golfs: Sequence[Golf], *, rounds: int, threads: int | None = 1) -> tuple[float, ...]:
    """Median seconds of each, timed in turns, so that a busy moment slows all of them alike."""
    with thread_limit(threads):
        copies: dict[int, ndarray] = {}
        ready = [prepared(golf, copies) for golf in golfs]
        evict = evictor(0, threads or 1)
        found: list[list[float]] = [[] for _ in golfs]
        for call, set_back in ready:  # pages, threads and code before the clock
            set_back()
            call()
        for _ in range(rounds):
            for times, (call, set_back) in zip(found, ready):
                set_back()
                evict()
                gc.collect(0)
                start = perf_counter_ns()
                call()
                times.append((perf_counter_ns() - start) * 1e-9)
    return tuple(statistics.median(times) for times in found)
