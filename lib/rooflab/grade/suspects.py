"""What in a statement could fetch from the library what is to be derived.

Only syntax is looked at, for words; nothing is executed.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator

# Modules of which a part is harmless, and that part.
ONLY = {
    "contextlib": ("contextmanager", "suppress", "nullcontext", "closing", "ExitStack"),
    "copy": ("copy", "deepcopy"),
    "dataclasses": ("dataclass", "field"),
    "tqdm": ("tqdm", "trange"),
    "tqdm.auto": ("tqdm", "trange"),
    "tqdm.notebook": ("tqdm", "trange"),
}
_BY_NAME = frozenset((  # read or set what a text names, or run that text
    "update_wrapper", "singledispatch", "singledispatchmethod", "get_type_hints",
    "evaluate_forward_ref", "ForwardRef",
))  # fmt: skip
_SHELL = frozenset(("shell", "do_execute"))  # Jupyter's own, which run a text
# What an answer to derive may import: with others code could be loaded or run once more.
DERIVING_MODULES = frozenset((
    "numpy", "math", "cmath", "statistics", "itertools", "functools", "collections", "fractions",
    "decimal", "random", "time", "typing", "operator", "rooflab", "__future__", "dataclasses",
    "numbers", "enum", "abc", "copy", "re", "json", "string", "textwrap", "pprint",
    "warnings", "logging", "traceback", "datetime", "calendar", "heapq", "bisect", "array",
    "os", "sys", "pathlib", "scipy", "matplotlib", "numba", "cupy", "tqdm", "ipywidgets",
))  # fmt: skip
BORROWED_NAMES = frozenset((
    "eval", "exec", "compile", "__import__", "__builtins__", "_lock", "getattr", "setattr",
    "delattr", "vars", "globals", "open", "get_ipython",
))  # fmt: skip
BORROWED_ATTRIBUTES = frozenset((
    "__code__", "__globals__", "__closure__", "__import__", "__builtins__", "__dict__", "__spec__",
    "__loader__", "__subclasses__", "__getattribute__", "__self__", "_getframe", "f_back",
    "f_globals", "f_locals", "tb_frame", "CodeType", "FunctionType", "getsource", "grade",
    "unlock", "import_module", "reload", "exec_module", "load_module", "modules", "meta_path",
    "path_hooks", "run_path", "run_module", "system", "popen", "fork", "forkpty", "get_objects",
    "get_referents", "get_referrers", "run_cell", "run_line_magic", "run_cell_magic", "eval",
    "compile", "getoutput", "check_output", "open", "read_text", "read_bytes", "fromfile",
    "testing", "test", "f2py", "ctypeslib", "settrace", "setprofile", "attrgetter",
    "methodcaller", "get_field",
)) | _BY_NAME | _SHELL  # fmt: skip
STARTS_PROGRAMS = re.compile(r"(?:exec|spawn|posix_spawn)(?:[lv]?[pe]{0,2})")  # os.execv and kin
# In a function, or assigned: there a command can get the inputs of a case, or lend its values.
COMMAND = re.compile(
    r"(?:^[ \t]+|=[ \t]*)(?:!|%(?:sx|system)\b)|^[ \t]*%(?:run|load)\b", re.MULTILINE
)

Look = Callable[[ast.AST], Iterator[str]]
_IMPORT_NODES = re.compile(r"\b(?:from|import) ([\w., ]+?)(?: import\b|[^\w., ]|$)")
WORDS = re.compile(r"[^\W\d]\w*")


def flaw(statements: Iterable[ast.stmt], look: Look) -> str | None:
    """Return the first thing that ``look`` finds, with its line, or None."""
    waiting: deque[ast.AST] = deque(statements)
    while waiting:
        node = waiting.popleft()
        waiting += ast.iter_child_nodes(node)
        for word in look(node):
            return f"line {getattr(node, 'lineno', 1)} uses {word}"
    return None


def borrowing(node: ast.AST) -> Iterator[str]:
    """What could run a function of the library although it is locked."""
    if not isinstance(node, ast.Name):
        yield from (name for name in _given_by(node) if name in ("__builtins__", "__import__"))
    if isinstance(node, ast.Import):
        yield from (n.name for n in node.names if _lends(n.name))
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        names = [n.name for n in node.names]
        if module in ONLY and {*names} <= {*ONLY[module]}:
            return
        if node.level or _lends(module) or any(_lends(f"{module}.{name}") for name in names):
            yield module or "a relative import"
        if "*" in names and module in ("os", "sys"):
            yield f"{module}.*"
        yield from (name for name in names if _borrowed(name))
    elif isinstance(node, ast.Name) and node.id in BORROWED_NAMES:
        yield node.id
    elif isinstance(node, ast.Attribute) and _borrowed(node.attr):
        yield f".{node.attr}"


def borrowing_words(text: str) -> str | None:
    """The same for a text that is no Python, such as a magic's: the first such word, its line."""
    for number, line in enumerate(text.split("\n"), 1):
        words = WORDS.findall(line.partition("#")[0])
        for word in words:
            if _borrowed(word) or word in BORROWED_NAMES:
                return f"line {number} uses {word}"
        for module in _IMPORT_NODES.findall(" ".join(line.split())):
            for name in re.split(r"[\s,]+", module.partition(" as ")[0].strip()):
                if _lends(name):
                    return f"line {number} uses {name}"
    return None


def _borrowed(name: str) -> bool:
    found = STARTS_PROGRAMS.fullmatch(name)
    return bool(found) or name in BORROWED_ATTRIBUTES


def _lends(module: str) -> bool:
    first, *parts = module.split(".")
    if first not in DERIVING_MODULES:
        return not f"{module}.".startswith("IPython.display.")
    ours = f"{module}.".startswith(("rooflab.grade.", "rooflab.labs.cuda.", "rooflab.labs.golf."))
    return ours or any(map(_borrowed, parts))


_NAMED = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs,
    ast.MatchStar,
)  # fmt: skip


def _given_by(node: ast.AST) -> Iterator[str]:
    """Names to which ``node`` itself gives a value, of an import those that it chooses itself."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (each.asname for each in node.names if each.asname)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, _NAMED) and node.name:
        yield node.name
