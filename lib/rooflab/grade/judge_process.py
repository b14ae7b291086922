"""Judges in processes of their own, for answers that come back as programs.

Byte golf's judge runs NumPy calls that a learner's process wrote down, and that of schedules does
transformations of loops. They can do nothing but compute; but they may ask for all the memory, or
for hours. So they run in a process that has less of both, and that is killed and replaced if it
fails. It never sees a learner's code.
"""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection

from rooflab.exercises.exercise import Case, Exercise, Observation
from rooflab.exercises.judge import judge
from rooflab.exercises.registry import exercises
from rooflab.exercises.verdict import Verdict, failed
from rooflab.grade.inside.limits import ONE_THREAD, processes

TOO_MUCH = {  # kind of exercise that is judged apart → what is said where that cannot be done
    "golf": "its NumPy calls could not be run once more: they took too much memory or time",
    "schedule": "its loops could not be judged: they took too much memory or time",
    "kernel": "its kernel could not be judged: it took too much memory or time",
}
SECONDS = 45.0  # of processor time for all cases of an exercise; golf itself stops each one sooner
LONGEST = 6 * SECONDS  # by the clock
LOOK_S = 1.0  # between two looks at the processor time
MEMORY = 8 << 30  # bytes of address space: NumPy's libraries alone take 1 or 2 GB of it
TRIES = 2  # when a process dies, perhaps for another one's sake
Judge = Callable[[Exercise, Sequence[Case], Sequence[Observation]], Verdict]


@dataclass(frozen=True)
class _Process:
    process: subprocess.Popen[bytes]
    ours: Connection

    @classmethod
    def start(cls) -> _Process:
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", _RUN, *sys.path, str(number)],
                pass_fds=[number], stdin=subprocess.DEVNULL, env=os.environ | ONE_THREAD,
            )  # fmt: skip
        return cls(process, Connection(ours.detach()))

    def answers(self) -> bool:
        """Wait for an answer; False when the time for it is over."""
        began, computed = time.monotonic(), self._computed()
        while not self.ours.poll(LOOK_S):
            if self._computed() - computed > SECONDS or time.monotonic() - began > LONGEST:
                return False
        return True

    def _computed(self) -> float:
        found = processes().get(self.process.pid)
        return found.seconds if found else 0.0  # it has ended, and so will the wait

    def end(self) -> None:
        self.ours.close()
        self.process.kill()
        self.process.wait()


_RUN = (
    "import sys; sys.path[:] = sys.argv[1:-1]; "
    "from rooflab.grade.judge_process import serve; serve(int(sys.argv[-1]))"
)


@contextmanager
def judging() -> Iterator[Judge]:
    """Give a judge that any thread may call; its processes end with the body."""
    idle: queue.LifoQueue[_Process] = queue.LifoQueue()

    def apart(exercise: Exercise, cases: Sequence[Case], seen: Sequence[Observation]) -> Verdict:
        if exercise.kind not in TOO_MUCH:
            return judge(exercise, cases, seen)
        for _ in range(TRIES):
            told = _asked(idle, json.dumps([exercise.id, cases, seen]).encode())
            if told is None:
                break
            found = json.loads(told or "null")
            if found and "fault" in found:
                raise RuntimeError(found["fault"])
            if found:
                return Verdict(**found)
        return failed(exercise, TOO_MUCH[exercise.kind])

    try:
        yield apart
    finally:
        with suppress(queue.Empty):
            while True:
                idle.get_nowait().end()


def _asked(idle: queue.LifoQueue[_Process], question: bytes) -> bytes | None:
    """Return what a process answers: nothing if it dies, None if its time is over."""
    try:
        one = idle.get_nowait()
    except queue.Empty:
        one = _Process.start()
    told: bytes | None = b""
    with suppress(OSError, EOFError):  # it died
        one.ours.send_bytes(question)
        told = one.ours.recv_bytes() if one.answers() else None
    if told:
        idle.put(one)
    else:
        one.end()
    return told


def serve(number: int) -> None:
    """Judge what comes over the socket ``number`` until nobody asks any more."""
    with suppress(ImportError, ValueError, OSError):  # none here, or a lower one is in force
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with Connection(number) as asked, suppress(EOFError, OSError):
        while True:
            id, cases, seen = json.loads(asked.recv_bytes())
            try:
                found = judge(exercises()[id], cases, seen).to_dict()
            except Exception as error:
                found = {"fault": f"{type(error).__name__}: {error}"[:400]}
            asked.send_bytes(json.dumps(found).encode())
