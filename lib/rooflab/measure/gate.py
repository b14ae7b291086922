"""A gate in the GPU's queue: a kernel that only waits, and holds back what is queued behind it.

Python takes some microseconds to queue a kernel. A GPU that has finished by then waits for the
next one, and a clock that runs between two kernels shows Python's time. Behind a gate all work is
queued before its first kernel starts, so the clock shows the GPU's time, however short.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import perf_counter
from types import ModuleType

import numpy as np

from rooflab.measure.timing import Call

MOST_S = 20e-3  # that a gate stays shut: nobody notices, and no driver takes it for a hang
LEAST_S = 50e-6
MARGIN = 1.5  # times what queueing is expected to take
QUEUE = 1000  # kernels that a queue holds (1024 today) before queueing one more has to wait
QUICKEST_S = 1.5e-6  # no way of queueing a kernel through CuPy is faster
GROUP_S = QUEUE * QUICKEST_S
"""Seconds of queueing behind one gate: in less time than this no queue can be filled."""
TRIES = 3  # turns to look at, and gates to try

SPIN = r"""
// Waits until both have passed: nanoseconds of the GPU's own time, and cycles of its clock.
extern "C" __global__ void rooflab_spin(unsigned long long nanoseconds, long long cycles) {
    unsigned long long began, now;
    const long long first = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
    do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); }
    while (now - began < nanoseconds || clock64() - first < cycles);
}
"""


class Gate:
    """A gate in the current stream of CuPy (``xp``); it is compiled when it is made."""

    def __init__(self, xp: ModuleType) -> None:
        self._stream = xp.cuda.get_current_stream()
        self._kernel = xp.RawKernel(SPIN, "rooflab_spin")
        self._elapsed = xp.cuda.get_elapsed_time
        self._shut, self._passed, self._finished = (xp.cuda.Event() for _ in range(3))
        self.close(0.0)

    def close(self, seconds: float) -> None:
        """Queue a gate that opens ``seconds`` after the GPU has come to it, MOST_S at most."""
        self.spin(min(seconds, MOST_S))
        self._passed.record(self._stream)

    def spin(self, seconds: float, cycles: int = 0) -> None:
        """Queue the waiting kernel for ``seconds`` and for ``cycles`` of the GPU's clock."""
        self._kernel((1,), (1,), (np.uint64(round(seconds * 1e9)), np.int64(cycles)))

    @property
    def is_open(self) -> bool:
        """Whether the GPU has come through the gate closed last."""
        return bool(self._passed.done)

    def run(self, turns: Sequence[Call], while_busy: Call | None = None) -> float:
        """Queue ``turns`` behind gates, as many behind each as a queue holds, and wait for them.

        ``while_busy`` is called when the last one is queued. Returns 0.0 if the GPU never had to
        wait for Python, else the seconds that Python takes for a turn.
        """
        each = self._queueing_s(turns)
        size = max(1, int(GROUP_S / each))
        late = False
        for first in range(0, len(turns), size):
            last = first + size >= len(turns)
            late |= not self._group(turns[first : first + size], each, while_busy if last else None)
        return each if late else 0.0

    def _queueing_s(self, turns: Sequence[Call]) -> float:
        """Seconds of Python for one of ``turns``, of which a few run untimed."""
        took: list[float] = []
        while len(took) < min(len(turns), TRIES) and sum(took) < GROUP_S:
            began = perf_counter()
            turns[len(took)]()
            took.append(perf_counter() - began)
        self._stream.synchronize()
        return max(median(took), 1e-9)

    def _group(self, turns: Sequence[Call], each: float, while_busy: Call | None) -> bool:
        """Run ``turns`` behind one gate, again behind a longer one if it opened too early.

        Returns whether the GPU was kept busy: the gate was still shut when all were queued, or
        the GPU had as much work left then as queueing had taken. The GPU's own clock tells how
        long it worked in all, whatever Python did meanwhile.
        """
        seconds = max(LEAST_S, MARGIN * each * len(turns))
        for _ in range(TRIES):
            began = perf_counter()
            self._shut.record(self._stream)
            self.close(seconds)
            for turn in turns:
                turn()
            self._finished.record(self._stream)
            queueing_s, ahead = perf_counter() - began, not self.is_open
            if while_busy is not None:
                while_busy()
            self._stream.synchronize()
            if ahead or 1e-3 * self._elapsed(self._shut, self._finished) >= 2 * queueing_s:
                return True
            if seconds >= MOST_S:
                break
            seconds *= 2
        return False
