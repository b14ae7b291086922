"""What else is handed in: files that are no notebooks, and notebooks that were mishandled."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rooflab.grade import lesson_notebook
from tests.grade.support.notebooks import answer, code, put, solution
from tests.grade.support.pupils import Answered

LESSON = "00"
ORDER = lesson_notebook.lesson(LESSON).order
RLM = "\u200f"


def _bytes(raw: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(raw) and None


def _changed(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        notebook = solution(LESSON)
        change(notebook)
        put(path, notebook)

    return write


def _large(path: Path) -> None:
    with path.open("wb") as file:  # with a hole in it: it takes no room on the disk
        file.truncate(60_000_000)


def _link(path: Path) -> None:
    target = put(path.parent.parent / "away" / "solution.txt", solution(LESSON))
    path.symlink_to(target.resolve())


def _surrogate(notebook: dict[str, Any]) -> None:
    answer(notebook, ORDER[0])["source"] = "x = '\ud800'"


def _unmarked(notebook: dict[str, Any]) -> None:
    for id in ORDER:
        answer(notebook, id)["metadata"] = {}


# These must be refused: zero points, with a reason.
REFUSED: Mapping[str, Callable[[Path], None]] = {
    "truncated": _bytes(json.dumps(solution(LESSON)).encode()[:5000]),
    "empty": _bytes(b""),
    "latin-1": _bytes('{"nbformat": 4, "cells": [], "x": "é"}'.encode("latin-1")),
    "a picture": _bytes(b"\x89PNG\r\n\x1a\n\x00\x00"),
    "nbformat 3": _bytes(b'{"nbformat": 3, "worksheets": [{"cells": []}]}'),
    "nbformat 5": _bytes(b'{"nbformat": 5, "cells": []}'),
    "deep": _bytes(b'{"nbformat": 4, "cells": ' + b"[" * 100_000),
    "half a character": _changed(_surrogate),
    "60 MB": _large,
    "link": _link,
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
    "in R": _changed(lambda n: n["metadata"].update(kernelspec={"name": "ir", "language": "R"})),
    "too many cells": _changed(lambda n: n["cells"].extend([code("1")] * 3000)),
}


def _named(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda notebook: notebook["metadata"]["rooflab"].update(student=name)


def _without(notebook: dict[str, Any]) -> None:
    notebook["cells"].remove(answer(notebook, ORDER[1]))


def _twice(source: str) -> Callable[[dict[str, Any]], None]:
    def change(notebook: dict[str, Any]) -> None:
        place = notebook["cells"].index(answer(notebook, ORDER[1]))
        again = code(source, rooflab={"exercise": ORDER[1]})
        notebook["cells"].insert(place + 1, again)

    return change


# These can be graded: change, and the exercises that have no points then.
MISHANDLED: Mapping[str, tuple[Callable[[dict[str, Any]], None], tuple[str, ...]]] = {
    "cells moved": (lambda notebook: notebook["cells"].reverse(), ()),
    "cell deleted": (_without, (ORDER[1],)),
    "no marks": (_unmarked, ()),
    "same id twice, the last one wrong": (_twice("peak = 3"), (ORDER[1],)),
    "same id twice, the last one a remark": (_twice("# done"), ()),
    "a strange id": (
        lambda notebook: notebook["cells"].append(code("1 / 0", rooflab={"exercise": "00-none"})),
        (),
    ),
    "unknown kernel": (lambda n: n["metadata"].update(kernelspec={"name": "my-venv"}), ()),
    "quotes in the name": (_named("""Bob "Bobby" O'Neill; =1+1, <b>bold</b>"""), ()),
    "slashes in the name": (_named("../../etc/passwd\\..\\x"), ()),
    "right to left": (_named("نرگس محمدی"), ()),
    "marks of direction": (_named(f"\u202eydA{RLM}\u2066 Ada"), ()),
    "a long name": (_named("Wolfeschlegelsteinhausenbergerdorff " * 9), ()),
    "a formula": (_named("=HYPERLINK(1)"), ()),
}


def mishandled(kind: str) -> Answered:
    """A notebook of lesson 00, all right but for what was done to it."""
    change, lost = MISHANDLED[kind]
    notebook = solution(LESSON)
    change(notebook)
    return Answered(notebook, frozenset(ORDER) - {*lost}, frozenset(lost))
