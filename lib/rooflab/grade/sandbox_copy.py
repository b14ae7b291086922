"""The copy of rooflab that the sandbox sees: no references, no generators of cases, no judge.

What runs answers is kept. ``rl.check`` and its like are there and harmless, because learners leave
such calls in their answer cells. An import contract (pyproject.toml) keeps what ships from
importing what does not.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

import rooflab

#: Folders and modules of rooflab that stay outside, and those of them that go in after all.
_LEFT_OUT = ("cli", "course", "lecture", "grade", "exercises", "labs/golf/solutions.py")
_SHIPPED = ("exercises/__init__.py", "exercises/observe", "grade/__init__.py", "grade/inside")
#: Module → public names that grade/inside/stand_ins.py has for it.
_STAND_INS = {
    "exercises/ask": ("ask",),
    "exercises/check": ("check",),
    "exercises/guesses": ("guess", "reveal", "show_me"),
    "exercises/mine": ("mine",),
    "exercises/my_guesses": ("my_guesses",),
    "exercises/progress": ("progress",),
    "exercises/sentences": ("conclude",),
    "exercises/sorting": ("sort",),
}


def copy_package(folder: Path) -> Path:
    """Write the copy to ``folder``/rooflab and return ``folder``, to be put on the path."""
    source, target = Path(rooflab.__file__).parent, folder / "rooflab"

    def left_out(room: str, names: list[str]) -> Collection[str]:
        inner = Path(room).relative_to(source)
        return {n for n in names if n == "__pycache__" or (inner / n).as_posix() in _LEFT_OUT}

    shutil.copytree(source, target, ignore=left_out)
    for name in _SHIPPED:
        if (source / name).is_dir():
            cached = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source / name, target / name, ignore=cached)
        else:
            (target / name).parent.mkdir()
            shutil.copyfile(source / name, target / name)
    for module, names in _STAND_INS.items():
        text = f"from rooflab.grade.inside.stand_ins import {', '.join(names)}\n"
        (target / f"{module}.py").write_text(text, encoding="utf-8")
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder
