"""Which files a command line means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

ENDING = ".ipynb"
_ENDINGS = (ENDING, f"{ENDING}.txt", f"{ENDING}.json")  # as some browsers save a notebook
_LEFT_OUT = ".ipynb_checkpoints"  # Jupyter's own copies


def found(paths: Sequence[Path]) -> list[Path]:
    """Return the files to grade, each once, in the order of ``paths``.

    A folder stands for the notebooks in it, at any depth, sorted; a folder that has none, or that
    is itself called .ipynb, stays in the list and is refused with a reason. Links are not followed.
    """
    listed: dict[str, Path] = {}
    for path in paths:
        for file in _of(path):
            listed.setdefault(os.path.abspath(file), file)
    return list(listed.values())


def _of(path: Path) -> list[Path]:
    if path.is_symlink() or _is_notebook(path.name) or not path.is_dir():
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
            if _is_notebook(entry.name):
                inside.append(Path(entry.path))
            elif entry.name != _LEFT_OUT and entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
    return sorted(inside) or [path]


def _is_notebook(name: str) -> bool:
    return name.lower().endswith(_ENDINGS)
