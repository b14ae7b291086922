"""What in a statement could forge a trace, or fetch from the library what is to be derived.

Only syntax is looked at (words: forbidden.py); nothing is executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

import rooflab
from rooflab.grade import forbidden

Look = Callable[[ast.AST], Iterator[str]]
_FORMATS = ("format", "format_map")
_REACHES = re.compile(r"\{[^{}:!]*[.\[]")  # a field such as {0.array} in a text
_OF_ARRAYS = frozenset(("array", "buffer", "trace"))  # of golf's own arrays; np.array is no such
_TOLD = {"np": "numpy", "numpy": "numpy", "rl": "rooflab", "rooflab": "rooflab"}
_ALIASES = tuple(_TOLD)
_OURS = tuple(name for name, module in _TOLD.items() if module == "rooflab")


def flaw(statements: Iterable[ast.stmt], look: Look) -> str | None:
    """Return the first thing that ``look`` finds, with its line, or None."""
    for node in (node for statement in statements for node in ast.walk(statement)):
        for word in look(node):
            return f"line {getattr(node, 'lineno', 1)} uses {word}"
    return None


def forging(node: ast.AST) -> Iterator[str]:
    """What could forge the trace of byte golf or the log of a timing exercise."""
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names if not _known(name.name))
        yield from (f"the name {n.asname or n.name}" for n in node.names if _misleading(n))
    elif isinstance(node, ast.ImportFrom):
        yield from _from(node)
    elif isinstance(node, ast.Name):
        if node.id in forbidden.NAMES or (node.id.startswith("__") and node.id != "__name__"):
            yield node.id
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node)
    elif isinstance(node, ast.MatchClass) and (node.patterns or node.kwd_attrs):
        yield "a pattern that looks into an object"
    else:
        yield from _loose(node)
    yield from (f"the name {name}" for name in _bound(node) if name in _ALIASES)


def borrowing(node: ast.AST) -> Iterator[str]:
    """What could run a function of the library although it is locked."""
    if isinstance(node, ast.Import):
        yield from (n.name for n in node.names if _lends(n.name))
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        names = [n.name for n in node.names]
        if _lends(module) or (module == "rooflab" and "grade" in names):
            yield module
        yield from (name for name in names if name in forbidden.BORROWED_ATTRIBUTES)
    elif isinstance(node, ast.Name) and node.id in forbidden.BORROWED_NAMES:
        yield node.id
    elif isinstance(node, ast.Attribute) and node.attr in forbidden.BORROWED_ATTRIBUTES:
        yield f".{node.attr}"


def _lends(module: str) -> bool:
    return (
        module.partition(".")[0] in forbidden.BORROWED_MODULES
        or f"{module}.".startswith("rooflab.grade.")
    )  # fmt: skip


def _from(node: ast.ImportFrom) -> Iterator[str]:
    module = node.module or ""
    if node.level or not _known(module):
        yield module or "a relative import"
    yield from (name.name for name in node.names if hidden(name.name))
    if module == "rooflab":
        yield from (n.name for n in node.names if n.name not in (*rooflab._HOME, "*"))
    yield from (f"the name {n.asname}" for n in node.names if n.asname in _ALIASES)


def _loose(node: ast.AST) -> Iterator[str]:
    """rooflab itself, handed on: under another name nobody sees what is asked of it."""
    if isinstance(node, ast.Expr):
        return
    values = [node.value] if isinstance(node, ast.keyword) else ast.iter_child_nodes(node)
    for value in values:
        if isinstance(value, ast.Name) and value.id in _OURS and isinstance(value.ctx, ast.Load):
            yield f"{value.id} itself"


def _bound(node: ast.AST) -> Iterator[str | None]:
    """Names to which ``node`` gives another value, but for imports."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.MatchMapping):
        yield node.rest
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler,
                           ast.MatchAs, ast.MatchStar)):  # fmt: skip
        yield node.name


def _attribute(node: ast.Attribute) -> Iterator[str]:
    root = node.value.id if isinstance(node.value, ast.Name) else None
    if hidden(node.attr) or (node.attr in _OF_ARRAYS and root not in _ALIASES):
        yield f".{node.attr}"
    elif root in _OURS and node.attr not in rooflab._HOME:
        yield f"{root}.{node.attr}"
    elif node.attr in _FORMATS and _reaching(node.value):
        yield f".{node.attr} with a text that looks into an object"
    elif not isinstance(node.ctx, ast.Load):
        yield f"an assignment to .{node.attr}"


def _reaching(template: ast.expr) -> bool:
    """Whether a text to be formatted may name an attribute or an item; one not written here may."""
    plain = isinstance(template, ast.Constant) and isinstance(template.value, str)
    return not plain or bool(_REACHES.search(template.value))


def _known(module: str) -> bool:
    """numpy and its public parts, rooflab itself but no part of it."""
    first, _, rest = module.partition(".")
    if first not in forbidden.MODULES:
        return False
    return not rest or (first != "rooflab" and rest in forbidden.PARTS)


def hidden(name: str) -> bool:
    """Whether an attribute of that name may be a module, a frame or the insides of something."""
    return name.startswith("_") or name in forbidden.ATTRIBUTES | forbidden.NAMES


def _misleading(name: ast.alias) -> bool:
    """Whether ``import … as`` gives something else a name by which modules are known here, or
    rooflab a name by which it is not."""
    asked = name.asname or name.name
    if name.name == "rooflab":
        return asked not in _OURS
    return asked in _TOLD and _TOLD[asked] != name.name
