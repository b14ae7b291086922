"""What check cells call inside the sandbox: run the answer, print one line of plain data.

Whatever is printed here comes out of the learner's own process and is judged outside as such: it
can at most claim an observation. What it needs was imported before the learner's code ran, so a
learner who replaced ``print``, ``json`` or ``sys.stdout`` still gets a fair verdict.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Protocol

from rooflab.exercises.collect import collect, describe
from rooflab.exercises.exercise import Case, Observation
from rooflab.grade import lockdown

CHANNELS = ("shell", "stdin", "control", "iopub")  # a kernel's, in the order of their binding
MARK = "ROOFLAB"  # how a result line begins
LONGEST = 400_000  # characters of a result line
_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class Stream(Protocol):
    """What the result line is written to."""

    def write(self, text: str) -> object:
        """Take ``text``."""

    def flush(self) -> object:
        """Send it."""

    def set_parent(self, parent: object) -> object:
        """Say to which cell the text belongs."""


_stream: list[Stream] = []
_cell: list[Callable[[], object]] = []
_locked: list[Callable[[], None]] = []


def write_to(stream: Stream, cell: Callable[[], object] | None = None) -> None:
    """Remember the notebook's own output before the learner can replace it.

    ``cell()`` gives the header of the cell that runs, for a stream that nobody tells any more.
    """
    _stream[:] = [stream]
    _cell[:] = [cell] if cell else []


def lock(names: Sequence[str]) -> None:
    """Lock functions of the library until the next check cell is through."""
    unlock()
    _locked.append(lockdown.lock(lockdown.with_kin(names)))


def unlock() -> None:
    """Open all locks."""
    while _locked:
        _locked.pop()()


def report(
    word: str, exercise: str, kind: str, cases: Sequence[Case], answer: Callable[[], object]
) -> None:
    """Run the answer that ``answer()`` names on the cases and print the observations."""
    try:
        text = _dumps(_observe(kind, cases, answer))
    except BaseException as error:  # the learner's objects may raise anything from anywhere
        text = _dumps([{"unreadable": f"it cannot be read ({describe(error)})"} for _ in cases])
    finally:
        unlock()
    if len(text) > LONGEST:
        text = _dumps([{"unreadable": "far more than an answer needs"} for _ in cases])
    if _cell:
        _stream[0].set_parent(_cell[0]())
    _stream[0].write(f"\n{MARK} {word} {exercise} {text}\n")
    _stream[0].flush()


def _observe(
    kind: str, cases: Sequence[Case], answer: Callable[[], object]
) -> Sequence[Observation]:
    try:
        found = answer()
    except Exception as error:  # the answer cell failed before it defined anything
        return [{"error": describe(error)} for _ in cases]
    return collect(kind, cases, found)
