"""Which files a command line means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

ENDING = ".ipynb"
_ENDINGS = (ENDING, f"{ENDING}.txt", f"{ENDING}.json")  # as some browsers save a notebook
_LEFT_OUT = ".ipynb_checkpoints"  # Jupyter's own copies
_BESIDE = frozenset((  # what the course and others write beside a notebook: nobody hands that in
    "mine.py", "course.json", "timestamp.txt", "thumbs.db", "desktop.ini",
))  # fmt: skip
_NO_ROOM = ("__pycache__", "__MACOSX")


def found(paths: Sequence[Path]) -> list[Path]:
    """Return the files to grade, each once, in the order of ``paths``.

    A folder stands for the files in it, at any depth, sorted: also those that are no notebooks, for
    somebody handed them in and must hear of it. An empty folder, or one that is itself called
    .ipynb, stays in the list and is refused with a reason. Links are not followed.
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
        except OSError:  # of a folder that is shut, too, somebody must hear
            inside.append(folder)
            continue
        for entry in entries:
            # What is called a notebook and is a folder is refused by name, and not looked into.
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
