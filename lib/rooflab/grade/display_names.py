"""Names as they may be shown: of students and of files, whatever is in them.

A name is written into tables and pages. It keeps its quotes, slashes and accents, because every
writer escapes. Invisible letters are removed: they could turn a line around or break it.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

LONGEST = 80
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # a terminal's
_SEEN = "\u200c\u200d"  # joiners: invisible, and part of the spelling in several scripts
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters by class, and never seen
_SELECTORS = ("\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef")  # first and last of two rows
_MOST_MARKS = 4  # on a letter: more would cover the lines above and below


def clean(text: str, longest: int = LONGEST) -> str:
    """Return ``text`` on one line without control and direction marks, at most ``longest`` long."""
    kept = "".join(_letter(letter) for letter in unicodedata.normalize("NFC", text[: 50 * longest]))
    line = _few_marks(" ".join(kept.split()))
    if not any(unicodedata.category(letter)[0] in "LNPS" for letter in line):
        return ""  # nothing to be seen
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """Return ``text`` with every control mark as \ufffd; nothing else is changed."""
    return "".join("\ufffd" if _letter(letter) == " " != letter else letter for letter in text)


def _few_marks(line: str) -> str:
    kept, marks = [], 0
    for letter in line:
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if marks <= _MOST_MARKS:
            kept.append(letter)
    return "".join(kept)


def _letter(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    if kind == "Cs":
        return "\ufffd"
    if letter in _BLANK or any(a <= letter <= b for a, b in (_SELECTORS[:2], _SELECTORS[2:])):
        return ""
    return "" if kind == "Cf" and letter not in _SEEN else letter


def file_text(path: Path | str) -> str:
    """Return a path as text with forward slashes; bytes that are no text are written \\xNN.

    So is a backslash before an x: no two paths have the same text.
    """
    if os.sep != "/":
        return str(path).encode("utf-8", "replace").decode("utf-8").replace(os.sep, "/")
    return os.fsencode(path).replace(b"\\x", b"\\x5cx").decode("utf-8", "backslashreplace")


def stem(file: str) -> str:
    """Return the name of a file without folder and ending: "ann" of "hw1/ann.ipynb"."""
    return clean(PurePosixPath(file).stem) or "unnamed"


def students(files: Sequence[str], own: Sequence[str | None]) -> list[str]:
    """Return a name for every file: its ``own``, else its stem.

    Equal stems are told apart by as many folders as that takes: "monday/hw", "friday/hw". A name
    that notebooks give themselves stays as it is: one student hands in several lessons.
    """
    names = [name or stem(file) for file, name in zip(files, own, strict=True)]
    given = frozenset(filter(None, own))
    for depth in range(1, 12):
        places = defaultdict(list)
        for number, name in enumerate(names):
            if own[number] is None:
                places[name].append(number)
        doubled = [
            n for name, rows in places.items() if len(rows) > 1 or name in given for n in rows
        ]
        if not doubled:
            return names
        for number in doubled:
            names[number] = _with_folders(files[number], depth)
    seen = defaultdict(int, dict.fromkeys(given, 1))
    for number, name in enumerate(names):  # the same path twice, or folders without end
        seen[name] += own[number] is None
        if own[number] is None and seen[name] > 1:
            names[number] = f"{name} ({seen[name]})"
    return names


def _with_folders(file: str, depth: int) -> str:
    folders = [clean(part) for part in PurePosixPath(file).parts[:-1] if part != "/"]
    return "/".join([*folders[-depth:], stem(file)])


def page_name(student: str, file: str) -> str:
    """Return the name of a student's page: plain ASCII, different for every file."""
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-").lower()[:40] or "student"
    return f"{slug}-{hashlib.sha256(file.encode()).hexdigest()[:16]}.html"
