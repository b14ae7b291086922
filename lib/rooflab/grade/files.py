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
    inside = []
    shut: list[Path] = []  # of these, too, somebody must hear
    for folder, folders, files in os.walk(path, onerror=lambda e: shut.append(Path(e.filename))):
        here = Path(folder)
        # What is called a notebook and is a folder is refused by name, and not looked into.
        inside += [here / name for name in (*files, *folders) if _is_notebook(name)]
        folders[:] = [f for f in folders if f != _LEFT_OUT and not _is_notebook(f)]
    return sorted([*inside, *shut]) or [path]


def _is_notebook(name: str) -> bool:
    return name.lower().endswith(_ENDINGS)
