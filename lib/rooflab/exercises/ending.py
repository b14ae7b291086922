"""An answer that ``rl.check`` runs comes to an end: by itself, by the clock, or by the stop button.

The clock is that of byte golf (golf/watchdog.py), which says what it can stop. The grader has
limits of its own, around the whole process.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from rooflab.exercises import collect, plaindata
from rooflab.exercises.exercise import Case, Observation
from rooflab.golf.errors import Stopped
from rooflab.golf.watchdog import Watch, limited

LIMIT_S = 10.0  # for all cases of an exercise together
BUTTON = "was stopped by the stop button"
_OURS = tuple(module.__file__ for module in (collect, plaindata, contextlib, weakref))


@dataclass
class Ending:
    """How a run has ended: ``over`` says why it was stopped, ``pressed`` that a stop button was."""

    over: str = ""
    pressed: bool = False

    def observe(
        self, kind: str, cases: Sequence[Case], answer: object, seconds: float = LIMIT_S
    ) -> list[Observation]:
        """Return what :func:`rooflab.exercises.collect.collect` does, within ``seconds``."""
        watch = Watch(seconds, f"was stopped after {seconds:g} s", _inside, self._tell)
        own_clock = kind in ("value", "golf")  # nothing runs, or golf's own watch is there
        try:
            with self._button(), contextlib.nullcontext() if own_clock else limited(watch):
                seen = collect.collect(kind, cases, answer, lambda: self.over)
        except (Stopped, KeyboardInterrupt):  # it came between two cases
            seen = [{"error": f"Stopped: {self.over or BUTTON}"} for _ in cases]
        return [self._told(each) for each in seen]

    def _tell(self, reason: str) -> None:
        self.over = reason

    def _told(self, seen: Observation) -> Observation:
        by_hand = self.pressed and str(seen.get("error", "")).startswith("KeyboardInterrupt")
        return {"error": f"Stopped: {BUTTON}"} if by_hand else seen

    @contextmanager
    def _button(self) -> Iterator[None]:
        """Notice an interrupt from outside, which an answer cannot raise itself."""
        usual = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(usual):
            yield
            return

        def pressed(number: int, frame: FrameType | None) -> None:
            self.pressed = True
            usual(number, frame)

        signal.signal(signal.SIGINT, pressed)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


def _inside(frame: FrameType | None) -> bool:
    """Whether an answer runs, and not our own code around it."""
    if frame is None or frame.f_code.co_filename in _OURS:
        return False
    while frame is not None and frame.f_code is not collect.observe.__code__:
        frame = frame.f_back
    return frame is not None
