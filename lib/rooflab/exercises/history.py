"""Whether an answer is older than its cell: edited, run again, and that run failed.

A check then judges the answer of an earlier run, which is no longer what stands in the notebook.
IPython keeps the text of every cell that was run, also of those that failed. Outside IPython
nothing is known, and nothing is said.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import traceback
from collections.abc import Collection
from difflib import SequenceMatcher
from types import FunctionType
from typing import Any

STALE = "This judges the version that you ran before: the last run of its cell failed."
RENAMED = "This judges the `{}` that you ran before: a later cell defines `{}`, another name."
ALIKE = 0.8  # of two names: what SequenceMatcher says of one letter left out


def stale(answer: object) -> bool:
    """Whether the latest cell that makes ``answer`` failed before it made it."""
    shell = _shell()
    if shell is None:
        return False
    cells = [text.strip() for text in shell.history_manager.input_hist_parsed]
    if type(answer) is FunctionType:
        own = _text(answer.__code__.co_filename)
        latest = _latest(cells, answer.__code__.co_name)
        return own in cells and latest not in (None, own)
    name = _checked(cells[-1]) if cells else None
    latest = _latest(cells, name) if name else None
    return latest is not None and latest != cells[-1] and _failed(cells, latest)


def misspelt(answer: object, known: Collection[str]) -> str:
    """The name, much like that of ``answer``, of a like function in a later cell; "" if none.

    ``known``: names that are no slips of the pen.
    """
    shell = _shell()
    if shell is None or type(answer) is not FunctionType:
        return ""
    cells = [text.strip() for text in shell.history_manager.input_hist_parsed]
    name, count = answer.__code__.co_name, answer.__code__.co_argcount
    latest = _latest(cells, name)
    if latest is None or _text(answer.__code__.co_filename) not in cells:
        return ""
    later = cells[len(cells) - cells[::-1].index(latest) :]
    found = [other for text in later for other in _functions(text, count) if other not in known]
    return next((o for o in reversed(found) if SequenceMatcher(None, o, name).ratio() >= ALIKE), "")


def as_written(cell: str) -> str:
    """The text of a cell as it was typed: `files = !ls`, where ``cell`` is the Python made of it."""
    shell = _shell()
    if shell is None:
        return cell
    history = shell.history_manager
    pairs = zip(history.input_hist_parsed[::-1], history.input_hist_raw[::-1], strict=False)
    return next((raw for ran, raw in pairs if ran.strip() == cell.strip()), cell)


def _shell() -> Any:
    """IPython's shell, None outside IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _functions(cell: str, count: int) -> list[str]:
    """Names of the functions of ``count`` arguments that a cell defines."""
    try:
        body = ast.parse(cell).body
    except SyntaxError:
        return []
    return [
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef) and len(node.args.args) == count
    ]


def _text(file: str) -> str:
    return "".join(linecache.getlines(file)).strip()


def _latest(cells: list[str], name: str) -> str | None:
    """The last cell that has a definition of ``name`` or an assignment to it."""
    made = re.compile(
        rf"^(?:(?:async )?def {name}\b|class {name}\b|{name}\s*(?::[^=]*)?=[^=])", re.M
    )
    return next((text for text in reversed(cells) if made.search(text)), None)


def _checked(cell: str) -> str | None:
    """Name of the answer in ``rl.check("03-log", name)``, if the cell has one such call."""
    try:
        calls = [node for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return None
    names = [
        call.args[1].id
        for call in calls
        if getattr(call.func, "attr", getattr(call.func, "id", "")) == "check"
        and len(call.args) == 2
        and isinstance(call.args[1], ast.Name)
    ]
    return names[0] if len(names) == 1 else None


def _failed(cells: list[str], cell: str) -> bool:
    """Whether ``cell`` is no Python, or raised what was raised last and was not run again."""
    try:
        ast.parse(cell)
    except SyntaxError:
        return True
    error = getattr(sys, "last_value", None)
    frames = traceback.walk_tb(error.__traceback__) if error is not None else ()
    raised = any(_text(frame.f_code.co_filename) == cell for frame, _ in frames)
    return raised and cells.count(cell) == 1
