"""Run a command and watch its processes: memory, time, and what is left of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from rooflab.grade.inside import limits

STEP = 0.1  # seconds between two looks
GONE = 10.0  # seconds that processes may take to go after the end


@dataclass(frozen=True)
class Watched:
    """What was seen of a run.

    ``outside``, ``inside``: most bytes at a time of its processes outside of sandboxes and in them
    (PSS: shared pages count once); ``left``: processes that were there ten seconds after its end;
    ``killed``: by us; ``code``: its exit code; ``said``: what it printed.
    """

    seconds: float
    code: int
    killed: bool
    outside: int
    inside: int
    left: int
    said: str


def watch(
    command: Sequence[str],
    *,
    mark: Path | None = None,
    more: Mapping[str, str] | None = None,
    kill_after: float = float("inf"),
    memory: bool = True,
    look: Callable[[float], bool] = lambda seconds: False,
) -> Watched:
    """Run ``command`` to its end, or kill -9 it after ``kill_after`` seconds, or when told to.

    ``mark``: a folder of its own for temporary files; a process that names it belongs to the run.
    ``more``: more environment. ``look`` is called ten times a second with the seconds since the
    start; when it returns True, the run is killed. Processes that stay are counted, then killed.
    """
    place = {} if mark is None else {"TMPDIR": str(mark)}
    seen: dict[int, psutil.Process] = {}
    most, killed, begin = [0, 0], False, time.monotonic()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            env={**os.environ, **place, **(more or {})},
        )  # fmt: skip
        while process.poll() is None:
            family = limits.below(limits.processes(), process.pid)
            for pid in family - seen.keys():
                with contextlib.suppress(psutil.Error):
                    seen[pid] = psutil.Process(pid)
            if memory:
                most = [max(*pair) for pair in zip(most, _memory([process.pid, *family]))]
            now = time.monotonic() - begin
            if look(now) or now >= kill_after:
                process.send_signal(signal.SIGKILL)
                killed = True
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STEP)
        seconds = time.monotonic() - begin
        left = _left(seen.values(), mark)
        log.seek(0)
        said = log.read().decode("utf-8", "replace")
    return Watched(seconds, process.returncode, killed, *most, left, said)


def _memory(pids: Iterable[int]) -> tuple[int, int]:
    """Bytes (PSS) of the processes outside of sandboxes and of those in one."""
    ours, found = _world(os.getpid()), [0, 0]
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            pss = next(line for line in text.splitlines() if line.startswith("Pss:"))
            found[_world(pid) != ours] += 1024 * int(pss.split()[1])
    return found[0], found[1]


def _world(pid: int) -> str:
    """Which processes it can see: those in a sandbox have a world of their own."""
    return os.readlink(f"/proc/{pid}/ns/pid")


def _left(seen: Iterable[psutil.Process], mark: Path | None) -> int:
    """Count the processes that are still there, and end them."""
    until, seen = time.monotonic() + GONE, list(seen)
    while True:
        alive = {*filter(_alive, seen), *(_knowing(mark) if mark else ())}
        if not alive:
            return 0
        if time.monotonic() > until:
            for process in alive:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            return len(alive)
        psutil.wait_procs(list(alive), timeout=STEP)


def _alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):  # is_running knows a number that was given again
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _knowing(mark: Path) -> set[psutil.Process]:
    """Processes whose command, environment or folder names ``mark``."""
    word, found = os.fsencode(mark), set()
    for pid in set(psutil.pids()) - {os.getpid()}:
        told = b""
        for part in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                told += Path(f"/proc/{pid}/{part}").read_bytes()
        with contextlib.suppress(OSError):
            told += os.fsencode(os.readlink(f"/proc/{pid}/cwd"))
        with contextlib.suppress(psutil.Error):
            if word in told and _alive(process := psutil.Process(pid)):
                found.add(process)
    return found
