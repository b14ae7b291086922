"""An answer that ``rl.check`` runs comes to an end: by itself, by the clock, or by the stop button.

Where a fork is safe, on Linux, the answer runs in a child process, which is killed when its time is
over (child.py). That ends everything, also one long call into C. Elsewhere, and while a GPU is in
use, the answer runs here, under the clock of byte golf; golf/watchdog.py says what that can stop.
The grader has limits of its own, around the whole process.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from rooflab.exercises import child, collect, plaindata
from rooflab.exercises.exercise import Case, Observation
from rooflab.golf.buffers import Stopped
from rooflab.golf.run import Watch, limited, may_loop

LIMIT_S = 10.0  # for all that a check runs of an answer, together
LEAST_S = 0.01
SLOW = "took longer than"  # for "was stopped after", where there is no loop
BUTTON = "was stopped by the stop button"
ENDED = "ended the process in which rl.check ran it"
_OURS = tuple(module.__file__ for module in (collect, plaindata, contextlib, weakref))


@dataclass
class Ending:
    """How a check has ended: ``over`` says why the answer was stopped, ``pressed`` that a stop
    button was. The time of all its runs together begins with the first."""

    over: str = ""
    pressed: bool = False
    until: float | None = None  # on the monotonic clock

    def observe(self, kind: str, cases: Sequence[Case], answer: object) -> list[Observation]:
        """Return what :func:`rooflab.exercises.collect.collect` does, in the time that is left.

        Cases that had come to their end keep what they gave.
        """
        seen = self._observe(kind, cases, answer)
        if self.over != _too_long() or may_loop(answer):
            return seen
        late, said = {"error": f"Stopped: {self.over}"}, f"Stopped: {SLOW} {LIMIT_S:g} s"
        return [{"error": said} if each == late else each for each in seen]

    def _observe(self, kind: str, cases: Sequence[Case], answer: object) -> list[Observation]:
        if kind == "value" or not callable(answer):  # nothing runs
            return collect.collect(kind, cases, answer)
        collect.runner(kind)  # what is imported here need not be in every child
        if child.possible():
            with contextlib.suppress(OSError):  # no process is to be had
                return self._in_child(kind, cases, answer)
        return self._here(kind, cases, answer)

    def _in_child(self, kind: str, cases: Sequence[Case], answer: object) -> list[Observation]:
        def work(say: child.Say) -> None:
            seen = collect.collect(kind, cases, answer, lambda case: say("case", case) or "")
            say("all", seen)

        seen: list[Observation] = []
        with self._button(self._press), child.Child(work) as running:
            for word, what in running.messages(self._until(), lambda: self.pressed):
                if word == "all" and isinstance(what, list):
                    return what
                if word == "case":
                    seen.append(what)
                else:
                    child.show(word, what)
        if self.pressed:
            self.over = BUTTON
        else:
            self.over = _too_long() if running.late else f"{ENDED} ({running.ended})"
        return [*seen, *({"error": f"Stopped: {self.over}"} for _ in cases)][: len(cases)]

    def _here(self, kind: str, cases: Sequence[Case], answer: object) -> list[Observation]:
        golf = kind == "golf"  # it has a watch of its own
        seen: list[Observation] = []
        with self.pressing() if golf else self.watching():
            seen = collect.collect(kind, cases, answer, lambda _: self.over)
        if not seen:  # what stopped it came between two cases
            seen = [{"error": f"Stopped: {self.over or BUTTON}"} for _ in cases]
        return [self._told(each) for each in seen]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Stop what runs of an answer in the body, in this process, when the time is over."""
        left = max(self._until() - time.monotonic(), LEAST_S)
        with self.pressing(), limited(Watch(left, _too_long(), _inside, self._tell)):
            yield

    @contextmanager
    def pressing(self) -> Iterator[None]:
        """Let the stop button end the body."""
        usual = signal.getsignal(signal.SIGINT)

        def pressed(number: int, frame: FrameType | None) -> None:
            self._press()
            usual(number, frame)

        with contextlib.suppress(Stopped, KeyboardInterrupt), self._button(pressed):
            yield

    def _until(self) -> float:
        if self.until is None:
            self.until = time.monotonic() + LIMIT_S
        return self.until

    def _press(self, *_: object) -> None:
        self.pressed = True

    def _tell(self, reason: str) -> None:
        self.over = reason

    def _told(self, seen: Observation) -> Observation:
        by_hand = self.pressed and str(seen.get("error", "")).startswith("KeyboardInterrupt")
        return {"error": f"Stopped: {BUTTON}"} if by_hand else seen

    @contextmanager
    def _button(self, pressed: Callable[[int, FrameType | None], object]) -> Iterator[None]:
        """Notice an interrupt from outside, which an answer cannot raise itself."""
        usual = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(usual):
            yield
            return
        signal.signal(signal.SIGINT, pressed)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


def _too_long() -> str:
    return f"was stopped after {LIMIT_S:g} s"


def _inside(frame: FrameType | None) -> bool:
    """Whether an answer runs, and not our own code around it."""
    if frame is None or frame.f_code.co_filename in _OURS:
        return False
    while frame is not None and frame.f_code is not collect.observe.__code__:
        frame = frame.f_back
    return frame is not None
