"""What the names in an answer certainly are: modules, classes and objects of the learner's own.

An attribute such as ``.array`` reaches behind the arrays of byte golf, and is as good a name as any
for an attribute of one's own object. So the gate has to know whose an object is. It is the
learner's own where no other can stand in its place: ``self`` in a method that nobody can hand
another object to, and a name that only ever holds an object of such a class.
"""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from rooflab.grade import forbidden

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
    modules = defaultdict(set, {name: {told} for name, told in forbidden.ALIASES.items()})
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
    kinds |= dict.fromkeys((*imports, *forbidden.ALIASES), MODULE)  # nothing else may be called np
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
            elif node.module in forbidden.MODULES:
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
