"""What ``rl.check`` says of an answer that is right here and may get nothing where it is graded.

There the functions that the exercise asks to derive are locked, the packages are those that the
course installs, and another program finds no network and no file of the learner's.
"""

from __future__ import annotations

import ast
import dis
import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

from rooflab.exercises.exercise import Case, Exercise, Observation
from rooflab.exercises.observe.lock import DERIVE, lock_functions, refusal, with_kin

HANDED_IN = "Handed in, it would get no points: {}."
LOOK_OUT = "Look out: {}."
RUNS = "it runs another program; where it is graded there is no network, no file of yours"
MOST = 40  # functions that an answer is followed into
Collect = Callable[[str, Sequence[Case], object], list[Observation]]


def warning(
    exercise: Exercise, answer: object, cases: Sequence[Case], observe: Collect, made: ast.Module
) -> str:
    """Return what to know of a right answer before it is handed in, "" if nothing.

    ``observe`` runs the answer, as :func:`rooflab.exercises.observe.collect.collect` does.
    ``made``: the statements that make it, where it is a value.
    """
    if exercise.derives and (why := _locked(exercise, answer, cases, observe, made)):
        return HANDED_IN.format(why)
    codes = _reached(answer)
    if any(_runs(code, names) for code, names in [*codes, (compile(made, "made", "exec"), {})]):
        return LOOK_OUT.format(RUNS)
    why = missing_elsewhere(_modules(codes))
    return LOOK_OUT.format(why) if why else ""


def _locked(
    exercise: Exercise, answer: object, cases: Sequence[Case], observe: Collect, made: ast.Module
) -> str:
    """Say which function an answer would find locked, "" if none."""
    names = with_kin(exercise.derives)
    if exercise.kind == "value":
        return next((refusal(name) for name in _called(made) if name in names), "")
    unlock = lock_functions(names)
    try:
        seen = observe(exercise.kind, cases, answer)
    finally:
        unlock()
    errors = (str(one.get("error", "")) for one in seen)
    return next((error.partition(": ")[2] for error in errors if DERIVE in error), "")


def _called(made: ast.Module) -> Iterator[str]:
    """The names of rooflab that statements use, as ``rl.gemm``."""
    for node in ast.walk(made):
        root = getattr(node, "value", None)
        ours = isinstance(root, ast.Name) and root.id in ("rl", "rooflab")
        if ours and isinstance(node, ast.Attribute):
            yield node.attr


def statements_of(name: str, cell: str) -> ast.Module:
    """Return the statements of a cell that give ``name`` its value, and what these need."""
    wanted, stays = {name}, []
    for node in reversed(ast.parse(cell).body):
        inner = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        if wanted & {part.id for part in inner if isinstance(part.ctx, ast.Store)}:
            wanted |= {part.id for part in inner}
            stays.insert(0, node)
    return ast.Module(stays, [])


Globals = Mapping[str, object]


def _reached(answer: object) -> list[tuple[CodeType, Globals]]:
    """The code of an answer and of what it calls in the same module, each with its global names."""
    reached: list[tuple[CodeType, Globals]] = []
    waiting, seen = [*_functions(answer)], set[FunctionType]()
    while waiting and len(seen) < MOST:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for code in _codes(function.__code__):
            reached.append((code, function.__globals__))
            here = (inner for name in code.co_names
                    for inner in _functions(function.__globals__.get(name)))  # fmt: skip
            waiting += [one for one in here if one.__module__ == function.__module__]
    return reached


def _runs(code: CodeType, names: Globals) -> bool:
    """Whether code runs another program: as !ls does, with subprocess or with os."""
    used = _modules([(code, names)]).union(code.co_names)
    by_magic = "get_ipython" in used and not used.isdisjoint(("getoutput", "system"))
    by_os = not used.isdisjoint(("os", "posix")) and not used.isdisjoint(("popen", "system"))
    return by_magic or by_os or "subprocess" in used


def _modules(codes: Iterable[tuple[CodeType, Globals]]) -> frozenset[str]:
    """The modules that code takes something from, without their parts."""
    found: set[str] = set()
    for code, names in codes:
        found |= {_module(names.get(name)) for name in code.co_names}
        found |= {s.argval for s in dis.get_instructions(code) if s.opname == "IMPORT_NAME"}
    return frozenset(name.partition(".")[0] for name in found)


def _functions(value: object) -> Iterator[FunctionType]:
    """The functions of Python that a value is made of."""
    if isinstance(value, FunctionType):
        yield value
    elif isinstance(value, MethodType):
        yield from _functions(value.__func__)
    elif isinstance(value, functools.partial):
        yield from _functions(value.func)
    elif type(value) is type:
        yield from (one for one in vars(value).values() if isinstance(one, FunctionType))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def _module(value: object) -> str:
    """The module that ``value`` is, or that a function or a class is from; "" for anything else."""
    if isinstance(value, ModuleType):
        return value.__name__
    made = isinstance(value, (type, FunctionType, BuiltinFunctionType))
    return (getattr(value, "__module__", None) or "") if made else ""


# Packages that an answer needs and the course does not install: the grader may not have them.


NEEDS = "it needs {}, which the course does not install: where it is graded it may not be there"
_OURS = frozenset(("", "__main__", "rooflab", "numpy", "cupy", "cupyx"))  # CuPy has a stand-in
_COURSE = frozenset(("terminal", "plot", "measure", "course", "grade"))  # extras of rooflab
_EXTRA = re.compile(r"""extra == ["'](\w+)""")


def missing_elsewhere(modules: Iterable[str]) -> str | None:
    """Say which of the top-level ``modules`` the course does not install; None if it has all."""
    strange = {*modules} - _OURS - sys.stdlib_module_names
    foreign = sorted(strange - _installed_by_course()) if strange else []
    return NEEDS.format(" and ".join(foreign)) if foreign else None


@cache
def _installed_by_course() -> frozenset[str]:
    """The modules of rooflab's distribution and of all that it requires."""
    found: set[str] = set()
    waiting = ["rooflab"]
    while waiting:
        name = _plain_name(waiting.pop())
        if name in found:
            continue
        found.add(name)
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # for another system, say
            continue
        extras = _COURSE if name == "rooflab" else frozenset()
        waiting += [
            re.match(r"[\w.-]+", one)[0]
            for one in required
            if extras.issuperset(_EXTRA.findall(one))
        ]
    modules = metadata.packages_distributions().items()
    return frozenset(module for module, by in modules if not found.isdisjoint(map(_plain_name, by)))


def _plain_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
