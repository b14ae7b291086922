"""How much one submission may use."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

MIB = 1 << 20
# Of the libraries that compute: processor time is then that of the answer, on any machine.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Limits:
    """Limits of one submission. What exceeds them costs it an exercise, and nobody else.

    ``wall``: seconds for the whole submission; ``cell``: seconds of processor time for one cell,
    after which only that cell is lost, as after six times as many by the clock; ``cpu``: seconds
    of processor time of one process; ``memory``: bytes of all its processes together, and of the
    address space of each; ``processes``: their number; ``threads``: of all its processes together;
    ``files``: bytes of each writable folder and of one file; ``shown``: bytes that one cell may
    print; ``shown_in_all``: bytes that all may print.
    """

    wall: float = 45.0
    cell: float = 10.0
    cpu: int = 60
    memory: int = 4096 * MIB
    processes: int = 32
    threads: int = 128
    files: int = 64 * MIB
    shown: int = 1 * MIB
    shown_in_all: int = 8 * MIB

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise ValueError(f"{name}={value!r} must be a positive number")

    def under_load(self) -> Limits:
        """Return them with a ``wall`` that grows with the load of this machine."""
        try:
            busy = os.getloadavg()[0] / (os.cpu_count() or 1)
        except OSError:  # the system does not report it
            return self
        return replace(self, wall=self.wall * max(1.0, math.ceil(busy)))


# Process trees, read from /proc: who descends from whom, what they use, and killing them all.
#
# psutil is not used for it, because the fork server looks every 50 ms beside what is measured. A
# look at 50 processes of one submission took 0.7 ms of processor time here and 2.8 ms by
# ``psutil.Process.children(recursive=True)``. With 8 submissions of 6 processes it was 0.8 ms
# against 6.1 ms, since psutil reads the whole table again for each submission.


_PAGE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
_TRIES = 200


@dataclass(frozen=True)
class Process:
    """One process: its parent, its number of threads, the bytes of memory of its own, and the
    seconds of processor time that it and its children that have ended took."""

    parent: int
    threads: int
    memory: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Used:
    """What a process tree uses: its processes, all their threads, bytes of memory, seconds."""

    processes: int
    threads: int
    memory: int
    seconds: float = 0.0


def processes() -> dict[int, Process]:
    """Return every visible process by its pid, without zombies."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            with open(f"/proc/{name}/statm", "rb") as file:
                _, resident, shared, *_ = map(int, file.read().split())
            if fields[0] not in (b"Z", b"X"):
                own = max(0, resident - shared) * _PAGE
                ticks = sum(map(int, fields[11:15]))
                found[int(name)] = Process(int(fields[1]), int(fields[17]), own, ticks / _TICKS)
    return found


def below(table: Mapping[int, Process], root: int) -> set[int]:
    """Return the descendants of ``root``, without it."""
    children: dict[int, list[int]] = {}
    for pid, process in table.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    todo = [root]
    while todo:
        todo += (new := [c for c in children.get(todo.pop(), ()) if c not in found])
        found.update(new)
    return found


def used(table: Mapping[int, Process], root: int) -> Used:
    """Return what the descendants of ``root`` use together."""
    members = [table[pid] for pid in below(table, root)]
    sums = (sum(getattr(m, name) for m in members) for name in ("threads", "memory", "seconds"))
    return Used(len(members), *sums)


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Kill one process, or send it another signal, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill_below(root: int) -> bool:
    """Kill every descendant of ``root``, again until none is left; return whether that worked.

    All are stopped before any is killed: a process that is stopped cannot start another one.
    """
    for attempt in range(_TRIES):
        alive = below(processes(), root)
        if not alive:
            return True
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in alive:
                kill(pid, number)
        time.sleep(0.001 * min(attempt, 20))
    return False
