"""Byte golf and timing are scored on a trace that is kept in the learner's own process.

Whoever reaches behind the arrays or into the tracer could forge that trace, so for these two kinds
the answers are read before they count: plain NumPy and Python pass; what reaches into modules,
frames or hidden attributes does not, with the line that does it. Other kinds need no gate: for
them only the right values count. Nothing is executed here.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from IPython.core.inputtransformer2 import TransformerManager

from rooflab.exercises.registry import exercises
from rooflab.grade.locked import ANSWER, CHECK, Locked, Outcome

TRACED = ("golf", "timing")  # kinds of exercises
MODULES = ("numpy", "math", "cmath", "statistics", "itertools", "functools", "collections",
           "fractions", "decimal", "random", "time", "typing", "rooflab",
           "__future__")  # fmt: skip
_NAMES = frozenset((
    "eval", "exec", "compile", "getattr", "setattr", "delattr", "globals", "locals", "vars",
    "open", "breakpoint", "get_ipython", "exit", "quit", "_report", "_lock",
))  # fmt: skip
_ATTRIBUTES = frozenset((  # modules in modules, frames, files with code, the stand-in's insides
    "sys", "os", "modules", "builtins", "ctypes", "ctypeslib", "f2py", "testing", "lib", "core",
    "distutils", "importlib", "inspect", "f_back", "f_globals", "f_locals", "f_builtins", "f_code",
    "tb_frame", "tb_next", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "ag_frame", "load",
    "tofile", "fromfile", "memmap", "DataSource", "gpu", "attrgetter", "methodcaller",
))  # fmt: skip
_OF_ARRAYS = frozenset(("array", "buffer", "trace"))  # of golf's own arrays; np.array is no such
_ALIASES = ("np", "numpy", "rl")


def gated(locked: Locked, outcome: Outcome) -> Outcome:
    """Return ``outcome`` without the observations of golf and timing that cannot be believed.

    One does not count when its answer, or another one that ran before its check, reaches where a
    trace could be forged; the reason names the line.
    """
    observations, reasons = dict(outcome.observations), dict(outcome.reasons)
    found: str | None = None
    for cell in locked.notebook.cells:
        about = cell.metadata.get("rooflab") or {}
        exercise = about.get("exercise")
        if about.get("role") == ANSWER and found is None and (why := problem(cell.source)):
            found = f"{why} in the answer to {exercise}"
        checked = about.get("role") == CHECK and exercise in observations
        if found and checked and _kind(exercise) in TRACED:
            del observations[exercise]
            reasons[exercise] = f"{found}: byte golf and timing are plain NumPy and Python"
    return dataclasses.replace(outcome, observations=observations, reasons=reasons)


def problem(source: str) -> str | None:
    """Say what in ``source`` could forge a trace, and in which line, or None.

    What is no Python, also after Jupyter's own changes to it, cannot run and passes.
    """
    try:
        tree = _parsed(source)
    except (SyntaxError, ValueError):
        return None
    except (RecursionError, MemoryError):
        return "line 1 uses too deep a nesting"
    for node in ast.walk(tree):
        for word in _suspects(node):
            return f"line {getattr(node, 'lineno', 1)} uses {word}"
    return None


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:  # a magic, perhaps
        return ast.parse(TransformerManager().transform_cell(source))


def _suspects(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names if not _known(name.name))
        yield from (f"the name {n.asname}" for n in node.names if _misleading(n))
    elif isinstance(node, ast.ImportFrom):
        if node.level or not _known(node.module or ""):
            yield node.module or "a relative import"
        yield from (name.name for name in node.names if _hidden(name.name))
    elif isinstance(node, ast.Name):
        if node.id in _NAMES or (node.id.startswith("__") and node.id != "__name__"):
            yield node.id
    elif isinstance(node, ast.Attribute):
        yield from _suspect_attribute(node)
    elif isinstance(node, ast.MatchClass):
        yield from (name for name in node.kwd_attrs if _hidden(name) or name in _OF_ARRAYS)


def _suspect_attribute(node: ast.Attribute) -> Iterator[str]:
    of_module = isinstance(node.value, ast.Name) and node.value.id in _ALIASES
    if _hidden(node.attr) or (node.attr in _OF_ARRAYS and not of_module):
        yield f".{node.attr}"
    elif not isinstance(node.ctx, ast.Load):
        yield f"an assignment to .{node.attr}"


def _known(module: str) -> bool:
    """numpy and its public parts, rooflab itself but no part of it."""
    first, _, rest = module.partition(".")
    inner = rest.split(".") if rest else []
    return first in MODULES and not any(map(_hidden, inner)) and not (first == "rooflab" and rest)


def _hidden(name: str) -> bool:
    return name.startswith("_") or name in _ATTRIBUTES or name in _NAMES


def _misleading(name: ast.alias) -> bool:
    """Whether ``import … as`` gives something else a name by which modules are known here."""
    told = {"np": "numpy", "numpy": "numpy", "rl": "rooflab"}
    return name.asname in told and told[name.asname] != name.name


def _kind(exercise: object) -> str | None:
    found = exercises().get(exercise) if isinstance(exercise, str) else None
    return found.kind if found else None
