"""The copy of rooflab that the sandbox sees: no references, no generators of cases, no judge.

What runs answers is kept, golf and timing reduced to the half that observes. ``rl.check`` and its
like are there and harmless, because learners leave such calls in their answer cells.
"""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Collection
from pathlib import Path

import rooflab
from rooflab.grade import notebook_code

_LEFT_OUT = ("cli", "conclusions", "lecture", "grade", "exercises", "__pycache__")
_WHOLE = {
    "exercises": ("__init__", "collect", "plaindata", "exercise"),
    "grade": ("__init__",),
    "grade/inside": ("__init__", "fork_server", "kernel", "limits", "namespaces"),
}
_HALF = {  # module of exercises → what stays of it
    "golfing": ("BLOCKS", "LIMITS", "arrays", "run", "digest", "totals", "_TOTALS"),
    "timing": ("A", "arguments", "run"),
}
_CONCLUDING = '''"""Sentences on what was measured: there are none where nothing is measured."""


def conclude(name, *measured, **more):
    raise RuntimeError(
        "rl.conclude says nothing while notebooks are graded; call it in a cell of its own, "
        "outside the answer"
    )
'''
_JUDGING = ("judge", "verdict", "compare", "registry")
_WAYS = "labs/golf/solutions.py"
_FORMS = {  # module of exercises → the stand-in for what the public name is
    "check": "def check(id, answer=...):\n    return Later()",
    "ask": "def ask(*args, **kwargs):\n    return Later()",
    "guesses": (
        "def guess(*args, **kwargs):\n    return Later()\n\n"
        "def reveal(*args, **kwargs):\n    return Later()\n\nshow_me = reveal"
    ),
    "my_guesses": "def my_guesses(*args, **kwargs):\n    return Later()",
    "progress": "def progress(*args, **kwargs):\n    return Later()",
    "sorting": "def sort(*args, **kwargs):\n    return Later()",
    "mine": "mine = Mine()",
}
_STAND_IN = '''"""Stands in for a part of rooflab with nothing to do while notebooks are graded."""

import sys


class Later:
    def __repr__(self):
        return "(not while notebooks are graded)"

    def __bool__(self):
        return False


class Mine:
    def __init__(self):
        self._saved, self._rooflabs = {}, {}

    def stand_in(self, functions):
        self._rooflabs.update(functions)

    def save(self, *functions):
        self._saved.update({getattr(f, "__name__", "?"): f for f in functions})
        return Later()

    def __getattr__(self, name):
        own = vars(sys.modules["__main__"]).get(name)  # what the notebook itself defines
        found = self._saved.get(name) or self._rooflabs.get(name) or own
        if name.startswith("_") or found is None:
            raise AttributeError(f"there is no mine.py here; write {name} into the answer itself")
        return found


'''


def make_trimmed(folder: Path) -> Path:
    """Write the copy to ``folder``/rooflab and return ``folder``, to be put on the path."""
    source, target = Path(rooflab.__file__).parent, folder / "rooflab"
    shutil.copytree(source, target, ignore=_not_these(source))
    for room, names in _WHOLE.items():
        (target / room).mkdir()
        for name in names:
            shutil.copyfile(source / room / f"{name}.py", target / room / f"{name}.py")
    for name, kept in _HALF.items():
        text = (source / "exercises" / f"{name}.py").read_text(encoding="utf-8")
        _write(target / "exercises" / f"{name}.py", _half(text, kept))
    for name, form in _FORMS.items():
        _write(target / "exercises" / f"{name}.py", f"{_STAND_IN}{form}\n")
    _write(target / "conclusions.py", _CONCLUDING)
    (target / _WAYS).unlink()
    holes = (source / "labs" / "golf" / "holes.py").read_text(encoding="utf-8")
    _write(target / "labs" / "golf" / "holes.py", _without_answers(holes))
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def _not_these(top: Path):
    def ignore(folder: str, names: list[str]) -> Collection[str]:
        at_top = os.path.samefile(folder, top)
        return {n for n in names if n == "__pycache__" or (at_top and n in _LEFT_OUT)}

    return ignore


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _half(text: str, kept: Collection[str]) -> str:
    """Keep the imports that do not judge, and the definitions ``kept``, of a module."""
    body = [node for node in notebook_code.parse(text).body if _stays(node, kept)]
    return ast.unparse(ast.Module(body, [])) + "\n"


def _stays(node: ast.stmt, kept: Collection[str]) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").rpartition(".")[2] not in _JUDGING
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name in kept
    if isinstance(node, ast.Assign):
        return any(isinstance(name, ast.Name) and name.id in kept for name in node.targets)
    return isinstance(node, ast.Import)


class _Unanswered(ast.NodeTransformer):
    """Holes without their reference and their ways."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | None:
        return None if any(name.name == "solutions" for name in node.names) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "Hole":
            node.args[4:] = [ast.Constant(None), ast.Constant(None)]
        return node


def _without_answers(text: str) -> str:
    return ast.unparse(_Unanswered().visit(notebook_code.parse(text))) + "\n"
