"""Which of the learner's statements around the answers an answer can come to.

A scratch cell with ``import os`` or a function that draws does nothing by itself: gate.py looks
only at what runs at once and at what that calls by name.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable


def live(answers: Iterable[ast.Module], around: Iterable[ast.Module]) -> frozenset[ast.stmt]:
    """Return the top-level statements of ``around`` that run code or that live code names.

    Everything in ``answers`` is live. Imports, and functions without decorators, defaults and
    annotations, do nothing until something names them; everything else is live at once.
    """
    waiting: list[ast.AST] = list(answers)
    asleep: dict[str, list[ast.stmt]] = defaultdict(list)
    for statement in (each for tree in around for each in tree.body):
        names = _sleeping(statement)
        if names is None:
            waiting.append(statement)
        for name in names or ():
            asleep[name].append(statement)
    found: set[ast.AST] = set()
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        for name in {node.id for node in ast.walk(current) if isinstance(node, ast.Name)}:
            waiting += asleep.pop(name, ())
    return frozenset(node for node in found if isinstance(node, ast.stmt))


def _sleeping(statement: ast.stmt) -> frozenset[str] | None:
    """The names that a statement gives, if it does nothing else; None if it may do more."""
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return None  # it changes how later cells are read
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        names = frozenset(n.asname or n.name.partition(".")[0] for n in statement.names)
        return None if "*" in names or any(map(_of_python, names)) else names
    if not isinstance(statement, ast.FunctionDef) or statement.decorator_list or statement.returns:
        return None
    if _of_python(statement.name):
        return None
    taken = statement.args
    extra = [taken.vararg, taken.kwarg]
    every = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *(a for a in extra if a)]
    acts = taken.defaults or any(taken.kw_defaults) or any(a.annotation for a in every)
    return None if acts else frozenset((statement.name,))


def _of_python(name: str) -> bool:
    """Whether Python itself looks a name up, such as ``__builtins__``."""
    return name.startswith("__")
