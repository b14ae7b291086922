"""How much one submission may use."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Limits of one submission; what is beyond them costs the exercise, never the neighbour.

    ``wall``: seconds for the whole submission, ``cell``: for one cell (after it, only that cell is
    lost); ``cpu``: seconds of processor time of one process; ``memory``: bytes of all its
    processes, and of one's address space; ``processes``; ``threads``: those of all its processes;
    ``files``: bytes of each writable folder and of a file; ``shown``: bytes that one cell may
    print, ``shown_in_all``: all cells.
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


# Process trees, read from /proc: who descends from whom, what they use, and killing them all.


_PAGE = os.sysconf("SC_PAGE_SIZE")
_TRIES = 200


@dataclass(frozen=True)
class Process:
    """A line of /proc: its parent, its threads, the bytes of memory that are its own."""

    parent: int
    threads: int
    memory: int


@dataclass(frozen=True)
class Used:
    """What a tree of processes uses: processes, the threads of all of them, bytes."""

    processes: int
    threads: int
    memory: int


def processes() -> dict[int, Process]:
    """Return every process that can be seen, by its number; zombies are left out."""
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
                found[int(name)] = Process(int(fields[1]), int(fields[17]), own)
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
    threads, memory = (sum(getattr(m, name) for m in members) for name in ("threads", "memory"))
    return Used(len(members), threads, memory)


def kill(pid: int) -> None:
    """Kill one process, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def kill_below(root: int) -> bool:
    """Kill every descendant of ``root``, again and again until none is left; say if that worked.

    They are stopped first, so that none can start another one meanwhile.
    """
    for attempt in range(_TRIES):
        alive = below(processes(), root)
        if not alive:
            return True
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in alive:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(0.001 * min(attempt, 20))
    return False
