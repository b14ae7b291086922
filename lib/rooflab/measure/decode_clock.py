"""A clock for a loop of many operations: each is marked as it ends, and nothing is left untimed.

On a GPU the marks are CUDA events in the queue, read once all of them have passed, so that timing
an operation does not hold up the next one. The operations of one token are so short that Python
queues them more slowly than the GPU runs them. So they wait behind gates (gate.py): the marks show
the GPU's time, and what Python took is told beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter, perf_counter_ns
from typing import Any

from rooflab.measure.backend import Backend
from rooflab.measure.gate import GROUP_S, LEAST_S, MARGIN, MOST_S, Gate
from rooflab.measure.gpu import EVENT_STEP_S
from rooflab.measure.timing import clock_step_s


@dataclass
class Clock:
    """Call :meth:`start`, then the clock itself with an operation's name whenever one has ended.

    ``queueing``: seconds that Python took to queue each run that was read, all of them 0 on a CPU.
    ``late``: in how many of these runs the GPU may have waited for Python.
    """

    backend: Backend
    marks: list[tuple[str | None, Any]] = field(default_factory=list)
    queueing: list[float] = field(default_factory=list)
    late: int = 0
    _shut_s: float = max(LEAST_S, MARGIN * GROUP_S)
    _queued_s: float = 0.0
    _waited: bool = False
    _since: float = 0.0

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
        self.marks, self._queued_s, self._waited = [], 0.0, False
        if self.backend.is_gpu:
            self._close()
        self("")

    def __call__(self, name: str) -> None:
        self.marks.append((name, self._now()))
        if self.backend.is_gpu and perf_counter() - self._since >= GROUP_S:
            self._pass()  # the queue may soon be full, and Python would wait before a shut gate
            self._close()
            self.marks.append((None, self._now()))

    def _now(self) -> Any:
        if not self.backend.is_gpu:
            return perf_counter_ns()
        event = self.backend.xp.cuda.Event()
        event.record(self.backend.xp.cuda.get_current_stream())
        return event

    @cached_property
    def _gate(self) -> Gate:
        return Gate(self.backend.xp)

    def _close(self) -> None:
        self._gate.close(self._shut_s)
        self._since = perf_counter()

    def _pass(self) -> None:
        """Wait until all that is queued has run, and see whether the gate stayed shut long enough.

        If not, the next one does, unless the GPU had as much work left as queueing had taken.
        """
        early, took = self._gate.is_open, perf_counter() - self._since
        self._queued_s += took
        began = perf_counter()
        self.marks[-1][1].synchronize()
        if early and perf_counter() - began < took:
            self._waited = True
            self._shut_s = min(2 * self._shut_s, MOST_S)

    def seconds(self) -> dict[str, float]:
        """Seconds by name since :meth:`start`, an operation that ran often with all its runs."""
        found: dict[str, float] = {}
        if self.backend.is_gpu:
            self._pass()
            self.late += self._waited
        self.queueing.append(self._queued_s)
        before = self.marks[0][1]
        for name, at in self.marks[1:]:
            if name is not None:  # None: a gate stood here, which is nobody's time
                found[name] = found.get(name, 0.0) + self._between(before, at)
            before = at
        return found

    def _between(self, before: Any, after: Any) -> float:
        if self.backend.is_gpu:
            return self.backend.xp.cuda.get_elapsed_time(before, after) * 1e-3
        return (after - before) * 1e-9


def unmarked(name: str) -> None:
    """A mark that no clock reads."""
