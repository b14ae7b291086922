"""Do two threads run at once? A shared machine may serialise its cores for seconds at a time.

A measurement with several threads says something about the library only while the machine's own
speed-up is there: the same arithmetic on every core takes as long as on one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from rooflab.measure import roof_kernels
from rooflab.measure.operands import aligned
from rooflab.measure.roof_kernels import host
from rooflab.measure.threads import Crew

ENOUGH = 0.85  # of the threads
TRIES = 6
SECONDS = 0.004  # of the slices that are compared

Result = TypeVar("Result")


class Cores(ExitStack):
    """``threads`` cores, and how many of them run at once; a context manager."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.threads, self.gated = threads, 0
        self._one, self._all = (self.enter_context(Crew(size)) for size in (1, threads))
        self._sinks = [aligned(roof_kernels.lunch_block(host())) for _ in range(threads)]
        self._kernel, _ = roof_kernels.fma_kernel("fp64")
        self._turns = 1000
        self._turns = max(1, int(1000 * SECONDS / self._slice(self._one)))

    def _slice(self, crew: Crew) -> float:
        jobs = [
            (self._kernel, (s.ctypes.data, self._turns, 0.5, 1.0)) for s in self._sinks[: crew.size]
        ]
        return crew.time(jobs)

    def speed_up(self) -> float:
        """Cores' worth of arithmetic that all threads do in the time of one."""
        return self.threads * self._slice(self._one) / self._slice(self._all)

    def free(self) -> bool:
        """Whether every core is ours now."""
        return self.threads == 1 or self.speed_up() >= ENOUGH * self.threads

    def measured(self, take: Callable[[], Result]) -> Result | None:
        """``take()`` while the cores ran at once, before and after; None if they never did."""
        for _ in range(TRIES):
            before = self.free()
            found = take()
            if before and self.free():
                return found
        self.gated += 1
        return None
