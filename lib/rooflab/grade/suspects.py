"""What in a statement could forge a trace, or fetch from the library what is to be derived.

Only syntax is looked at (the words stand below); nothing is executed.
"""

from __future__ import annotations

import ast
import importlib
import re
import types
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import rooflab
from rooflab.labs.cuda.modules import IMPORTED

# Words of Python that an answer has no need of, and with which it could reach behind its back.
#
# gate.py reads answers for them. ``TRACED`` concerns byte golf and timing, whose trace is kept
# in the learner's own process; ``BORROWED`` the exercises that ask to derive what the library has.


MODULES = ("numpy", "math", "cmath", "statistics", "itertools", "functools", "collections",
           "fractions", "decimal", "random", "time", "typing", "operator", "rooflab",
           "__future__")  # fmt: skip
# Of numpy and collections.
PARTS = ("linalg", "random", "fft", "polynomial", "typing", "dtypes", "exceptions", "abc")
ALIASES = {"np": "numpy", "numpy": "numpy", "rl": "rooflab", "rooflab": "rooflab"}
# Modules of which a part is harmless, and that part.
ONLY = {
    "contextlib": ("contextmanager", "suppress", "nullcontext", "closing", "ExitStack"),
    "copy": ("copy", "deepcopy"),
    "dataclasses": ("dataclass", "field"),
    "tqdm": ("tqdm", "trange"),
    "tqdm.auto": ("tqdm", "trange"),
    "tqdm.notebook": ("tqdm", "trange"),
}
# A bar's text may look into an object, and its other methods take the names of attributes.
BARS, OF_BARS = ("tqdm", "trange"), ("desc", "total", "leave", "disable", "unit")
NAMES = frozenset((
    "eval", "exec", "compile", "getattr", "setattr", "delattr", "globals", "locals", "vars",
    "open", "breakpoint", "get_ipython", "memoryview", "exit", "quit", "help", "_report", "_lock",
    "In", "Out",
))  # fmt: skip
# What Jupyter keeps of earlier cells: their sources, also that of a check, and their values.
HISTORY = re.compile(r"_i{1,3}\d*|_\d+|_(?:ih|oh|dh)")
_ATTRIBUTES = frozenset((  # modules in modules, frames, files with code, the stand-in's insides
    "sys", "os", "modules", "builtins", "ctypes", "ctypeslib", "f2py", "testing", "lib", "core",
    "distutils", "importlib", "inspect", "f_back", "f_globals", "f_locals", "f_builtins", "f_code",
    "tb_frame", "tb_next", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "ag_frame",
    "tofile", "fromfile", "memmap", "DataSource", "gpu", "attrgetter", "methodcaller", "savetxt",
    "dump", "loads", "pickle", "types", "CodeType", "FunctionType", "copyreg", "grade",
    "exercises", "run", "obj", "fget", "fset", "fdel", "pyfunc", "rec", "recarray",
    "chararray", "frombuffer", "data", "mro", "cffi", "capsule", "free_at", "stamp", "wrapattr",
    "wrapper_getattr", "format_meter", "status_printer", "external_write_mode",
))  # fmt: skip
OF_MODULES = frozenset(("load", "test"))  # np.load and np.test run what is in a file
_MAKES_CLASSES = frozenset(("ABCMeta", "NamedTupleMeta", "get_origin"))  # gives type itself
_RUNNING = (types.CodeType, types.FrameType, types.TracebackType, types.GeneratorType,
            types.CoroutineType, types.AsyncGeneratorType)  # fmt: skip
_INSIDE_RUNNING = frozenset(
    name for kind in _RUNNING for name in dir(kind) if re.match("(?:ag|co|cr|f|gi|tb)_", name)
)
# Of a class of the learner's own; others tell NumPy where memory lies, or hide what an object is.
METHODS = frozenset((
    "__init__", "__call__", "__iter__", "__next__", "__len__", "__getitem__", "__enter__",
    "__exit__", "__repr__", "__str__", "__post_init__",
))  # fmt: skip
LOOKING = frozenset(("isinstance", "issubclass", "print"))  # calls that hand on no class
_BY_NAME = frozenset((  # read or set what a text names, or run that text
    "update_wrapper", "singledispatch", "singledispatchmethod", "get_type_hints",
    "evaluate_forward_ref", "ForwardRef",
))  # fmt: skip
_SHELL = frozenset(("shell", "do_execute"))  # Jupyter's own, which run a text
_INNER = frozenset((  # modules in modules of MODULES under names of their own
    "ma", "extras", "mrecords", "matlib", "matrixlib", "defmatrix", "mu", "ntypes", "umath",
    "overrides", "bltns", "pu", "np", "la", "stdlib_re",
))  # fmt: skip
# Changes how later cells are read, which gate.py cannot know of.
_FUTURE = frozenset(("barry_as_FLUFL",))
ATTRIBUTES = _ATTRIBUTES | _BY_NAME | _SHELL | _INNER | _FUTURE | _MAKES_CLASSES | _INSIDE_RUNNING

# What an answer to derive may import: with others code could be loaded or run once more.
DERIVING_MODULES = frozenset((
    *MODULES, "dataclasses", "numbers", "enum", "abc", "copy", "re", "json", "string",
    "textwrap", "pprint", "warnings", "logging", "traceback", "datetime", "calendar", "heapq",
    "bisect", "array", "os", "sys", "pathlib", "scipy", "matplotlib", "numba", "cupy", "tqdm",
    "ipywidgets",
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

# What the names in an answer certainly are: modules, classes and objects of the learner's own.
#
# An attribute such as ``.array`` reaches behind the arrays of byte golf, and is as good a name as
# any for an attribute of one's own object. So the gate has to know whose an object is. It is the
# learner's own where no other can stand in its place: ``self`` in a method that nobody can hand
# another object to, and a name that only ever holds an object of such a class.


Above = Mapping[ast.AST, ast.AST]  # node → the node that it is a part of
_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OF_CLASSES = frozenset((  # decorators that leave a class what it is
    "dataclasses.dataclass", "functools.total_ordering", "typing.final",
))  # fmt: skip
_OF_METHODS = ("property", "classmethod")  # that hand a method its own object or class
_BUILT_IN = (*_OF_METHODS, "object")
_DEEPEST = 8  # dots in the name of a module
CLASS, FUNCTION, OBJECT, MODULE, OTHER = "class", "function", "object", "module", "other"


@dataclass(frozen=True)
class Scope:
    """``modules``: name → the modules that it may hold; ``kinds``: name → what it certainly is.

    ``closed``: names of methods that reach into their own object. Nothing but an object of their
    class may be handed to them, so neither they nor their class are handed on.
    """

    modules: Mapping[str, frozenset[str]]
    kinds: Mapping[str, str]
    closed: frozenset[str]

    def module(self, node: ast.AST) -> frozenset[str]:
        """The modules that an expression may be, such as ``np.linalg``; none if it is no such."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute) and len(parts) < _DEEPEST:
            parts.insert(0, node.attr)
            node = node.value
        found = self.modules.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return frozenset(".".join([module, *parts]) for module in found)

    def own(self, node: ast.AST, above: Above) -> bool:
        """Whether an expression certainly is an object or a class of the learner's own."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and self.kinds.get(node.func.id) == CLASS
        if not isinstance(node, ast.Name):
            return False
        return (
            self.kinds.get(node.id) in (CLASS, OBJECT) or method_of(node, above, self) is not None
        )

    def is_class(self, node: ast.AST, above: Above) -> bool:
        """Whether an expression is a class of the learner's own: by its name, or as ``cls``."""
        if not isinstance(node, ast.Name):
            return False
        method = method_of(node, above, self)
        named = [each.id for each in method.decorator_list] if method else []
        return self.kinds.get(node.id) == CLASS or "classmethod" in named


def scope_of(trees: Iterable[ast.Module], hidden: Callable[[str], bool]) -> Scope:
    """Return what is known of the names in ``trees``: of all cells that run before a check.

    ``hidden``: whether an attribute of that name must not be asked of any other object.
    """
    nodes = [node for tree in trees for node in ast.walk(tree)]
    modules = defaultdict(set, {name: {told} for name, told in ALIASES.items()})
    for node in nodes:
        for name, module in _imported(node):
            modules[name].add(module)
    bound: dict[str, list[ast.AST]] = defaultdict(list)
    for node in nodes:
        for name in bindings(node):
            bound[name].append(node)
    known = Scope({n: frozenset(m) for n, m in modules.items()}, {}, frozenset())
    imports = {n for n, by in bound.items() if all(isinstance(b, _IMPORTS) for b in by)}
    whole = not any(name in bound for name in _BUILT_IN)
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    inner = {id(each) for node in classes for each in ast.walk(node) if each is not node}
    plain = {n for n, by in bound.items() if whole
             and all(isinstance(b, ast.ClassDef) and id(b) not in inner for b in by)}  # fmt: skip
    built_on: dict[str, list[str]] = defaultdict(list)
    for name in plain:
        for base in (base for node in bound[name] for base in node.bases):
            built_on[getattr(base, "id", "")].append(name)
    waiting = [*plain]
    while waiting:
        name = waiting.pop()
        if name in plain and not all(_plain(b, plain, known, imports) for b in bound[name]):
            plain.discard(name)
            waiting += built_on[name]
    made = {id(n.targets[0]): n.value for n in nodes if isinstance(n, ast.Assign)
            and len(n.targets) == 1}  # fmt: skip
    for node in nodes:  # a function in another's clothes is still one's own
        if isinstance(node, _FUNCTIONS) and _wrapped(node, known, imports):
            made[id(node)] = node
    kinds = {name: _kind(name, by, plain, made) for name, by in bound.items()}
    kinds |= dict.fromkeys((*imports, *ALIASES), MODULE)  # nothing else may be called np
    return Scope(known.modules, kinds, _closed(nodes, hidden) if plain else frozenset())


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for name in node.names:
            first = name.name.partition(".")[0]
            yield (name.asname or first, name.name if name.asname else first)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        for name in node.names:
            if name.name != "*":
                yield (name.asname or name.name, f"{node.module}.{name.name}")
            elif node.module in MODULES:
                found = importlib.import_module(node.module)
                all_of_it = getattr(found, "__all__", None) or dir(found)
                yield from ((each, f"{node.module}.{each}") for each in all_of_it)


def bindings(node: ast.AST) -> Iterator[str]:
    """Names to which ``node`` itself gives a value."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs,
                           ast.MatchStar)):  # fmt: skip
        if node.name:
            yield node.name
    elif isinstance(node, _IMPORTS):
        yield from (name for name, _ in _imported(node))


def _plain(node: ast.ClassDef, plain: set[str], known: Scope, imports: set[str]) -> bool:
    """Whether a class is built on nothing but classes of the learner's own."""
    if node.keywords or not all(
        isinstance(base, ast.Name) and (base.id in plain or base.id == "object")
        for base in node.bases
    ):
        return False
    for each in node.decorator_list:
        called = each.func if isinstance(each, ast.Call) else each
        root = called.value if isinstance(called, ast.Attribute) else called
        of = known.module(called)
        if not of or not of <= _OF_CLASSES or getattr(root, "id", None) not in imports:
            return False
    return True


def _wrapped(node: ast.FunctionDef, known: Scope, imports: set[str]) -> bool:
    """Whether a function has no decorators but ``functools.wraps``."""
    calls = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    roots = [call.value if isinstance(call, ast.Attribute) else call for call in calls]
    return len(calls) == len(node.decorator_list) and all(
        known.module(call) == {"functools.wraps"} and getattr(root, "id", None) in imports
        for call, root in zip(calls, roots, strict=True)
    )


def _kind(name: str, by: list[ast.AST], plain: set[str], made: Mapping[int, ast.AST]) -> str:
    if name in plain:
        return CLASS
    if all(made.get(id(node)) is node for node in by):
        return FUNCTION
    values = [made.get(id(node)) for node in by]
    objects = [isinstance(v, ast.Call) and isinstance(v.func, ast.Name) and v.func.id in plain
               for v in values]  # fmt: skip
    return OBJECT if all(objects) else OTHER


def _closed(nodes: Iterable[ast.AST], hidden: Callable[[str], bool]) -> frozenset[str]:
    """The methods that reach into ``self`` as nobody may reach into another object.

    Those with two underscores are called by Python alone: the gate knows nobody else who may.
    """
    methods = [m for node in nodes if isinstance(node, ast.ClassDef) for m in node.body
               if isinstance(m, _FUNCTIONS) and not m.name.startswith("__")]  # fmt: skip
    return frozenset(
        method.name for method in methods for node in ast.walk(method)
        if isinstance(node, ast.Attribute)
        and (hidden(node.attr) or not isinstance(node.ctx, ast.Load))
    )  # fmt: skip


def method_of(name: ast.Name, above: Above, scope: Scope) -> ast.FunctionDef | None:
    """The method whose own object ``name`` is, None if it is something else."""
    node: ast.AST = name
    while node in above:
        node = above[node]
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            continue
        arguments = node.args
        taken = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        more = [a for a in (arguments.vararg, arguments.kwarg) if a]
        if name.id not in {each.arg for each in (*taken, *more)}:
            continue
        return node if _is_its_own(node, name.id, above.get(node), scope) else None
    return None


def _is_its_own(method: ast.AST, name: str, inside: ast.AST | None, scope: Scope) -> bool:
    """Whether ``name`` is the first argument of a method of a plain class, and stays that."""
    if not isinstance(inside, ast.ClassDef) or scope.kinds.get(inside.name) != CLASS:
        return False
    if isinstance(method, ast.Lambda) or method not in inside.body:
        return False
    first = (*method.args.posonlyargs, *method.args.args)
    if not first or first[0].arg != name:
        return False
    if not all(getattr(each, "id", None) in _OF_METHODS for each in method.decorator_list):
        return False
    inner = (node for statement in method.body for node in ast.walk(statement))
    return name not in {bound for node in inner for bound in bindings(node)}


Look = Callable[[ast.AST, Above], Iterator[str]]
_FORMATS = ("format", "format_map")
_IMPORT_NODES = re.compile(r"\b(?:from|import) ([\w., ]+?)(?: import\b|[^\w., ]|$)")
WORDS = re.compile(r"[^\W\d]\w*")
_REACHES = re.compile(r"\{[^{}:!]*[.\[]")  # a field such as {0.array} in a text
# Of golf's own arrays, of any array, of the stand-in for CuPy; np.array, np.resize are no such.
_OF_OBJECTS = frozenset(("array", "buffer", "trace", "resize", "ufunc"))
_ARRAYS = ("ndarray", "NDArray")  # called, they make arrays over any memory
_OURS = tuple(name for name, module in ALIASES.items() if module == "rooflab")
_FIXED = (
    *ALIASES,
    *LOOKING,
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
        if node.name.startswith("__") and node.name not in METHODS:
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
        node.id in NAMES
        or (node.id.startswith("__") and node.id not in plain)
        or HISTORY.fullmatch(node.id)
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
    elif path.partition(".")[0] == "tqdm" and path.rpartition(".")[2] in BARS:
        told = [keyword.arg for keyword in up.keywords] if called else [None]
        given = getattr(up, "args", ())  # of trange: the numbers of a range
        more = path.endswith(".tqdm") and (
            len(given) > 1 or any(isinstance(each, ast.Starred) for each in given)
        )
        if more or not {*told} <= {*OF_BARS}:
            yield f"{ast.unparse(node)} with more than {', '.join(OF_BARS)}"
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
        asking = isinstance(up.func, ast.Name) and up.func.id in LOOKING
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


def _from(node: ast.ImportFrom, known: Callable[[str], bool]) -> Iterator[str]:
    module = node.module or ""
    if node.level or not known(module):
        yield module or "a relative import"
        return
    for name in node.names:
        if name.name != "*":
            yield from of_module(module, name.name)
        elif module in ONLY:
            yield f"{module}.*"
    yield from (f"the name {n.asname}" for n in node.names if n.asname in _FIXED)
    yield from (n.name for n in node.names if n.name in _ARRAYS and n.asname not in (None, n.name))


def of_module(module: str, name: str) -> Iterator[str]:
    """What must not be asked of a module: its insides, other modules, what runs files."""
    path = f"{module}.{name}"
    if module == "rooflab":
        refused = name not in rooflab._HOME or name == "mine"  # it gives whatever a text names
    elif module in ONLY:
        refused = name not in ONLY[module]
    elif module in IMPORTED:
        refused = hidden(name) or name in _OF_OBJECTS
    elif _known(path):
        refused = False
    else:
        everything = None if module.startswith("numpy") else _all_of(module)
        refused = (
            hidden(name)
            or name in OF_MODULES
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
    if path in (*MODULES, *ONLY, *IMPORTED):
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
    if first not in MODULES:
        return module in ONLY
    return not rest or (first in ("numpy", "collections") and rest in PARTS)


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
    return name.startswith("_") or name in ATTRIBUTES | NAMES


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
    return asked in ALIASES and ALIASES[asked] != told
