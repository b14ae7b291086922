"""Threads: how many the libraries use, how several start together, and the cores they run on."""

from __future__ import annotations

import ctypes
import itertools
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rooflab.measure.settings import printed

# How many threads the libraries use while something is timed.


def with_threads(what: str, threads: int | None) -> str:
    """Return ``what`` with the thread count behind it, if there is one: "Ryzen 9, 2 threads"."""
    return what if threads is None else f"{what}, {threads} thread{'s' * (threads > 1)}"


@contextmanager
def thread_limit(threads: int | None) -> Iterator[None]:
    """Let every BLAS and OpenMP pool, and numba's if it is loaded, use ``threads`` threads.

    None leaves them alone. The old numbers come back afterwards.
    """
    if threads is None:
        yield
        return
    import scipy.linalg.blas  # noqa: F401  # its pool must be loaded to be limited
    from threadpoolctl import threadpool_limits

    numba = sys.modules.get("numba")
    usual = numba.get_num_threads() if numba else None
    with threadpool_limits(threads):
        try:
            if numba:
                numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
            yield
        finally:
            if numba:
                numba.set_num_threads(usual)


def unlimited() -> str | None:
    """Warn when the BLAS in use cannot be told how many threads to use (Apple's Accelerate)."""
    import scipy.linalg.blas  # noqa: F401
    from threadpoolctl import threadpool_info

    if any(pool["user_api"] == "blas" for pool in threadpool_info()):
        return None
    return "threads not set: this BLAS chooses how many it uses (VECLIB_MAXIMUM_THREADS on macOS)"


# Threads that start together: the stop-watch for work on several cores.


Job = tuple[Callable[..., Any], tuple[Any, ...]]
"""A kernel of roof_kernels and its arguments after the gate."""
_Span = tuple[float, float]  # when a job began and ended, seconds of perf_counter
_Inbox = queue.SimpleQueue[Job | None]  # None ends the worker
_Outbox = queue.SimpleQueue[_Span | BaseException]


class Crew:
    """`size` workers, each with its own core and its own memory; a context manager.

    One worker is the calling thread itself. Several are threads that live as long as the crew, so
    that memory a worker has touched first stays near it; each is bound to a core when the crew
    fills all `cores`, as a free-running thread would now and then share one and halve the result.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._gate = ctypes.c_int64(0)
        self._inboxes: list[_Inbox] = []
        self._outbox: _Outbox = queue.SimpleQueue()
        if size > 1:
            for core in itertools.islice(_cores(size), size):
                inbox: _Inbox = queue.SimpleQueue()
                args = (inbox, self._outbox, core)
                threading.Thread(target=_work, args=args, daemon=True).start()
                self._inboxes.append(inbox)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for inbox in self._inboxes:
            inbox.put(None)

    def time(self, jobs: list[Job]) -> float:
        """Run one gated kernel per worker; seconds from the last arrival to the last departure."""
        gate = ctypes.addressof(self._gate)
        self._gate.value = self.size  # the kernels open it themselves, all at once
        spans = self.run([(function, (gate, *args)) for function, args in jobs])
        return max(end for _, end in spans) - max(start for start, _ in spans)

    def run(self, jobs: list[Job]) -> list[_Span]:
        """Run one job per worker, without a gate; (start, end) of each. Errors are raised here."""
        if self.size == 1:
            return [_timed(*jobs[0])]
        for inbox, job in zip(self._inboxes, jobs, strict=True):
            inbox.put(job)
        spans = []
        for result in [self._outbox.get() for _ in jobs]:
            if isinstance(result, BaseException):
                raise result
            spans.append(result)
        return spans


def _cores(size: int) -> Iterator[int | None]:
    """The cores to bind to, one a worker; None for each where binding is impossible or unwise."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) == size:
            return iter(cores)
    return itertools.repeat(None)


def _timed(function: Callable[..., Any], args: tuple[Any, ...]) -> _Span:
    start = time.perf_counter()
    function(*args)
    return start, time.perf_counter()


def _work(inbox: _Inbox, outbox: _Outbox, core: int | None) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})  # 0 is this thread, not the process
    while (job := inbox.get()) is not None:
        try:
            outbox.put(_timed(*job))
        except BaseException as error:  # handed to the caller, who waits for an answer
            outbox.put(error)


# Processors with several kinds of cores, and which kind a measurement ran on.
#
# A laptop's performance core is up to twice as fast as its efficiency core, and the system moves
# threads between them. A roof of "one core" is the roof of one kind.


DEVICES = Path("/sys/devices")
_INTEL = {"cpu_core": "performance", "cpu_atom": "efficiency", "cpu_lowpower": "low-power"}
_APART = 1.05  # ratio of two capacities or base frequencies that makes two kinds


@dataclass(frozen=True)
class CoreKind:
    """One kind of core: its name, and how many of the system's processors are on such cores.

    A core with hyper-threading is two processors. ``processors`` are the system's numbers, empty
    where it tells only how many there are.
    """

    name: str
    count: int
    processors: frozenset[int] = frozenset()


def core_kinds(devices: Path = DEVICES) -> tuple[CoreKind, ...]:
    """The kinds of cores, fastest first; empty where all are alike or the system does not tell."""
    if sys.platform == "darwin":
        return _macos()
    kinds = _by_counters(devices) or _by_figures(devices / "system" / "cpu")
    return kinds if len(kinds) > 1 else ()


def hybrid_note(
    kinds: tuple[CoreKind, ...], threads: int, seen: tuple[int | None, ...]
) -> str | None:
    """What to say of roofs measured with ``threads``; None where all cores are alike.

    ``seen``: the processors on which the measuring thread was, before and after; None for unknown.
    """
    if not kinds:
        return None
    listed = " and ".join(f"{kind.count} on {kind.name} cores" for kind in kinds)
    here = f"the system counts {sum(kind.count for kind in kinds)} processors, {listed}"
    if threads >= sum(kind.count for kind in kinds):
        return f"{here}; all of them worked together"
    if threads > 1:
        return f"{here}; the system chose which of them the {threads} threads ran on"
    names = {kind.name for kind in kinds for one in seen if one in kind.processors}
    if not set(seen) <= {one for kind in kinds for one in kind.processors}:
        return f"{here}; the system does not tell which kind was measured"
    if len(names) > 1:
        return f"{here}; the thread was moved between them, so the roofs are of neither kind alone"
    name = names.pop()
    article = "an" if name[0] in "aeiou" else "a"
    return f"{here}; the thread was on {article} {name} core before and after"


def processor_now() -> int | None:
    """The processor that this thread is on; None where the system does not tell."""
    try:
        number = ctypes.CDLL(None).sched_getcpu()
    except (AttributeError, OSError, TypeError):  # macOS, Windows
        return None
    return number if number >= 0 else None


def _by_counters(devices: Path) -> tuple[CoreKind, ...]:
    """Linux lists each kind of Intel's hybrid processors as a performance counter of its own."""
    kinds = []
    there = {cpus.parent.name: cpus for cpus in devices.glob("cpu_*/cpus")}
    for counter in [*_INTEL, *sorted(there.keys() - _INTEL)]:  # the fastest first
        with suppress(KeyError, OSError, ValueError):
            processors = listed_numbers(there[counter].read_text())
            name = _INTEL.get(counter, counter.removeprefix("cpu_"))
            kinds.append(CoreKind(name, len(processors), processors))
    return tuple(kinds)


def _by_figures(root: Path) -> tuple[CoreKind, ...]:
    """Kinds by capacity (Linux on ARM), else by base frequency; two kinds get their usual names."""
    for name in ("cpu_capacity", "cpufreq/base_frequency"):
        figures = {}
        for path in root.glob(f"cpu[0-9]*/{name}"):
            number = path.relative_to(root).parts[0].removeprefix("cpu")
            with suppress(OSError, ValueError):
                figures[int(number)] = int(path.read_text())
        groups = _groups(figures)
        if len(groups) > 1:
            usual = ("performance", "efficiency") if len(groups) == 2 else None
            names = usual or tuple(f"{figure}-rated" for figure, _ in groups)
            return tuple(
                CoreKind(name, len(found), found)
                for name, (_, found) in zip(names, groups, strict=True)
            )
    return ()


def _groups(figures: Mapping[int, int]) -> list[tuple[int, frozenset[int]]]:
    """Processors whose figures lie close together, highest first."""
    groups: list[tuple[int, set[int]]] = []
    for number in sorted(figures, key=lambda n: (-figures[n], n)):
        if groups and groups[-1][0] < _APART * figures[number]:
            groups[-1][1].add(number)
        else:
            groups.append((figures[number], {number}))
    return [(figure, frozenset(found)) for figure, found in groups]


def _macos() -> tuple[CoreKind, ...]:
    levels = printed("sysctl", "-n", "hw.nperflevels")
    if not levels.isdigit() or int(levels) < 2:
        return ()
    kinds = []
    for level in range(int(levels)):
        name, count = (
            printed("sysctl", "-n", f"hw.perflevel{level}.{key}") for key in ("name", "logicalcpu")
        )
        if count.isdigit():
            kinds.append(CoreKind(name.lower() or f"level {level}", int(count)))
    return tuple(kinds)


def listed_numbers(text: str) -> frozenset[int]:
    """ "0-3,8" -> {0, 1, 2, 3, 8}, as Linux lists processors."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
