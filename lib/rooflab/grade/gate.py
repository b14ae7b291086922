"""Answers to what is to be derived are read, besides being run.

Such an exercise asks to derive what the library has, and is run with that locked. A right value
alone proves too little there: what gets round the lock, in another process for instance, does not
count. The reason names the line. Other answers need no gate. For most only the right values count;
byte golf, timing and schedules are judged by what a judge computes once more (exercises/kinds).
Nothing is executed here.
"""

from __future__ import annotations

import ast
import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rooflab.exercises.registry import exercises
from rooflab.grade import notebook_code, suspects
from rooflab.grade.locked_notebook import ANSWER, CHECK, GIVEN, OWN, Locked, Outcome
from rooflab.grade.notebook_code import MOST, Needs, read, without_magic
from rooflab.grade.suspects import WORDS, borrowing, borrowing_words, flaw

# Which of the learner's statements around the answers an answer can come to.
#
# A scratch cell with ``import os`` or a function that draws does nothing by itself: gate.py looks
# only at what runs at once and at what that calls by name.


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


LONGEST = 20_000  # characters of a cell that is looked into: far more than an answer needs
ROUNDS = 4  # in which names are followed through rl.mine
DEEPEST = 200  # parts of a statement in one another
DERIVE = "derive this yourself"
DEEP = "line 1 uses too deep a nesting"
_EMPTY = ast.Module([], [])


@dataclass(frozen=True)
class _Cell:
    """A cell as it was read: its part, its exercise if any, its tree, or why there is none.

    ``words``: those in it, if there is a ``why``.
    """

    role: str
    exercise: str | None
    tree: ast.Module
    why: str | None
    words: frozenset[str]

    @property
    def where(self) -> str:
        return f"the answer to {self.exercise}" if self.exercise else "a cell of yours"


def gated(locked: Locked, outcome: Outcome) -> Outcome:
    """Return ``outcome`` without the observations that prove nothing, each with the reason.

    An exercise with ``derives`` does not count when its answer, what that calls, or another cell of
    the learner's that ran before its check gets round the lock. What nothing calls, such as
    ``import os`` in a cell for scribbling, is no reason. An answer that was never made, because its
    cell is no Python, keeps what came back: that says why.
    """
    seen, again = outcome.observations, outcome.again
    lent = lent_beside(locked) | _lent(locked, [id for id in {**seen, **again} if _derives(id)])
    told = {
        id: f"{why}: {DERIVE}"
        for id, why in lent.items()
        if id in {**seen, **again} and not _never_made(id, outcome)
    }
    left = {id: one for id, one in seen.items() if id not in told}
    more = {id: one for id, one in again.items() if id not in told}
    return dataclasses.replace(
        outcome, observations=left, reasons={**outcome.reasons, **told}, again=more
    )


def _never_made(id: str, outcome: Outcome) -> bool:
    """Whether every try of an answer found no such name, and nothing else came back."""
    tries = [*outcome.again.get(id, {}).values(), outcome.observations.get(id, ())]
    seen = [one for observed in tries for one in observed]
    lost = (list(one) == ["error"] and str(one["error"]).startswith("NameError: ") for one in seen)
    return bool(seen) and all(lost)


def shell_command(source: str) -> str | None:
    """Say which line of a cell runs another program, as in `files = !ls`, or None."""
    return _read(source)[1]


def innocent(source: str) -> bool:
    """Whether nothing in ``source`` could borrow what is to be derived."""
    tree, why = _read(source)
    return why is None and flaw(tree.body, borrowing) is None


def _lent(locked: Locked, wanted: Sequence[str]) -> dict[str, str]:
    """Those of the exercises ``wanted`` whose answer gets round the lock, and where."""
    if not wanted:
        return {}
    found = {}
    own = [c for c in _cells(locked) if c.role in (ANSWER, OWN)]
    for exercise in wanted:
        mine = [c for c in own if c.exercise == exercise]
        others = [c for c in own if c.exercise != exercise]
        names, statements = _reached(
            [c.tree for c in mine], [s for c in others for s in c.tree.body]
        )
        called = {id(s) for s in statements}
        if len(called) >= MOST:
            found[exercise] = f"{mine[0].where} uses more than {MOST} statements"
            continue
        whys = [(c.why or flaw(c.tree.body, borrowing), c) for c in mine]
        whys += [(flaw([s for s in c.tree.body if id(s) in called], borrowing), c) for c in others]
        whys += [(c.why, c) for c in others if names & c.words]
        if first := next(((why, cell) for why, cell in whys if why), None):
            found[exercise] = f"{first[0]} in {first[1].where}"
    return found


def _reached(
    mine: Sequence[ast.AST], others: Sequence[ast.stmt]
) -> tuple[frozenset[str], list[ast.stmt]]:
    """The names that ``mine`` can come to, and those of ``others`` that give them."""
    needs = Needs(others)
    names: frozenset[str] = frozenset()
    more = _asked(mine) | {"__builtins__", "__import__"}
    for _ in range(ROUNDS):
        names |= more
        statements = needs.of(names)
        more = _asked([*mine, *statements])
        if more <= names:
            return names, statements
    return names | more, [*others]


def _asked(trees: Sequence[ast.AST]) -> frozenset[str]:
    """The names that ``trees`` read; ``rl.mine`` finds what an attribute names."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    words = {getattr(node, key, None) for node in nodes for key in ("id", "attr", "name")}
    attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute)} if "mine" in words else ()
    return frozenset(attributes).union(*map(read, trees))


def lent_beside(locked: Locked) -> dict[str, str]:
    """Exercises to be derived for which another cell, run before their check, could have borrowed.

    It need not be named: it may leave what it has in a module, or take the lock away.
    """
    if not any(map(_derives, locked.cases)):
        return {}
    cells = _cells(locked)
    awake = live([c.tree for c in cells if c.role != OWN], [c.tree for c in cells if c.role == OWN])
    found: dict[str, str] = {}
    flaws: list[tuple[str | None, str]] = []
    for cell in cells:
        if cell.role in (ANSWER, OWN):
            counts = [s for s in cell.tree.body if cell.role == ANSWER or s in awake]
            if why := cell.why or flaw(counts, borrowing):
                flaws.append((cell.exercise, f"{why} in {cell.where}"))
        elif cell.role == CHECK and _derives(cell.exercise) and cell.exercise not in found:
            others = [why for exercise, why in flaws if exercise != cell.exercise]
            found[cell.exercise] = next(iter(others), "")
    return {exercise: why for exercise, why in found.items() if why}


def _cells(locked: Locked) -> list[_Cell]:
    found = []
    for cell in locked.notebook.cells:
        mark = cell.metadata["rooflab"]
        ours = mark["role"] in (GIVEN, CHECK)
        tree, why = (notebook_code.parse(cell.source), None) if ours else _read(cell.source)
        words = frozenset(WORDS.findall(cell.source) if why else ())
        found.append(_Cell(mark["role"], mark.get("exercise"), tree, why, words))
    return found


def _too_deep(tree: ast.Module) -> bool:
    """Whether parts lie in one another so deep that the looks below would take long, or fail."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [part for node in level for part in ast.iter_child_nodes(node)]
    return bool(level)


def _read(source: str) -> tuple[ast.Module, str | None]:
    """Return the syntax tree of a cell, empty where it is no Python, and why it cannot be read.

    Magics are allowed, but for those that run another program. What is no Python, also without
    them, is looked through for words.
    """
    plain = without_magic(source)
    for text in (source, plain):
        try:
            tree = notebook_code.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
        else:
            if _too_deep(tree):
                return _EMPTY, DEEP
            return tree, None if text is source else borrowing_words(_only_magic(source, plain))
        if command := suspects.COMMAND.search(source[:LONGEST]):
            return (
                _EMPTY,
                f"line {source.count(chr(10), 0, command.end()) + 1} uses a shell command",
            )
    return _EMPTY, borrowing_words(source)


def _only_magic(source: str, plain: str) -> str:
    """The magic lines of a cell, each in its place."""
    pairs = zip(source.split("\n"), plain.split("\n"), strict=True)
    return "\n".join(line if line != left else "" for line, left in pairs)


def _derives(exercise: str) -> bool:
    found = exercises().get(exercise)
    return found is not None and bool(found.derives)
