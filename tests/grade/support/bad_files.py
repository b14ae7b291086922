"""What else is handed in: files that are no notebooks, and notebooks that were mishandled."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rooflab.grade import lesson_notebook
from tests.grade.support.notebooks import put, solution
from tests.grade.support.pupils import Answered

LESSON = "00"
ORDER = lesson_notebook.lesson(LESSON).order
RLM = "\u200f"


def _bytes(raw: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(raw) and None


def _link(path: Path) -> None:
    target = put(path.parent.parent / "away" / "solution.txt", solution(LESSON))
    path.symlink_to(target.resolve())


# These must be refused: zero points, with a reason. tests/grade/test_intake.py has the others.
REFUSED: Mapping[str, Callable[[Path], None]] = {
    "truncated": _bytes(json.dumps(solution(LESSON)).encode()[:5000]),
    "empty": _bytes(b""),
    "link": _link,
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
}


def _named(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda notebook: notebook["metadata"]["rooflab"].update(student=name)


# These can be graded, and nothing is lost: what was done to a notebook that is all right.
MISHANDLED: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "cells moved": lambda notebook: notebook["cells"].reverse(),
    "quotes in the name": _named("""Bob "Bobby" O'Neill; =1+1, <b>bold</b>"""),
    "slashes in the name": _named("../../etc/passwd\\..\\x"),
    "right to left": _named("نرگس محمدی"),
    "marks of direction": _named(f"\u202eydA{RLM}\u2066 Ada"),
    "a long name": _named("Wolfeschlegelsteinhausenbergerdorff " * 9),
    "a formula": _named("=HYPERLINK(1)"),
}


def mishandled(kind: str) -> Answered:
    """A notebook of lesson 00, all right but for what was done to it."""
    notebook = solution(LESSON)
    MISHANDLED[kind](notebook)
    return Answered(notebook, frozenset(ORDER), frozenset())
