"""Names as they may be shown: of students and of files, whatever is in them.

A name is written into tables and pages. It keeps its quotes, slashes and accents (every writer
escapes); what is taken out are letters that nobody sees and that turn a line around or break it.
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


def clean(text: str, longest: int = LONGEST) -> str:
    """Return ``text`` on one line without control and direction marks, at most ``longest`` long."""
    kept = "".join(_letter(letter) for letter in unicodedata.normalize("NFC", text[: 50 * longest]))
    line = " ".join(kept.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def _letter(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    if kind == "Cs":
        return "\ufffd"
    return "" if kind == "Cf" and letter not in _SEEN else letter


def file_text(path: Path | str) -> str:
    """Return a path as text with forward slashes; bytes that are no text are written \\xNN."""
    raw = os.fsencode(path) if os.sep == "/" else str(path).encode("utf-8", "replace")
    text = raw.decode("utf-8", "backslashreplace")
    return text if os.sep == "/" else text.replace(os.sep, "/")


def stem(file: str) -> str:
    """Return the name of a file without folder and ending: "ann" of "hw1/ann.ipynb"."""
    return clean(PurePosixPath(file).stem) or "unnamed"


def students(files: Sequence[str], own: Sequence[str | None]) -> list[str]:
    """Return a name for every file: its ``own``, else its stem.

    Equal stems are told apart by as many folders as that takes: "monday/hw", "friday/hw". A name
    that notebooks give themselves stays as it is: one student hands in several lessons.
    """
    names = [name or stem(file) for file, name in zip(files, own, strict=True)]
    for depth in range(1, 12):
        places = defaultdict(list)
        for number, name in enumerate(names):
            if own[number] is None:
                places[name].append(number)
        doubled = [n for numbers in places.values() if len(numbers) > 1 for n in numbers]
        if not doubled:
            return names
        for number in doubled:
            names[number] = _with_folders(files[number], depth)
    seen: dict[str, int] = defaultdict(int)
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
