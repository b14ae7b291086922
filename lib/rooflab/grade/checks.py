"""What a cell checks: the learner's own ``rl.check("01-product", product)``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from rooflab.grade.kept import parsed

_ID = re.compile(r"answer-(\d\d-[a-z0-9-]+?)(-\d)?")
_WRITTEN = re.compile(r"\bcheck\(\s*[\"']([^\"'\n]{1,60})[\"']\s*,\s*(?:answer\s*=\s*)?(\w+)\s*\)")


@dataclass(frozen=True)
class Checked:
    """One call of ``check``: the exercise, and its answer by ``name`` or written out as ``text``."""

    exercise: str
    name: str | None
    text: str | None = None


def checks(source: str) -> tuple[Checked, ...]:
    """Return the calls of ``check`` in a cell, in their order; nothing is executed."""
    if "check" not in source:
        return ()
    tree = parsed(source)
    if tree is None:
        return tuple(Checked(*found) for found in _WRITTEN.findall(source))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return tuple(found for call in calls if (found := _checked(call)))


def exercise_of_id(id: str) -> str:
    """Return the exercise that a cell's id names, such as "answer-01-product"; "" if none."""
    found = _ID.fullmatch(id)
    return found[1] if found else ""


def _checked(call: ast.Call) -> Checked | None:
    named = call.func.attr if isinstance(call.func, ast.Attribute) else None
    if (getattr(call.func, "id", None) or named) != "check":
        return None
    first = call.args[0] if call.args else _keyword(call, "id")
    answer = call.args[1] if len(call.args) > 1 else _keyword(call, "answer")
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str) or answer is None:
        return None
    if isinstance(answer, ast.Name):
        return Checked(first.value, answer.id)
    try:
        return Checked(first.value, None, ast.unparse(answer))
    except (ValueError, RecursionError):  # a number of thousands of digits, say, has no text
        return None


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)
