"""What check cells call inside the sandbox: run the answer, print one line of plain data.

Whatever is printed here comes out of the learner's own process and is judged outside as such: it
can at most claim an observation. What it needs was imported before the learner's code ran, so a
learner who replaced ``print``, ``json`` or ``sys.stdout`` still gets a fair verdict.
"""

from __future__ import annotations

import io
import json
import linecache
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Protocol

from rooflab.exercises.collect import collect, describe, stopped
from rooflab.exercises.exercise import Case, Observation
from rooflab.grade import lockdown

CHANNELS = ("shell", "stdin", "control", "iopub")  # a kernel's, in the order of their binding
MARK = "ROOFLAB"  # how a result line begins
LONGEST = 400_000  # characters of a result line
_texts = linecache.cache  # file name → its text; IPython puts every cell there
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
_tried: dict[str, list[tuple[object, bool]]] = {}


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
    word: str, exercise: str, kind: str, cases: Sequence[Case], answer: Callable[[], object],
    again: bool = False,
) -> None:  # fmt: skip
    """Run the answer that ``answer()`` names on the cases and print the observations.

    ``again``: print nothing where it is the object of an earlier try, unless that one raised an
    error: what it calls may be there by now. The text of the check cell, which holds the cases, is
    forgotten first: no later cell can print it.
    """
    _texts.pop(sys._getframe(1).f_code.co_filename, None)
    try:
        found = _found(answer)
        if again and any(found[0] is one and done for one, done in _tried.get(exercise, ())):
            unlock()
            return
        seen = _observe(kind, cases, found)
        _tried.setdefault(exercise, []).append((found[0], settled(seen)))
        text = _dumps(seen)
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


def _found(answer: Callable[[], object]) -> tuple[object, str | None]:
    """Return the answer, or what it raises: its cell may have failed before it defined it."""
    try:
        return answer(), None
    except Exception as error:
        return None, describe(error)


def settled(seen: Sequence[Observation]) -> bool:
    """Whether another try of the same object gives the same: it raised nothing, or was stopped."""
    errors = [str(one["error"]) for one in seen if "error" in one]
    return not errors or any(map(stopped, errors))


def _observe(
    kind: str, cases: Sequence[Case], found: tuple[object, str | None]
) -> Sequence[Observation]:
    if found[1] is not None:
        return [{"error": found[1]} for _ in cases]
    with redirect_stdout(_Unheard()):  # a print in a loop may say megabytes
        return collect(kind, cases, found[0])


class _Unheard(io.TextIOBase):
    """A stream for what an answer prints while it is checked: nobody reads it."""

    def write(self, text: str) -> int:
        return len(text)
