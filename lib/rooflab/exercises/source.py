"""Move a function's source from a notebook cell into a file, and find what it lacks there."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import symtable
import textwrap
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass

HEADER = '"""My own functions for the course, one a lesson."""\n'


@dataclass(frozen=True)
class Definition:
    """A function as text. ``answered`` is False as long as an ellipsis stands in it."""

    name: str
    text: str
    answered: bool


def definition(function: Callable[..., object]) -> Definition:
    """Return the source of ``function``; ``name = lambda …: …`` becomes a ``def``.

    Raises TypeError for what has no source that can stand in a file.
    """
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{function!r:.60} is not a function written with def")
    if function.__name__ == "<lambda>":
        return _from_lambda(function)
    try:
        text = textwrap.dedent(inspect.getsource(function)).rstrip() + "\n"
        tree = ast.parse(text)
    except (OSError, SyntaxError):
        raise TypeError(
            f"the source of {function.__name__} is not to be had; define it in a cell of its own"
        ) from None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(found) != 1:
        raise TypeError(f"{function.__name__} must be a plain function written with def")
    return Definition(function.__name__, text, not any(map(_open_end, found[0].body)))


def _open_end(part: ast.AST) -> bool:
    return any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(part))


def _from_lambda(function: types.FunctionType) -> Definition:
    """The one assignment of a lambda to a name on its line, as a ``def`` of that name."""
    whole = "".join(linecache.getlines(function.__code__.co_filename))
    try:
        statements = ast.walk(ast.parse(whole))
    except SyntaxError:
        statements = iter(())
    line = function.__code__.co_firstlineno
    made = [
        (node.targets[0].id, node.value)
        for node in statements
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Lambda)
        and node.value.lineno == line
    ]
    if len(made) != 1 or function.__closure__:
        raise TypeError("a lambda is saved only from `name = lambda …` in a cell of its own; "
                        "write it with def")  # fmt: skip
    name, written = made[0]
    text = f"def {name}({ast.unparse(written.args)}):\n    return {ast.unparse(written.body)}\n"
    return Definition(name, text, not _open_end(written.body))


def to_bring(function: Callable[..., object], name: str) -> str:
    """Say how ``name``, which ``function`` finds in the notebook, gets into its file."""
    value = function.__globals__.get(name)
    if isinstance(value, types.ModuleType):
        known_as = "" if value.__name__ == name else f" as {name}"
        return f"write `import {value.__name__}{known_as}` inside the function"
    home = getattr(value, "__module__", None)
    if callable(value) and isinstance(home, str) and home not in ("__main__", "builtins"):
        return f"write `from {home} import {name}` inside the function"
    if callable(value):
        return f"save it too: `rl.mine.save({name})`"
    return f"write what `{name}` is inside the function"


def replace(text: str, new: Definition) -> str:
    """Return ``text`` with its function of that name replaced, or with the new one at the end.

    Raises SyntaxError if ``text`` is no Python.
    """
    old = [
        node
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == new.name
    ]
    if not old:
        return text.rstrip("\n") + "\n\n\n" + new.text if text.strip() else new.text
    lines = text.splitlines(keepends=True)
    for node in reversed(old[1:]):  # a name defined twice keeps one definition, the new one
        del lines[_first(node) - 1 : node.end_lineno]
    lines[_first(old[0]) - 1 : old[0].end_lineno] = [new.text]
    return "".join(lines)


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def missing_names(text: str, name: str) -> list[str]:
    """Return the global names that function ``name`` uses and ``text`` does not define."""
    top = symtable.symtable(text, "mine.py", "exec")
    known = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}
    known |= {symbol.get_name() for symbol in top.get_symbols() if symbol.is_imported()}
    known |= {child.get_name() for child in top.get_children()}
    inside = [child for child in top.get_children() if child.get_name() == name]
    used: set[str] = set()
    while inside:
        table = inside.pop()
        inside.extend(table.get_children())
        used |= {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    return sorted(used - known - set(dir(builtins)))


def line_in(error: BaseException, path: str) -> int:
    """Return the line of ``path`` in which ``error`` arose, 0 if none."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return (lines[-1] or 0) if lines else 0
