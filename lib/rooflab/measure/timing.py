"""The CPU's clock: how long one call takes, with warm or with cold operands.

Warm: the same operands over and over, in an inner loop long enough for the clock. Cold: one call a
sample, every call on operands that no cache holds any more. A GPU has a clock of its own:
:mod:`rooflab.measure.gpu`.

Before sampling, the call runs for `SETTLE_S`. That pages the operands in and lets the processor
reach its frequency. It also outlasts the other BLAS: numpy and scipy each bring an OpenBLAS, whose
idle threads spin for 2**26 cycles (about 25 ms) before they sleep. While they spin, the next call
of the other one is up to 39 times slower.
"""

from __future__ import annotations

import functools
import gc
import itertools
import math
import mmap
import statistics
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from rooflab.measure.backend import available_cores
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.settings import briefer, fewer

SAMPLES = fewer(20)
SECONDS = briefer(0.5)
SAMPLE_S = 2e-3
SETTLE_S = 0.06
STEPS = 20  # a sample must last this many steps of its clock: one step is then 5 %
FEWEST = fewer(3)  # samples of a slow call: a median and a spread need three, a hurry takes two

Call = Callable[[], Any]


@dataclass(frozen=True)
class Timing:
    """Seconds per call, one entry a sample; each sample is the mean of ``inner`` calls.

    ``step_s``: the smallest difference that the clock can show. ``queueing_s``: seconds that Python
    takes to queue a sample's work on a GPU that had to wait for it; 0 where none had to. ``pages``:
    what :func:`pages_a_call` counted meanwhile.
    """

    samples: tuple[float, ...]
    inner: int
    clock: str
    step_s: float
    queueing_s: float = 0.0
    pages: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def median_s(self) -> float:
        """Median seconds per call."""
        return float(np.median(self.samples))


def time_warm(
    call: Call,
    *,
    samples: int = SAMPLES,
    seconds: float = SECONDS,
    sample_s: float = SAMPLE_S,
    settle_s: float = SETTLE_S,
) -> Timing:
    """Time ``call`` on the operands it has just used.

    Takes ``samples`` samples of at least ``sample_s`` seconds, or as many as fit into ``seconds``,
    but never fewer than 3 (2 where ROOFLAB_QUICK is set).
    """
    each = settle([call], settle_s)
    inner = max(1, math.ceil(sample_s / each))
    found: list[float] = []
    with undisturbed():
        before = page_counts()
        end = perf_counter_ns() + seconds * 1e9
        while len(found) < FEWEST or (len(found) < samples and perf_counter_ns() < end):
            turns = itertools.repeat(None, inner)
            start = perf_counter_ns()
            for _ in turns:
                call()
            found.append((perf_counter_ns() - start) * 1e-9 / inner)
        pages = pages_a_call(before, len(found) * inner)
    return Timing(tuple(found), inner, "perf_counter_ns", clock_step_s(), pages=pages)


def time_cold(
    calls: Sequence[Call],
    evict: Call,
    *,
    samples: int = SAMPLES,
    seconds: float = SECONDS,
    settle_s: float = SETTLE_S,
) -> Timing:
    """Time one call a sample, going round ``calls``, which do the same work on different operands.

    ``evict`` runs, untimed, before every round; it must leave none of the operands in a cache.
    The bounds are those of :func:`time_warm`; evicting counts towards neither.
    """
    settle(calls, settle_s)
    found: list[float] = []
    with undisturbed():
        spent, before = 0.0, page_counts()
        while True:
            evict()
            for call in calls:
                start = perf_counter_ns()
                call()
                found.append((perf_counter_ns() - start) * 1e-9)
                spent += found[-1]
                if len(found) >= samples or (spent >= seconds and len(found) >= FEWEST):
                    pages = pages_a_call(before, len(found))
                    return Timing(tuple(found), 1, "perf_counter_ns", clock_step_s(), pages=pages)


def settle(calls: Sequence[Call], seconds: float, least: int = 1) -> float:
    """Run ``calls`` in turn for ``seconds``, at least once each, or where that takes too long
    ``least`` of them; return seconds per call."""
    done = 0
    start = perf_counter_ns()
    turn = itertools.cycle(calls)
    while True:
        next(turn)()
        done += 1
        elapsed = (perf_counter_ns() - start) * 1e-9
        enough = done >= len(calls) or elapsed >= SECONDS
        if elapsed >= seconds and done >= least and enough:
            return max(elapsed / done, 1e-9)


def clock_step_s() -> float:
    """Smallest step between two readings of the clock, reading it included, in seconds."""
    times = [perf_counter_ns() for _ in range(1000)]
    steps = [later - earlier for earlier, later in itertools.pairwise(times) if later > earlier]
    return min(steps, default=1) * 1e-9


_HUGE = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")


def page_counts() -> tuple[int, int]:
    """Return the page faults so far that needed no disk, and the huge pages among them.

    Linux counts the faults of this thread, but huge pages for all programs together. Other systems
    count the faults of the process and have no such pages.
    """
    try:
        import resource
    except ImportError:  # Windows, whose psutil counts them
        import psutil

        return int(getattr(psutil.Process().memory_info(), "num_page_faults", 0)), 0
    whose, huge = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF), "0"
    with suppress(OSError):
        _, _, rest = Path("/proc/vmstat").read_text("ascii").partition("thp_fault_alloc ")
        huge = rest.partition("\n")[0] or "0"
    return resource.getrusage(whose).ru_minflt, int(huge)


def pages_a_call(before: tuple[int, int], calls: int) -> dict[str, float]:
    """Return "page_faults" a call since the counts ``before``, and "new_bytes", the pages' size.

    There are no bytes where the system does not count the faults of a thread.
    """
    faults, huge = (now - then for now, then in zip(page_counts(), before))
    counts = {"page_faults": faults / calls}
    if sys.platform == "linux":
        more = int(_HUGE.read_text("ascii")) - mmap.PAGESIZE if huge and _HUGE.exists() else 0
        counts["new_bytes"] = (mmap.PAGESIZE * faults + more * min(huge, faults)) / calls
    return counts


@contextmanager
def undisturbed() -> Iterator[None]:
    """No garbage collection while something is timed."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def iqr(samples: Sequence[float]) -> float:
    """Interquartile range: how far the middle half of ``samples`` spreads, in their unit."""
    low, high = np.percentile(samples, [25, 75])
    return float(high - low)


# Cold operands: copies are used in turn, and a buffer is read to empty the caches. A written one
# would leave dirty lines behind, and the call being timed would pay for carrying them to memory
# (364 against 294 µs seen for the same call).

MARGIN = 4
"""Times the last-level cache that must pass before operands are used again: caches are not
perfectly least-recently-used, and a core may see several slices of a last level."""
MOST_COPIES = 64
A_CORE = 128 << 20  # bytes that one core reads while evicting; for more, others help


def copies_needed(
    working_set: int, room: int, last_level: int | None = None, calls: int = MOST_COPIES
) -> int:
    """How many sets of operands are used in turn, so that they fill ``MARGIN`` last-level caches.

    At most 64, one a call and what ``room`` bytes hold; at least 1.
    """
    wanted = math.ceil(MARGIN * (last_level or last_level_bytes()) / max(1, working_set))
    return max(1, min(wanted, MOST_COPIES, calls, room // max(1, working_set)))


def flows(passing: int, last_level: int) -> bool:
    """Whether a round of operands of ``passing`` bytes in all pushes its own first ones out."""
    return passing >= MARGIN * last_level


def evictor(
    passing: int, threads: int = 1, last_level: int | None = None
) -> Callable[[], float | None]:
    """Return a function that pushes the operands out of the caches by reading.

    ``passing``: bytes that a round of operands moves through the caches by itself. Where they are
    enough, nothing more is read. With several ``threads`` each reads a part, because operands may
    also lie in the private caches of the other cores. A large buffer is read by all cores.
    """
    level = last_level or last_level_bytes()
    if flows(passing, level):
        return lambda: None
    wanted = MARGIN * level
    buffer, readers = _ones(wanted // 8), max(threads, min(available_cores(), wanted // A_CORE))
    if readers <= 1:
        return lambda: float(np.add.reduce(buffer))
    return lambda: _read_in_parts(np.array_split(buffer, readers))


@functools.lru_cache(maxsize=1)
def _ones(length: int) -> np.ndarray:
    """The buffer to read. It is written, because pages never touched are all one page of zeros."""
    return np.ones(length)


def _read_in_parts(parts: Sequence[np.ndarray]) -> float:
    with ThreadPoolExecutor(len(parts)) as pool:  # NumPy's sums let go of the interpreter lock
        return float(sum(pool.map(np.add.reduce, parts)))


# What a machine can do when nothing disturbs it, estimated from many short slices.
#
# Noise has one sign: other programs, interrupts and a busy host only ever make a slice slower. So
# the fastest slices lie closest to the roof, and likwid-bench and STREAM report their best run. One
# slice alone may be a slip of the clock. The estimate is therefore the median of the three fastest,
# and it is believed when those three agree.

FASTEST = 3


def robust_peak(rates: Sequence[float]) -> float:
    """The median of the three highest `rates` (of all, if there are fewer)."""
    return statistics.median(sorted(rates)[-FASTEST:])


def quickest(seconds: Sequence[float]) -> float:
    """The median of the three lowest ``seconds`` (of all, if there are fewer)."""
    return statistics.median(sorted(seconds)[:FASTEST])


def spread(rates: Sequence[float]) -> float:
    """How far the three highest `rates` lie apart, relative to the highest; inf below three."""
    top = sorted(rates)[-FASTEST:]
    return (top[-1] - top[0]) / top[-1] if len(top) == FASTEST else float("inf")


MEASUREMENT_LOCK = threading.RLock()
"""Held while anything is timed, because two measurements at once would slow each other: a cell may
call ``rl.measure`` while a background thread measures roofs. The libraries' thread counts, which a
measurement sets, also hold for the whole process. Who holds it may take it again."""
