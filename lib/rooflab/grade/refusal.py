"""What the grader will refuse, said by ``rl.check`` before the notebook is handed in.

The same rules as in gate.py and the same words, for the cells that the answer lives in. Where their
text cannot be had, nothing is said. An answer to derive is tried with the library locked.
"""

from __future__ import annotations

import ast
import dataclasses
import dis
import functools
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

from rooflab.exercises.check import as_written
from rooflab.exercises.exercise import Case, Exercise, Observation
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.verdict import Verdict
from rooflab.grade import notebook_code
from rooflab.grade.gate import DERIVE, shell_command
from rooflab.grade.inside import kernel
from rooflab.grade.notebook_code import checks, given, missing_elsewhere, needed, parsed
from rooflab.grade.suspects import borrowing, flaw

HANDED_IN = "Handed in, it would get no points: {}."
_IMPORTED = "it {}, imported in a cell of yours"
MOST_CELLS = 40  # that an answer is followed into
Collect = Callable[[str, Sequence[Case], object], list[Observation]]


def noted(
    exercise: Exercise, answer: object, cases: Sequence[Case], verdict: Verdict,
    observe: Collect = collect,
) -> Verdict:  # fmt: skip
    """Return ``verdict``; one that is right here and will be refused has a note that says so.

    ``observe`` runs the answer, as :func:`rooflab.exercises.observe.collect.collect` does.
    """
    if not verdict.passed:
        return verdict
    try:
        why = refusal(exercise, answer, cases, observe)
        told = HANDED_IN.format(why) if why else _elsewhere(answer)
    except Exception:  # a warning that cannot be had must not cost the verdict
        return verdict
    if not told:
        return verdict
    notes = (told, verdict.note)
    return dataclasses.replace(verdict, note=" ".join(note for note in notes if note))


def refusal(
    exercise: Exercise, answer: object, cases: Sequence[Case], observe: Collect = collect
) -> str | None:
    """Say why the grader would refuse ``answer``, in its words; None if it would not."""
    if not exercise.derives:
        return None
    if exercise.kind == "value":
        return _borrowed_value(exercise)
    if why := _borrowed(exercise, answer):
        return f"{why}: {DERIVE}"
    unlock = kernel.lock_functions(kernel.with_kin(exercise.derives))
    try:
        seen = observe(exercise.kind, cases, answer)
    finally:
        unlock()
    errors = (str(one.get("error", "")) for one in seen)
    return next((e.partition(": ")[2] for e in errors if DERIVE in e), None)


def _borrowed(exercise: Exercise, answer: object) -> str | None:
    """What in the answer, or in what it calls, gets round the lock."""
    cells = _cells(answer)
    trees = {name: tree for name, text in cells.items() if (tree := parsed(text)) is not None}
    names = (exercise.name, getattr(answer, "__name__", exercise.name))
    wanted = {id(n) for n in needed(names, [n for tree in trees.values() for n in tree.body])}
    for name, text in cells.items():
        body = [] if name not in trees else [n for n in trees[name].body if id(n) in wanted]
        if why := shell_command(text) or flaw(body, borrowing):
            mine = name == next(iter(cells))
            return f"{why} in " + (f"the answer to {exercise.id}" if mine else "a cell of yours")
    if why := flaw(_imports(answer), borrowing):
        return _IMPORTED.format(why.partition(" ")[2].partition(" ")[2])
    return None


def _borrowed_value(exercise: Exercise) -> str | None:
    """Whether what made a value calls what is locked; other lines of its cell may do so."""
    history = vars(sys.modules["__main__"]).get("In")
    cells = [one for one in history if isinstance(one, str)] if isinstance(history, list) else []
    asked = {one.exercise: one.name for one in checks(cells[-1])} if cells else {}
    for source in reversed(cells):
        tree = parsed(source)
        name = asked.get(exercise.id)
        if tree is None or not any(name in given(node) for node in tree.body):
            continue
        if why := shell_command(as_written(source)):
            return f"{why} in the answer to {exercise.id}: {DERIVE}"
        locked = {*kernel.with_kin(exercise.derives)}
        made = ast.Module(needed([name], tree.body), [])
        for node in ast.walk(made):
            root = getattr(node, "value", None)
            ours = isinstance(root, ast.Name) and root.id in ("rl", "rooflab")
            if ours and isinstance(node, ast.Attribute) and node.attr in locked:
                return f"{DERIVE}: rooflab.{node.attr} is locked in this exercise"
        return None
    return None


def _cells(answer: object) -> dict[str, str]:
    """The texts of the notebook cells that an answer and what it calls lie in, its own first."""
    found: dict[str, str] = {}
    for _, name, text in _reached(answer):
        found.setdefault(name, text)
    return found


def _reached(answer: object) -> Iterator[tuple[FunctionType, str, str]]:
    """The notebook's functions that an answer calls, the answer first.

    Each comes with the name and the text of its cell.
    """
    cells: set[str] = set()
    seen: set[int] = set()
    waiting = [*_functions(answer)]
    while waiting and len(cells) < MOST_CELLS:
        function = waiting.pop(0)
        if id(function) in seen:
            continue
        seen.add(id(function))
        name = function.__code__.co_filename
        text = as_written("".join(linecache.getlines(name)))
        if not text or os.path.exists(name):  # a module's file is no cell
            continue
        cells.add(name)
        yield function, name, text
        for value in _globals(function).values():
            waiting += _functions(value)
        for cell in function.__closure__ or ():
            waiting += _functions(cell.cell_contents)


def _functions(value: object) -> Iterator[FunctionType]:
    """The functions of Python that a value is made of."""
    kind = type(value)
    if kind is FunctionType:
        yield value
        if isinstance(inner := vars(value).get("__wrapped__"), FunctionType):
            yield inner
    elif kind is MethodType:
        yield value.__func__
        yield from _functions(value.__self__)
    elif kind is functools.partial:
        yield from _functions(value.func)
    elif kind is type:
        yield from (each for each in vars(value).values() if type(each) is FunctionType)
    elif type(kind) is type and not kind.__module__.startswith(("numpy", "rooflab")):
        yield from (each for each in vars(kind).values() if type(each) is FunctionType)


def _globals(function: FunctionType) -> dict[str, object]:
    """The global names that a function reads, with their values."""
    names, waiting = set(), [function.__code__]
    while waiting:
        code = waiting.pop()
        names |= {*code.co_names}
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return {n: function.__globals__[n] for n in sorted(names) if n in function.__globals__}


def _imports(answer: object) -> list[ast.stmt]:
    """Imports, for the modules and their functions that an answer finds in the notebook."""
    lines = []
    for function in _functions(answer):
        for name, value in _globals(function).items():
            if isinstance(value, ModuleType):
                lines.append(f"import {value.__name__} as {name}")
    return notebook_code.parse("\n".join(lines)).body


def _elsewhere(answer: object) -> str | None:
    why = missing_elsewhere(_modules(answer))
    return f"Look out: {why}." if why else None


def _modules(answer: object) -> frozenset[str]:
    """The modules that an answer, and what it calls, take something from; without their parts."""
    found: set[str] = set()
    for function, *_ in _reached(answer):
        found |= {_module(value) for value in _globals(function).values()}
        steps = dis.get_instructions(function)
        found |= {step.argval for step in steps if step.opname == "IMPORT_NAME"}
    return frozenset(name.partition(".")[0] for name in found)


def _module(value: object) -> str:
    """The module that ``value`` is, or that a function or a class is from; "" for anything else."""
    if isinstance(value, ModuleType):
        return value.__name__
    made = isinstance(value, (type, FunctionType, BuiltinFunctionType))
    return (getattr(value, "__module__", None) or "") if made else ""
