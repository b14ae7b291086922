"""What in a statement could forge a trace, or fetch from the library what is to be derived.

Only syntax is looked at (words: forbidden.py); nothing is executed.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import ModuleType

import rooflab
from rooflab.cuda.modules import IMPORTED
from rooflab.grade import forbidden
from rooflab.grade.scope import CLASS, FUNCTION, MODULE, Above, Scope, bindings

Look = Callable[[ast.AST, Above], Iterator[str]]
_FORMATS = ("format", "format_map")
_IMPORTS = re.compile(r"\b(?:from|import) ([\w., ]+?)(?: import\b|[^\w., ]|$)")
WORDS = re.compile(r"[^\W\d]\w*")
_REACHES = re.compile(r"\{[^{}:!]*[.\[]")  # a field such as {0.array} in a text
# Of golf's own arrays, of any array, of the stand-in for CuPy; np.array, np.resize are no such.
_OF_OBJECTS = frozenset(("array", "buffer", "trace", "resize", "ufunc"))
_ARRAYS = ("ndarray", "NDArray")  # called, they make arrays over any memory
_OURS = tuple(name for name, module in forbidden.ALIASES.items() if module == "rooflab")
_FIXED = (
    *forbidden.ALIASES,
    *forbidden.LOOKING,
    "type",
    "enumerate",
)  # names that nothing else may have
_PASSED_BY = ("functools.wraps",)
_OF_ONE = ("copy.deepcopy",)  # its second argument gathers the insides of what is copied


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


def forging_with(scope: Scope, cupy: bool = False) -> Look:
    """Return :func:`forging` for the names of ``scope``.

    With ``cupy`` a function may import CuPy: where it is timed, it finds the stand-in that it gets
    as an argument anyway.
    """

    def look(node: ast.AST, above: Above) -> Iterator[str]:
        known = _known_in_a_function if cupy and _in_a_function(node, above) else _known
        yield from forging(node, above, scope, known)

    return look


def forging(
    node: ast.AST, above: Above, scope: Scope, known: Callable[[str], bool]
) -> Iterator[str]:
    """What could forge the trace of byte golf or the log of a timing exercise.

    ``known``: whether a module may be imported here.
    """
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names if not known(name.name))
        yield from (f"the name {n.asname or n.name}" for n in node.names if _misleading(n))
    elif isinstance(node, ast.ImportFrom):
        yield from _from(node, known)
    elif isinstance(node, ast.Name):
        yield from _name(node, above, scope)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node, above, scope)
        if node.attr in _ARRAYS and not _only_asked(node, above):
            yield f".{node.attr} itself"
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if node.name.startswith("__") and node.name not in forbidden.METHODS:
            yield f"the method {node.name}"
    elif isinstance(node, ast.ClassDef):
        yield from (keyword.arg or "**" for keyword in node.keywords)
    elif isinstance(node, ast.MatchClass) and (node.patterns or node.kwd_attrs):
        yield "a pattern that looks into an object"
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (f"the name {name}" for name in bindings(node) if name in _FIXED)
    if not isinstance(node, (ast.Name, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from (f"the name {name}" for name in _given_by(node) if name.startswith("__"))


def _given_by(node: ast.AST) -> Iterator[str]:
    """The names that ``node`` gives, of an import those that it chooses itself."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (each.asname for each in node.names if each.asname)
    else:
        yield from bindings(node)


def _name(node: ast.Name, above: Above, scope: Scope) -> Iterator[str]:
    stored = not isinstance(node.ctx, ast.Load)
    plain = ("__slots__",) if stored else ("__name__",)
    if (
        node.id in forbidden.NAMES
        or (node.id.startswith("__") and node.id not in plain)
        or forbidden.HISTORY.fullmatch(node.id)
    ):
        yield node.id
    elif node.id in ("type", *_ARRAYS) and not _only_asked(node, above):
        yield f"{node.id} itself"
    if stored:
        return
    for path in scope.modules.get(node.id, ()):
        module, _, name = path.rpartition(".")
        if module and scope.kinds.get(node.id) != MODULE and hidden(name):
            yield node.id  # by a star, perhaps
        elif module:
            yield from ((node.id,) if any(of_module(module, name)) else ())
        yield from _handed_on(node, path, above)
    if scope.closed and scope.is_class(node, above) and not _of_a_class(node, above):
        yield f"{node.id} itself, whose methods reach into their own object"
    if node.id in scope.closed and _inside_a_class(node, above):
        yield f"{node.id} itself"


def _handed_on(node: ast.expr, path: str, above: Above) -> Iterator[str]:
    """A module, or what takes texts that look into an object, where it does not stay in sight."""
    up = above.get(node)
    called = isinstance(up, ast.Call) and up.func is node
    if is_module(path) and path not in IMPORTED:  # CuPy's stand-in is an argument like another
        if not (isinstance(up, ast.Attribute) and up.value is node):
            yield f"{ast.unparse(node)} itself"
    elif path in _PASSED_BY:
        one = called and len(up.args) == 1 and isinstance(up.args[0], ast.Name) and not up.keywords
        if not (one and up in getattr(above.get(up), "decorator_list", ())):
            yield f"{ast.unparse(node)} other than as a decorator with a function"
    elif path in _OF_ONE:
        if not called or len(up.args) != 1 or up.keywords or isinstance(up.args[0], ast.Starred):
            yield f"{ast.unparse(node)} with more than one object"
    elif path.partition(".")[0] == "tqdm" and path.rpartition(".")[2] in forbidden.BARS:
        told = [keyword.arg for keyword in up.keywords] if called else [None]
        given = getattr(up, "args", ())  # of trange: the numbers of a range
        more = path.endswith(".tqdm") and (
            len(given) > 1 or any(isinstance(each, ast.Starred) for each in given)
        )
        if more or not {*told} <= {*forbidden.OF_BARS}:
            yield f"{ast.unparse(node)} with more than {', '.join(forbidden.OF_BARS)}"
        elif not _looped_over(up, above):
            yield f"{ast.unparse(node)} other than in a loop: for i in tqdm(...)"


def _looped_over(call: ast.expr, above: Above) -> bool:
    """Whether a loop runs over what a call gives, and nothing else gets hold of it."""
    up = above.get(call)
    if isinstance(up, ast.Call) and isinstance(up.func, ast.Name) and up.func.id == "enumerate":
        return up.func is not call and _looped_over(up, above)
    return isinstance(up, (ast.For, ast.comprehension)) and up.iter is call


def _of_a_class(node: ast.Name, above: Above) -> bool:
    """Whether a class is only called, asked, built on, raised or caught, and not handed on."""
    up = above.get(node)
    if isinstance(up, (ast.Call, ast.Attribute)):
        return node in (getattr(up, "func", None), getattr(up, "value", None)) or _only_asked(
            node, above
        )
    built = isinstance(up, ast.ClassDef) and node in up.bases
    return built or isinstance(up, (ast.Raise, ast.ExceptHandler)) or _only_asked(node, above)


def _inside_a_class(node: ast.AST, above: Above) -> bool:
    while node in above:
        node = above[node]
        if isinstance(node, ast.ClassDef):
            return True
    return False


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
    if not isinstance(node, ast.Name):
        yield from (name for name in _given_by(node) if name in ("__builtins__", "__import__"))
    if isinstance(node, ast.Import):
        yield from (n.name for n in node.names if _lends(n.name))
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        names = [n.name for n in node.names]
        if module in forbidden.ONLY and {*names} <= {*forbidden.ONLY[module]}:
            return
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
            if _borrowed(word) or word in forbidden.BORROWED_NAMES:
                return f"line {number} uses {word}"
        for module in _IMPORTS.findall(" ".join(line.split())):
            for name in re.split(r"[\s,]+", module.partition(" as ")[0].strip()):
                if _lends(name):
                    return f"line {number} uses {name}"
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
        return
    for name in node.names:
        if name.name != "*":
            yield from of_module(module, name.name)
        elif module in forbidden.ONLY:
            yield f"{module}.*"
    yield from (f"the name {n.asname}" for n in node.names if n.asname in _FIXED)
    yield from (n.name for n in node.names if n.name in _ARRAYS and n.asname not in (None, n.name))


def of_module(module: str, name: str) -> Iterator[str]:
    """What must not be asked of a module: its insides, other modules, what runs files."""
    path = f"{module}.{name}"
    if module == "rooflab":
        refused = name not in rooflab._HOME or name == "mine"  # it gives whatever a text names
    elif module in forbidden.ONLY:
        refused = name not in forbidden.ONLY[module]
    elif module in IMPORTED:
        refused = hidden(name) or name in _OF_OBJECTS
    elif _known(path):
        refused = False
    else:
        everything = None if module.startswith("numpy") else _all_of(module)
        refused = (
            hidden(name)
            or name in forbidden.OF_MODULES
            or is_module(path)
            or (everything is not None and name not in everything)
        )
    if refused:
        yield name if module in IMPORTED else path


@cache
def _all_of(module: str) -> frozenset[str] | None:
    """The names that a module of Python's own has for everybody, None if it does not say."""
    names = getattr(importlib.import_module(module), "__all__", None) if _known(module) else None
    return frozenset(names) if names else None


@cache
def is_module(path: str) -> bool:
    """Whether a dotted name is a module."""
    if path in (*forbidden.MODULES, *forbidden.ONLY, *IMPORTED):
        return True
    module, _, name = path.rpartition(".")
    if not module or not is_module(module) or module.startswith(("cupy", "rooflab")):
        return False
    try:
        found = importlib.import_module(module)
    except ImportError:
        return False
    return isinstance(getattr(found, name, None), ModuleType)


def _attribute(node: ast.Attribute, above: Above, scope: Scope) -> Iterator[str]:
    modules = {path for path in scope.module(node.value) if is_module(path)}
    for module in modules:
        yield from (f"{ast.unparse(node)}" for _ in of_module(module, node.attr))
        yield from _handed_on(node, f"{module}.{node.attr}", above)
    root = node.value.id if isinstance(node.value, ast.Name) else None
    certain = modules and not (root and scope.kinds.get(root) != MODULE)
    if certain and isinstance(node.ctx, ast.Load):
        return
    own = not modules and scope.own(node.value, above)
    if _of_the_base(node, above, scope):
        return
    if node.attr.startswith("__") or (inner(node.attr) and not own):
        yield f".{node.attr}"
    elif node.attr in scope.closed and scope.is_class(node.value, above):
        yield f".{node.attr} of a class"
    elif node.attr in _FORMATS and _reaching(node.value):
        yield f".{node.attr} with a text that looks into an object"
    elif not isinstance(node.ctx, ast.Load) and not own and scope.kinds.get(root) != FUNCTION:
        yield f"an assignment to .{node.attr}"


def _of_the_base(node: ast.Attribute, above: Above, scope: Scope) -> bool:
    """Whether it is ``super().__init__``, called in a class of the learner's own."""
    asked, up, inside = node.value, above.get(node), node
    if node.attr != "__init__" or not (isinstance(up, ast.Call) and up.func is node):
        return False
    if not (isinstance(asked, ast.Call) and isinstance(asked.func, ast.Name)):
        return False
    while inside in above and not isinstance(inside, ast.ClassDef):
        inside = above[inside]
    own = isinstance(inside, ast.ClassDef) and scope.kinds.get(inside.name) == CLASS
    plain = not asked.args and not asked.keywords and "super" not in scope.kinds
    return own and plain and asked.func.id == "super"


def _reaching(template: ast.expr) -> bool:
    """Whether a text to be formatted may name an attribute or an item; one not written here may."""
    plain = isinstance(template, ast.Constant) and isinstance(template.value, str)
    return not plain or bool(_REACHES.search(template.value))


def _known(module: str) -> bool:
    """numpy and its public parts, rooflab itself but no part of it, harmless ones of Python."""
    first, _, rest = module.partition(".")
    if first not in forbidden.MODULES:
        return module in forbidden.ONLY
    return not rest or (first in ("numpy", "collections") and rest in forbidden.PARTS)


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


def inner(name: str) -> bool:
    """Whether an attribute of that name may be asked of an object of one's own alone."""
    return hidden(name) or name in _OF_OBJECTS


def _misleading(name: ast.alias) -> bool:
    """Whether ``import … as`` gives something else a name by which modules are known here, or
    rooflab a name by which it is not."""
    asked = name.asname or name.name.partition(".")[0]
    if name.name == "rooflab":
        return asked not in _OURS
    told = name.name if name.asname else asked
    return asked in forbidden.ALIASES and forbidden.ALIASES[asked] != told
