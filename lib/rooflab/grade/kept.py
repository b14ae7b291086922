"""Which statements around the answers are run in a locked notebook.

An answer may rely on imports, on constants, on functions, and on earlier answers. What measures,
draws or computes is left out, so that no points hang on it: of a cell that is no answer, only the
statements remain that call nothing and look nothing up.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from rooflab.grade import syntax

LONGEST = 20_000  # characters of a cell that is looked into
_STILL = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_TIMED = re.compile(r"([ \t]*)%time[ \t]+(?=[^\s%!])")  # this magic runs the rest of its line
_STORED = re.compile(r"([ \t]*[^\W\d]\w*[ \t]*=)[ \t]*[%!](?=[A-Za-z])")  # files = !ls
_INDENTED = re.compile(r"([ \t]+)(?:[%!](?=[A-Za-z])|[\w.]+\?{1,2}[ \t]*$)")
_ASKED = re.compile(r"[\w.]+\?{1,2}[ \t]*$")  # product?
_ACTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.Subscript)  # x[0] runs x's own code


def kept(source: str, also: Callable[[ast.stmt], bool] = lambda node: False) -> str:
    """Return the statements of a cell that an answer may rely on, as text; "" if there are none.

    Kept are imports, functions, classes, assignments without a call or x[…], and what ``also``
    says. A cell that is no Python (also after its magic lines are taken out) holds none.
    """
    tree = parsed(source)
    if tree is None:
        return ""
    return text_of(source, [node for node in tree.body if still(node) or also(node)])


def text_of(source: str, nodes: Iterable[ast.stmt]) -> str:
    """Return statements of a cell as they stand there."""
    read = _read(source)
    lines = (source if read is None else read[1]).split("\n")
    return "\n".join(text for text in (_text(lines, node) for node in nodes) if text)


def names(source: str) -> frozenset[str]:
    """Return the global names that a cell reads, such as the functions that it calls."""
    tree = parsed(source)
    if tree is None:
        return frozenset()
    loaded = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return frozenset(node.id for node in loaded)


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a cell, None if it has none that can be had."""
    read = _read(source)
    return None if read is None else read[0]


@lru_cache(
    maxsize=512
)  # a notebook's cells are asked for several times, and a class has many alike
def _read(source: str) -> tuple[ast.Module, str] | None:
    """The tree of a cell and the text that it is of: as it stands, else without its magic lines."""
    if len(source) > LONGEST:
        return None
    for text in (source, without_magic(source)):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return syntax.parse(text), text
    return None


def without_magic(source: str) -> str:
    """Return a cell without what its magic lines do (%time, !pip, ?); line numbers stay.

    What ``%time`` times is kept, and what a magic would give to a name is None.
    """
    return "\n".join(map(_without_magic, source.split("\n")))


def _without_magic(line: str) -> str:
    if timed := _TIMED.match(line):
        return timed[1] + line[timed.end() :]
    if stored := _STORED.match(line):
        return f"{stored[1]} None"
    if inside := _INDENTED.match(line):
        return f"{inside[1]}pass"
    return "" if line.startswith(("%", "!", "?")) or _ASKED.match(line) else line


def still(node: ast.stmt) -> bool:
    """Whether a statement calls nothing: a definition, a plain assignment, an import that works."""
    if isinstance(node, _STILL):
        return not absent(node)
    if isinstance(node, ast.AnnAssign):
        return node.value is not None and _calls_nothing(node.value)
    if not isinstance(node, ast.Assign):
        return False
    return all(_plain(target) for target in node.targets) and _calls_nothing(node.value)


def absent(node: ast.stmt) -> bool:
    """Whether a statement imports what is not installed here, such as a learner's own module."""
    return isinstance(node, _IMPORTS) and not all(map(_installed, modules_of(node)))


def modules_of(node: ast.AST) -> frozenset[str]:
    """The modules that an import names, without what is behind a dot: "numpy" of numpy.linalg."""
    if isinstance(node, ast.Import):
        return frozenset(name.name.partition(".")[0] for name in node.names)
    named = isinstance(node, ast.ImportFrom) and node.module and not node.level
    return frozenset((node.module.partition(".")[0],)) if named else frozenset()


@cache
def _installed(module: str) -> bool:
    with contextlib.suppress(ValueError):  # __main__ has no specification
        return importlib.util.find_spec(module) is not None
    return True


def _plain(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_plain(part) for part in target.elts)
    return isinstance(target, ast.Name)


def _calls_nothing(value: ast.expr) -> bool:
    inside = [node.body for node in ast.walk(value) if isinstance(node, ast.Lambda)]
    later = {id(node) for body in inside for node in ast.walk(body)}  # a lambda acts when called
    return not any(isinstance(node, _ACTS) and id(node) not in later for node in ast.walk(value))


def _text(lines: list[str], node: ast.stmt) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)])
    text = lines[first - 1 : node.end_lineno]
    begin = 0 if decorators else node.col_offset
    if not begin and not any(";" in line for line in text):
        return "\n".join(text)
    # One of several statements of a line; columns are counted in bytes.
    text[-1] = text[-1].encode()[: node.end_col_offset].decode()
    text[0] = text[0].encode()[begin:].decode()
    return "\n".join(text)
