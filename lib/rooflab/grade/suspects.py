"""What in a statement could forge a trace, or fetch from the library what is to be derived.

Only syntax is looked at (words: forbidden.py); nothing is executed.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

import rooflab
from rooflab.cuda.modules import IMPORTED
from rooflab.grade import forbidden

Above = Mapping[ast.AST, ast.AST]  # node → the node that it is a part of
Look = Callable[[ast.AST, Above], Iterator[str]]
_FORMATS = ("format", "format_map")
WORDS = re.compile(r"[^\W\d]\w*")
_REACHES = re.compile(r"\{[^{}:!]*[.\[]")  # a field such as {0.array} in a text
# Of golf's own arrays, of any array, of the stand-in for CuPy; np.array, np.resize are no such.
_OF_OBJECTS = frozenset(("array", "buffer", "trace", "resize", "ufunc"))
_ARRAYS = ("ndarray", "NDArray")  # called, they make arrays over any memory
_TOLD = {"np": "numpy", "numpy": "numpy", "rl": "rooflab", "rooflab": "rooflab"}
_ALIASES = tuple(_TOLD)
_OURS = tuple(name for name, module in _TOLD.items() if module == "rooflab")
_FIXED = (*_ALIASES, *forbidden.LOOKING, "type")  # names that nothing else may have


def flaw(statements: Iterable[ast.stmt], look: Look) -> str | None:
    """Return the first thing that ``look`` finds, with its line, or None."""
    above: dict[ast.AST, ast.AST] = {}
    waiting: deque[ast.AST] = deque(statements)
    while waiting:
        node = waiting.popleft()
        for part in ast.iter_child_nodes(node):
            above[part] = node
            waiting.append(part)
        for word in look(node, above):
            return f"line {getattr(node, 'lineno', 1)} uses {word}"
    return None


def forging_with(starred: frozenset[str], cupy: bool = False) -> Look:
    """Return :func:`forging` where ``starred`` may be the names of something else.

    With ``cupy`` a function may import CuPy: where it is timed, it finds the stand-in that it gets
    as an argument anyway.
    """

    def look(node: ast.AST, above: Above) -> Iterator[str]:
        if isinstance(node, ast.Name) and node.id in starred:
            yield node.id
        known = _known_in_a_function if cupy and _in_a_function(node, above) else _known
        yield from forging(node, above, known)

    return look


def starred(trees: Iterable[ast.AST]) -> frozenset[str]:
    """Return the hidden names that a ``from … import *`` in ``trees`` may have given."""
    stars = {
        node.module or ""
        for tree in trees for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and any(name.name == "*" for name in node.names)
    }  # fmt: skip
    return frozenset().union(*(_given_by(module) for module in stars if _known(module)))


@cache
def _given_by(module: str) -> frozenset[str]:
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None) or dir(found)
    ours = module == "rooflab"
    return frozenset(n for n in names if (n not in rooflab._HOME if ours else hidden(n)))


def forging(node: ast.AST, above: Above, known: Callable[[str], bool]) -> Iterator[str]:
    """What could forge the trace of byte golf or the log of a timing exercise.

    ``known``: whether a module may be imported here.
    """
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names if not known(name.name))
        yield from (f"the name {n.asname or n.name}" for n in node.names if _misleading(n))
    elif isinstance(node, ast.ImportFrom):
        yield from _from(node, known)
    elif isinstance(node, ast.Name):
        if (
            node.id in forbidden.NAMES
            or (node.id.startswith("__") and node.id != "__name__")
            or forbidden.HISTORY.fullmatch(node.id)
        ):
            yield node.id
        elif node.id in ("type", *_ARRAYS) and not _only_asked(node, above):
            yield f"{node.id} itself"
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node)
        if node.attr in _ARRAYS and not _only_asked(node, above):
            yield f".{node.attr} itself"
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if node.name.startswith("__") and node.name not in forbidden.METHODS:
            yield f"the method {node.name}"
        yield from _loose(node)
    elif isinstance(node, ast.ClassDef):
        yield from (keyword.arg or "**" for keyword in node.keywords)
        yield from _loose(node)
    elif isinstance(node, ast.MatchClass) and (node.patterns or node.kwd_attrs):
        yield "a pattern that looks into an object"
    else:
        yield from _loose(node)
    yield from (f"the name {name}" for name in _bound(node) if name in _FIXED)


def _only_asked(node: ast.expr, above: Above) -> bool:
    """Whether a class is only compared, printed, asked for or annotated, and never called.

    ``type`` may be asked of one object; what it says is then treated as the class.
    """
    up = above.get(node)
    if isinstance(node, ast.Name) and node.id == "type":
        if not isinstance(up, ast.Call) or up.func is not node or up.keywords:
            return False
        if len(up.args) != 1 or isinstance(up.args[0], ast.Starred):
            return False
        node, up = up, above.get(up)
    elif isinstance(up, ast.Attribute):
        return True  # np.ndarray.sum: a method
    while isinstance(up, (ast.Tuple, ast.BinOp, ast.Subscript)):
        if isinstance(up, ast.Subscript) and up.value is not node:
            return False  # table[type(x)]: whose brackets are they?
        node, up = up, above.get(up)
    if isinstance(up, ast.Call):
        asking = isinstance(up.func, ast.Name) and up.func.id in forbidden.LOOKING
        return asking and node in up.args
    if isinstance(up, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return up.returns is node
    if isinstance(up, ast.AnnAssign):
        return up.annotation is node
    return isinstance(up, (ast.Compare, ast.FormattedValue, ast.arg))


def borrowing(node: ast.AST, above: Above) -> Iterator[str]:
    """What could run a function of the library although it is locked."""
    if isinstance(node, ast.Import):
        yield from (n.name for n in node.names if _lends(n.name))
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        names = [n.name for n in node.names]
        if node.level or _lends(module) or any(_lends(f"{module}.{name}") for name in names):
            yield module or "a relative import"
        if "*" in names and module in ("os", "sys"):
            yield f"{module}.*"
        yield from (name for name in names if _borrowed(name))
    elif isinstance(node, ast.Name) and node.id in forbidden.BORROWED_NAMES:
        yield node.id
    elif isinstance(node, ast.Attribute) and _borrowed(node.attr):
        yield f".{node.attr}"


def borrowing_words(text: str) -> str | None:
    """The same for a text that is no Python, such as a magic's: the first such word, its line."""
    for number, line in enumerate(text.split("\n"), 1):
        words = WORDS.findall(line.partition("#")[0])
        for word in words:
            loads = word in sys.stdlib_module_names and word not in forbidden.DERIVING_MODULES
            if _borrowed(word) or word in forbidden.BORROWED_NAMES or (loads and "import" in words):
                return f"line {number} uses {word}"
    return None


def _borrowed(name: str) -> bool:
    found = forbidden.STARTS_PROGRAMS.fullmatch(name)
    return bool(found) or name in forbidden.BORROWED_ATTRIBUTES


def _lends(module: str) -> bool:
    first, *parts = module.split(".")
    if first not in forbidden.DERIVING_MODULES:
        return not f"{module}.".startswith("IPython.display.")
    ours = f"{module}.".startswith(("rooflab.grade.", "rooflab.cuda.", "rooflab.golf."))
    return ours or any(map(_borrowed, parts))


def _from(node: ast.ImportFrom, known: Callable[[str], bool]) -> Iterator[str]:
    module = node.module or ""
    if node.level or not known(module):
        yield module or "a relative import"
    yield from (name.name for name in node.names if hidden(name.name))
    if module in IMPORTED:
        yield from (name.name for name in node.names if name.name in _OF_OBJECTS)
    if module == "rooflab":
        yield from (n.name for n in node.names if n.name not in (*rooflab._HOME, "*"))
    yield from (f"the name {n.asname}" for n in node.names if n.asname in _FIXED)
    yield from (n.name for n in node.names if n.name in _ARRAYS and n.asname not in (None, n.name))


def _loose(node: ast.AST) -> Iterator[str]:
    """rooflab itself, handed on: under another name nobody sees what is asked of it."""
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
    if hidden(node.attr) or (node.attr in _OF_OBJECTS and root not in _ALIASES):
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


def _known_in_a_function(module: str) -> bool:
    return module in IMPORTED or _known(module)


def _in_a_function(node: ast.AST, above: Above) -> bool:
    """Whether ``node`` runs only when a function is called."""
    while node in above:
        node = above[node]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return True
    return False


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
