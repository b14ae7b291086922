"""Run locked notebooks: ``with Workshop() as shop: outcome = shop.run(locked)``.

A workshop keeps a loaded process and a loaded sandbox, so that a submission starts in a fraction
of a second; its ``run`` may be called from several threads at once.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat

from rooflab.grade import sandbox
from rooflab.grade.gate import gated
from rooflab.grade.keeper import Setting
from rooflab.grade.limits import Limits
from rooflab.grade.locked import LOST, Locked, Outcome
from rooflab.grade.scratch import make_scratch
from rooflab.grade.trimmed import make_trimmed

DEFAULT = Limits()
GRACE = 60.0  # seconds beyond the wall limit after which the workshop itself counts as dead
START = 120.0
LONGEST_TEXT = 20_000  # characters
MOST_LEVELS = 12
MOST_TRIES = 100  # numbers of tries go no higher


class Workshop:
    """A place to run submissions in; a context manager.

    ``unsafe``: without a sandbox, learners' code can then do whatever you can. ``hidden``: folders
    that must not be seen in the sandbox, the submissions' for instance. Raises NoSandbox with what
    to install where there is no sandbox and ``unsafe`` is not set.
    """

    def __init__(
        self, *, unsafe: bool = False, hidden: Iterable[Path] = (), nested: bool = True
    ) -> None:
        if not unsafe and (why := sandbox.missing()):
            raise sandbox.NoSandbox(why)
        self._scratch = make_scratch()
        course = make_trimmed(self._scratch.path / "course")
        paths = tuple(str(Path(path).resolve()) for path in hidden)
        self._setting = Setting(str(course), nested, unsafe, paths)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False
        self.nested = False
        try:
            self._started()
        except BaseException:
            self.close()
            raise

    @property
    def unsafe(self) -> bool:
        """Whether there is no sandbox."""
        return self._setting.unsafe

    @property
    def process_id(self) -> int:
        """The process below which everything runs."""
        return self._process.pid

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workshop's processes and remove its folder; what still runs comes to nothing."""
        with self._lock:  # nobody may start a process again behind our back
            self._closed = True
            self._ended()
        self._scratch.remove()

    def run(self, locked: Locked, limits: Limits = DEFAULT) -> Outcome:
        """Run one locked notebook to its end, or to the end of what it may use. Never raises for
        anything that the learner's code does."""
        return unpacked(locked, self.ask(packed(locked, limits), limits.wall + GRACE))

    def ask(self, job: bytes, seconds: float) -> bytes:
        """Return what came of a ``job``; b"" if the workshop's process died or was closed."""
        try:
            answer = self._ask(job, seconds)
        except (OSError, EOFError):
            answer = b""
        process = self._process
        if not answer and process is not None:  # let it be dead before the next one asks
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
        return answer

    def _ask(self, job: bytes, seconds: float) -> bytes:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs, self._lock:
                if self._closed:
                    raise EOFError("the workshop is closed")
                self._started()
                socket.send_fds(self._control, [b"job"], [theirs.fileno()])
            ours.settimeout(seconds)
            ours.sendall(len(job).to_bytes(8, "big") + job)
            parts = []
            while part := ours.recv(1 << 20):
                parts.append(part)
            return b"".join(parts)

    def _started(self) -> None:
        """Start the workshop's process, or start it again if something killed it."""
        if self._process is not None and self._process.poll() is None:
            return
        self._ended()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-m", "rooflab.grade.worker", str(theirs.fileno())]
        self._process = subprocess.Popen(
            [*command, json.dumps(vars(self._setting))], pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=self._scratch.path,
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self._control = ours
        ours.settimeout(START)
        hello = json.loads(ours.recv(1 << 16) or b'{"error": "the workshop does not start"}')
        ours.settimeout(None)
        if "error" in hello:
            raise sandbox.NoSandbox(hello["error"])
        self.nested = hello["nested"]

    def _ended(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def packed(locked: Locked, limits: Limits) -> bytes:
    """Return all that a workshop needs in order to run ``locked``, here or on another machine."""
    words = {exercise: locked.word(exercise) for exercise in locked.cases}
    told = {"notebook": nbformat.writes(locked.notebook), "words": words, "limits": vars(limits)}
    return json.dumps(told).encode("utf-8")


def unpacked(locked: Locked, answer: bytes) -> Outcome:
    """Return the outcome that a workshop's ``answer`` stands for."""
    return gated(locked, read_outcome(answer, tuple(locked.cases)))


def read_outcome(answer: bytes, exercises: Iterable[str]) -> Outcome:
    """Put the worker's events together; nothing in them is trusted to be well-formed.

    An answer that was cut off counts as none: what is missing is nobody's mistake.
    """
    head, _, rest = answer.partition(b"\n")
    told = _object(head)
    whole = bool(head) and told.get("size", len(rest)) == len(rest)
    killed, rest = (told.get("killed"), rest) if whole else (LOST, b"")
    observations: dict[str, Any] = {}
    again: dict[str, dict[int, Any]] = {}
    reasons: dict[str, str] = {}
    printed: dict[str, str] = {}
    known = tuple(exercises)
    for line in rest.splitlines():
        event = _object(line)
        exercise = event.get("id")
        if "stopped" in event:
            killed = killed or event["stopped"]
        if exercise not in known:
            continue
        if isinstance(event.get("observations"), list):
            seen = [_clean(each, MOST_LEVELS) for each in event["observations"]]
            number = event.get("try", 0)
            if number == 0:
                observations[exercise] = seen
            elif isinstance(number, int) and number <= MOST_TRIES:
                again.setdefault(exercise, {})[number] = seen
        elif "reason" in event:
            reasons[exercise] = _text(event["reason"])
        elif "printed" in event:
            printed[exercise] = _text(event["printed"])
    late = _text(killed) if killed else "the run ended before this exercise"
    for exercise in known:
        if exercise not in observations:
            reasons.setdefault(exercise, late)
    reasons = {exercise: why for exercise, why in reasons.items() if exercise not in observations}
    return Outcome(observations, reasons, printed, _text(killed) if killed else None, again)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return str(value)[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def _clean(value: Any, levels: int) -> Any:
    """Plain data without what cannot be written as UTF-8 JSON again, and not too deep."""
    if levels == 0:
        return None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_clean(each, levels - 1) for each in value]
    if isinstance(value, dict):
        return {_text(key): _clean(each, levels - 1) for key, each in value.items()}
    return value
