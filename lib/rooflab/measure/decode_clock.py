"""A clock for a loop of many operations: each is marked as it ends, and nothing is left untimed.

On a GPU the marks are CUDA events in the queue, read once all of them have passed, so that timing
an operation does not hold up the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

from rooflab.measure.backend import Backend
from rooflab.measure.gpu import EVENT_STEP_S
from rooflab.measure.timing import clock_step_s


@dataclass
class Clock:
    """Call :meth:`start`, then the clock itself with an operation's name whenever one has ended."""

    backend: Backend
    marks: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What it reads, as recordings say it."""
        return "CUDA events" if self.backend.is_gpu else "perf_counter_ns"

    @property
    def step_s(self) -> float:
        """The smallest difference that it can show, in seconds."""
        return EVENT_STEP_S if self.backend.is_gpu else clock_step_s()

    def start(self) -> None:
        """Forget all marks; time runs from here."""
        self.marks = []
        self("")

    def __call__(self, name: str) -> None:
        self.marks.append((name, self._now()))

    def _now(self) -> Any:
        if not self.backend.is_gpu:
            return perf_counter_ns()
        event = self.backend.xp.cuda.Event()
        event.record(self.backend.xp.cuda.get_current_stream())
        return event

    def seconds(self) -> dict[str, float]:
        """Seconds by name since :meth:`start`, an operation that ran often with all its runs."""
        found: dict[str, float] = {}
        if self.backend.is_gpu:
            self.marks[-1][1].synchronize()
        before = self.marks[0][1]
        for name, at in self.marks[1:]:
            found[name] = found.get(name, 0.0) + self._between(before, at)
            before = at
        return found

    def _between(self, before: Any, after: Any) -> float:
        if self.backend.is_gpu:
            return self.backend.xp.cuda.get_elapsed_time(before, after) * 1e-3
        return (after - before) * 1e-9


def unmarked(name: str) -> None:
    """A mark that no clock reads."""
