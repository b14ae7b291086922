"""Read what was handed in: bytes in, the learner's code cells out. Nothing is executed here.

The file may be anything: half a notebook, a folder, 60 MB, an endless pipe. :func:`read` returns a
Submission, or a Refused with one clear line; it raises nothing. Only code, exercise ids and a name
are kept: no outputs, attachments or text cells.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rooflab.exercises.registry import exercises
from rooflab.grade.display_names import clean, file_text
from rooflab.grade.notebook_code import checks, exercise_of_id

ENDING = ".ipynb"
_ENDINGS = (ENDING, f"{ENDING}.txt", f"{ENDING}.json")  # as some browsers save a notebook
_LEFT_OUT = ".ipynb_checkpoints"  # Jupyter's own copies
_BESIDE = frozenset((  # what the course and others write beside a notebook: nobody hands that in
    "mine.py", "course.json", "timestamp.txt", "thumbs.db", "desktop.ini",
))  # fmt: skip
_NO_ROOM = ("__pycache__", "__MACOSX")


def found(paths: Sequence[Path]) -> list[Path]:
    """Return the files to grade, each once, in the order of ``paths``.

    A folder stands for the files in it, at any depth, sorted. Files that are no notebooks count,
    too: somebody handed them in and must be told. An empty folder, or one named like a notebook,
    stays in the list and is refused with a reason. Links are not followed.
    """
    listed: dict[str, Path] = {}
    for path in paths:
        for file in _of(path):
            listed.setdefault(os.path.abspath(file), file)
    return list(listed.values())


def _of(path: Path) -> list[Path]:
    if path.is_symlink() or is_notebook(path.name) or not path.is_dir():
        return [path]
    inside: list[Path] = []
    waiting = [path]  # not os.walk: it calls itself for each level, and some folders are deep
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:  # somebody must be told of a folder that cannot be read, too
            inside.append(folder)
            continue
        for entry in entries:
            # A folder with the name of a notebook is refused, and not looked into.
            if is_notebook(entry.name):
                inside.append(Path(entry.path))
            elif entry.name != _LEFT_OUT and entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False) and _handed_in(Path(entry.path), path):
                inside.append(Path(entry.path))
    return sorted(inside) or [path]


def _handed_in(file: Path, top: Path) -> bool:
    """Whether a file that is no notebook may be somebody's: nothing hidden, no by-product."""
    rooms = file.relative_to(top).parts
    hidden = any(room.startswith(".") or room in _NO_ROOM for room in rooms)
    return not hidden and file.name.lower() not in _BESIDE


def is_notebook(name: str) -> bool:
    """Whether a file is called a notebook."""
    return name.lower().endswith(_ENDINGS)


MOST_BYTES = 20_000_000
MOST_CELLS = 2_000
MOST_SOURCE = 100_000  # characters of one code cell
MOST_CODE = 120_000  # of all of them: each is looked through several times
MOST_CONTAINERS = 300_000  # lists and objects: each takes far more memory than its two brackets
PACKED = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".xz", ".bz2")
PYTHON = ("python", "python3", "ipython", "ipython3")


@dataclass(frozen=True)
class CodeCell:
    """A code cell.

    ``number``: in the notebook, from 1; ``exercise``: the one that its mark names, if any.
    """

    source: str
    number: int
    exercise: str | None = None
    id: str = ""


@dataclass(frozen=True)
class Submission:
    """A notebook that can be graded.

    ``file``: the path as text; ``digest``: of its bytes; ``lesson``: "01"; ``student``: the name
    that the notebook gives, None if it gives none; ``remarks``: what was odd, for the feedback.
    """

    file: str
    digest: str
    lesson: str
    student: str | None
    cells: tuple[CodeCell, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """A file that cannot be graded, and the one line that says why."""

    file: str
    reason: str


class _Refusal(Exception):
    """Why a file is refused; never leaves this module."""


def read(path: Path | str) -> Submission | Refused:
    """Return what ``path`` holds, or why it cannot be graded. Never raises, never executes."""
    path = Path(path)
    file = file_text(path)
    raw = b""
    try:
        raw = _bytes(path)
        return _submission(file, hashlib.sha256(raw).hexdigest(), _json(raw))
    except _Refusal as why:
        return Refused(file, str(why) if is_notebook(path.name) or not raw else _other(path))
    except (RecursionError, MemoryError):
        return Refused(file, "nested too deeply to be a notebook")
    except Exception as error:  # one file must never end the grading of a class
        return Refused(
            file, f"the grader cannot read it ({type(error).__name__}); please report it"
        )


def _other(path: Path) -> str:
    """Say that a file is something else than a notebook."""
    ending = clean(path.suffix.lower(), 12)
    what = f"a file of the kind {ending}" if ending else "a file without an ending"
    do = "unpack it and hand in" if ending in PACKED else "hand in"
    return f"not a notebook, but {what}; {do} the lesson's .ipynb"


def _bytes(path: Path) -> bytes:
    """Return the bytes of a regular file; anything else is refused before it is opened."""
    try:
        _regular(os.lstat(path))
        # The file may be swapped before it is opened: follow no link, and do not wait for a pipe.
        flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
        with open(os.open(path, os.O_RDONLY | flags), "rb") as opened:
            _regular(os.fstat(opened.fileno()))
            raw = opened.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise _Refusal("there is no such file") from None
    except PermissionError:
        raise _Refusal("the file may not be read (permission denied)") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        told = getattr(error, "strerror", None) or str(error)
        raise _Refusal(f"the file cannot be read ({clean(told)})") from None
    if not raw.strip():
        raise _Refusal("the file is empty")
    if len(raw) > MOST_BYTES:
        most = MOST_BYTES // 1_000_000
        raise _Refusal(f"larger than {most} MB; clear the outputs and save it again")
    return raw


def _regular(status: os.stat_result) -> None:
    kinds = (
        (stat.S_ISLNK, "a symbolic link; hand in the notebook itself"),
        (stat.S_ISDIR, "a folder, not a notebook"),
        (stat.S_ISFIFO, "a pipe, not a notebook"),
    )
    for holds, said in kinds:
        if holds(status.st_mode):
            raise _Refusal(said)
    if not stat.S_ISREG(status.st_mode):
        raise _Refusal("a device or a socket, not a notebook")


def _json(raw: bytes) -> dict[str, Any]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        told = f"byte {raw[error.start]:#04x} at {error.start}"
        raise _Refusal(f"not UTF-8 text ({told}); save it in Jupyter") from None
    if raw.count(b"[") + raw.count(b"{") > MOST_CONTAINERS:
        raise _Refusal("more lists and objects than a notebook has; clear the outputs")
    try:
        notebook = json.loads(text)
    except ValueError as error:
        place = getattr(error, "pos", -1)
        cut = place >= len(text.rstrip()) - 1 or str(error).startswith("Unterminated string")
        told = "the file ends too early" if cut else clean(str(error))
        if str(error).startswith("Extra data"):
            told = "something stands behind its end"
        elif place < 0:  # Python reads no integer of thousands of digits
            told = "a number of thousands of digits is in it"
        raise _Refusal(f"not a notebook: {told}") from None
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise _Refusal("not a notebook: there is no nbformat in it")
    return notebook


def _submission(file: str, digest: str, notebook: dict[str, Any]) -> Submission:
    _version(notebook.get("nbformat"))
    _whole_letters(notebook)
    metadata = _table(notebook.get("metadata"))
    remarks = _language(metadata)
    cells = _code_cells(notebook.get("cells"))
    ours = _table(metadata.get("rooflab"))
    return Submission(
        file,
        digest,
        _lesson(ours.get("lesson"), cells),
        clean(ours["student"]) or None if isinstance(ours.get("student"), str) else None,
        cells,
        remarks,
    )


def _version(number: object) -> None:
    if type(number) is not int:
        raise _Refusal("not a notebook: its nbformat is not a number")
    told = clean(str(number), 20)
    if number < 4:
        raise _Refusal(f"nbformat {told} is too old; open it in JupyterLab and save it once")
    if number > 4:
        raise _Refusal(f"nbformat {told} is newer than this grader; nbformat 4 is wanted")


def _whole_letters(notebook: dict[str, Any]) -> None:
    r"""Refuse half a character (``"\ud800"`` in JSON): no file and no message could carry it on."""
    cells = notebook.get("cells")
    named = [(f"cell {n}", cell) for n, cell in enumerate(cells, 1)] if type(cells) is list else []
    for where, part in [("the notebook's metadata", notebook.get("metadata")), *named]:
        if isinstance(part, dict):
            part = {key: value for key, value in part.items() if key != "outputs"}
        try:
            json.dumps(part, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise _Refusal(f"{where} holds half a character (a lone surrogate)") from None


def _language(metadata: dict[str, Any]) -> tuple[str, ...]:
    """Refuse another language; a kernel of another name is Python all the same."""
    kernel = _table(metadata.get("kernelspec"))
    for said in (kernel.get("language"), _table(metadata.get("language_info")).get("name")):
        if isinstance(said, str) and said.strip() and said.strip().lower() not in PYTHON:
            raise _Refusal(f"a notebook in {clean(said, 30)}; Python is wanted")
    remarks = _newer(_table(metadata.get("language_info")).get("version"))
    name = kernel.get("name", "python3")
    if name == "python3":
        return remarks
    told = clean(name, 40) if isinstance(name, str) else "of no name"
    return (f"kernel {told!r} is not known here; it ran with the course's own Python", *remarks)


def _newer(version: object) -> tuple[str, ...]:
    """Say so where a notebook is from a newer Python, which may know more than the one here."""
    found = re.match(r"3\.(\d{1,2})\b", version) if isinstance(version, str) else None
    if not found or int(found[1]) <= sys.version_info.minor:
        return ()
    here = f"3.{sys.version_info.minor}"
    return (f"written with Python {found[0]}; here Python {here} ran it, which may read less",)


def _code_cells(cells: object) -> tuple[CodeCell, ...]:
    if not isinstance(cells, list):
        raise _Refusal("not a notebook: its cells are not a list")
    if len(cells) > MOST_CELLS:
        raise _Refusal(f"{len(cells)} cells; a notebook of the course has fewer than 100")
    found = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict):
            raise _Refusal(f"cell {number} is not a cell")
        if cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        if not isinstance(source, str):
            raise _Refusal(f"the source of cell {number} is not text")
        if len(source) > MOST_SOURCE:
            raise _Refusal(f"cell {number} has {len(source)} characters; an answer is shorter")
        metadata = _table(cell.get("metadata"))
        mark = _table(metadata.get("rooflab")).get("exercise")
        exercise = clean(mark, 60).lower() if isinstance(mark, str) else None
        name = cell.get("id", metadata.get("id"))  # Colab keeps it in the metadata
        source = source.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads them
        found.append(CodeCell(source, number, exercise, name if isinstance(name, str) else ""))
    if (code := sum(len(cell.source) for cell in found)) > MOST_CODE:
        raise _Refusal(f"{code} characters of code; a notebook of the course has fewer than 20000")
    return tuple(found)


def _lesson(told: object, cells: tuple[CodeCell, ...]) -> str:
    """Number of the lesson: that of the exercises that are answered, else what the notebook says.

    Exercises are known by the marks of the cells. Where a tool dropped all marks, they are known by
    the cells' ids, else by the calls of ``rl.check``.
    """
    known = exercises()
    number = told[:2] if isinstance(told, str) else ""
    marks = (cell.exercise for cell in cells)
    ids = (exercise_of_id(cell.id) for cell in cells)
    called = (one.exercise for cell in cells for one in checks(cell.source))
    for signs in (marks, ids, called):
        answered = Counter(known[id].lesson for id in signs if id in known)
        if answered:
            break
    if number in answered or (not answered and number in {e.lesson for e in known.values()}):
        return number
    if not answered:
        raise _Refusal("no exercise of the course is in it; hand in a lesson's own notebook")
    return min(answered, key=lambda lesson: (-answered[lesson], lesson))


def _table(item: object) -> dict[str, Any]:
    return item if isinstance(item, dict) else {}
