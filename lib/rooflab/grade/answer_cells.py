"""Which cells answer which exercise, and what each answer is called.

A cell is found by its mark; else by its id; else because it defines the name that the exercise
asks for; else by the name in the learner's own ``rl.check("01-product", name)``. Every way but the
first leaves a remark. Nothing is executed here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rooflab.exercises.exercise import Exercise
from rooflab.grade.intake import CodeCell
from rooflab.grade.lesson_notebook import Lesson
from rooflab.grade.notebook_code import Checked, Needs, checks, exercise_of_id, given, parsed

_MAY_GIVE_A_FUNCTION = (ast.Lambda, ast.Call, ast.Name, ast.Attribute, ast.IfExp)
BY_ID = "{0}: its answer cell has lost its mark; it was found by the cell's id"
BY_NAME = "{0}: its answer cell has lost its mark; it was found by the name {1}"
RENAMED = "{0}: your answer is called {1}; in the lesson it is {2}"
IN_CHECK = "{0}: the answer was written into its check"
ELSEWHERE = "{0}: its own cell is not answered; the answer was found by the name {1}"


@dataclass
class Answers:
    """The answers that were found.

    ``cells``: exercise → its answer cells; ``names``: exercise → what the answer is called;
    ``checked``: exercise → numbers of the learner's own check cells; ``remarks``: for the feedback.
    """

    cells: dict[str, list[CodeCell]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    checked: dict[str, list[int]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def answers_in(cells: Sequence[CodeCell], lesson: Lesson) -> Answers:
    """Return the answers to ``lesson`` among ``cells``."""
    found = Answers()
    asked: dict[str, list[Checked]] = {}
    for cell in cells:
        if cell.exercise in lesson.order:
            found.cells.setdefault(cell.exercise, []).append(cell)
        for one in checks(cell.source):
            if one.exercise in lesson.order:
                asked.setdefault(one.exercise, []).append(one)
                found.checked.setdefault(one.exercise, []).append(cell.number)
    own = _Own(cells, lesson, found)
    for exercise in lesson.exercises:
        called = [one.name for one in asked.get(exercise.id, ()) if one.name]
        if exercise.id not in found.cells or own.is_empty(exercise.id):
            own.find(exercise, called, asked.get(exercise.id, ()))
        elif own.is_stub(exercise.id):
            own.find_elsewhere(exercise, asked.get(exercise.id, ()))
        found.names[exercise.id] = own.name_of(exercise, called)
        own.add_from_check(exercise.id, asked.get(exercise.id, ()))
    return found


class _Own:
    """The learner's cells, searched for answers that have no mark."""

    def __init__(self, cells: Sequence[CodeCell], lesson: Lesson, found: Answers) -> None:
        self.cells, self.lesson, self.found = cells, lesson, found
        self.gives = {cell.number: _gives(cell.source) for cell in cells}

    def find(self, exercise: Exercise, called: Sequence[str], asked: Iterable[Checked]) -> None:
        """Find the answer to ``exercise``, or leave it missing."""
        id = exercise.id
        if cells := [c for c in self._unmarked() if exercise_of_id(c.id) == id]:
            self._take(id, cells, BY_ID.format(id))
            return
        for name in dict.fromkeys(filter(None, [self.lesson.names[id], *reversed(called)])):
            if cell := self._defining(exercise, name):
                self._take(id, [cell], BY_NAME.format(id, name))
                return
        if cell := self._in_check(id, self.lesson.names[id] or "answer", asked):
            self._take(id, [cell], IN_CHECK.format(id))

    def find_elsewhere(self, exercise: Exercise, asked: Iterable[Checked]) -> None:
        """Find the answer in another cell or in its check; its own cell holds only the stub."""
        name = self.lesson.names[exercise.id]
        kinds = ("def",) if exercise.kind != "value" else ("def", "call", "value")
        if name and (cell := self._last(exercise.id, self._unmarked(), name, kinds)):
            self._take(exercise.id, [cell], ELSEWHERE.format(exercise.id, name))
        elif cell := self._in_check(exercise.id, name, asked):
            self._take(exercise.id, [cell], IN_CHECK.format(exercise.id))

    def add_from_check(self, id: str, asked: Iterable[Checked]) -> None:
        """Take an answer that is written into its check, where no cell makes one."""
        name = self.found.names[id]
        if id not in self.found.cells or any(name in names for names in self.gives.values()):
            return
        cells = self.found.cells[id]
        cell = self._in_check(id, name, asked)
        if cell and all(cell.number != one.number for one in cells):
            self._take(id, [*cells, cell], IN_CHECK.format(id))

    def _in_check(self, id: str, name: str, asked: Iterable[Checked]) -> CodeCell | None:
        written = [one.text for one in asked if one.text and one.text != "..."]
        if not written:
            return None
        return CodeCell(f"{name} = {written[-1]}", self.found.checked[id][-1], id)

    def is_stub(self, id: str) -> bool:
        """Whether its own cells make nothing but the lesson's stub: ``...``."""
        name = self.lesson.names[id]
        trees = [tree for cell in self.found.cells[id] if (tree := parsed(cell.source))]
        made = [node for tree in trees for node in tree.body if name in given(node)]
        return bool(made) and all(map(_open, made))

    def is_empty(self, id: str) -> bool:
        """Whether the answer's own cells hold nothing but comments."""
        trees = [parsed(cell.source) for cell in self.found.cells[id]]
        return all(tree is not None and not tree.body for tree in trees)

    def _take(self, id: str, cells: Iterable[CodeCell], remark: str) -> None:
        self.found.cells[id] = [replace(cell, exercise=id) for cell in cells]
        self.found.remarks.append(remark)

    def _unmarked(self) -> list[CodeCell]:
        taken = {cell.number for cells in self.found.cells.values() for cell in cells}
        return [c for c in self.cells if c.number not in taken and not self._of_lesson(c)]

    def _of_lesson(self, cell: CodeCell) -> bool:
        return cell.source.strip() in self.lesson.sources

    def _defining(self, exercise: Exercise, name: str) -> CodeCell | None:
        """The cell that makes ``name``: the last one before it is checked, else the last one.

        Where only a cell that answers another exercise makes it, that cell counts: two answers may
        have been merged into one.
        """
        kinds = ("def", "call") if exercise.kind != "value" else ("def", "call", "value")
        everything = [c for c in self.cells if not self._of_lesson(c)]
        found = (self._last(exercise.id, c, name, kinds) for c in (self._unmarked(), everything))
        return next(filter(None, found), None)

    def _last(
        self, id: str, cells: Sequence[CodeCell], name: str, kinds: Iterable[str]
    ) -> CodeCell | None:
        checked = max(self.found.checked.get(id, [0]))
        for kind in kinds:
            able = [cell for cell in cells if self.gives[cell.number].get(name) == kind]
            if able:
                return ([c for c in able if c.number <= checked] or able)[-1]
        return None

    def name_of(self, exercise: Exercise, called: Sequence[str]) -> str:
        """What the answer is called: in the lesson, else in the learner's own check."""
        id = exercise.id
        usual = self.lesson.names[id] or (called or ["answer"])[-1]  # a value may have no name
        mine = self.found.cells.get(id, ())
        here = {name for cell in mine for name in _gives(cell.source)}
        everywhere = {name for names in self.gives.values() for name in names}
        wanted = [usual, *reversed(called)]
        name = next((name for place in (here, everywhere) for name in wanted if name in place), "")
        if not name and exercise.kind != "value":
            name = _only_function(mine)
        name = name or usual
        if name != usual and id in self.found.cells:
            self.found.remarks.append(RENAMED.format(id, name, usual))
        return name


def _gives(source: str) -> Mapping[str, str]:
    """The names that a cell makes at its top level: name → "def", "call" or "value".

    "call": an expression that may give a function.
    """
    found: dict[str, str] = {}
    tree = parsed(source)
    for node in tree.body if tree else ():
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Delete)):
            continue
        kind = "value"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            kind = "def"
        elif isinstance(getattr(node, "value", None), _MAY_GIVE_A_FUNCTION):
            kind = "call"
        found |= dict.fromkeys(given(node), kind)
    return found


def _open(node: ast.stmt) -> bool:
    """Whether a statement is a stub: ``claim = ...``, or a function with nothing but ``...``."""
    if isinstance(node, ast.FunctionDef):
        parts = [one.value if isinstance(one, ast.Expr) else one for one in node.body]
        return all(isinstance(part, (ast.Constant, ast.Pass)) for part in parts)
    value = getattr(node, "value", None)
    return isinstance(node, ast.Assign) and isinstance(value, ast.Constant) and value.value is ...


def _only_function(cells: Iterable[CodeCell]) -> str:
    trees = [tree for cell in cells if (tree := parsed(cell.source))]
    made = {n.name for tree in trees for n in tree.body if isinstance(n, ast.FunctionDef)}
    return made.pop() if len(made) == 1 else ""


def owners(cells: Mapping[str, Collection[CodeCell]]) -> dict[int, list[str]]:
    """Return the exercises that each cell answers: number of the cell → exercises."""
    found: dict[int, list[str]] = {}
    for id, mine in cells.items():
        for cell in mine:
            found.setdefault(cell.number, []).append(id)
    return found


@dataclass(frozen=True)
class Tries:
    """Where answers are checked: each time that they may have changed. The first right try counts.

    A scratch cell may use the name of an answer again, and a helper may stand below the answer that
    calls it. ``places``: exercise → numbers of the cells after which it is checked; ``end``:
    exercises that later cells may change, and that are checked once more at the end; ``reused``:
    names of answers that other cells use again.
    """

    places: Mapping[str, tuple[int, ...]]
    end: frozenset[str]
    reused: frozenset[str]

    def at(self, number: int) -> list[tuple[str, int]]:
        """The exercises that are checked after a cell, each with the number of the try."""
        return [(id, at.index(number)) for id, at in self.places.items() if number in at]


def tries_of(
    cells: Sequence[CodeCell], own: Mapping[int, str], lesson: Lesson, answers: Answers
) -> Tries:
    """Return where the exercises of ``lesson`` are checked.

    ``own``: number of a cell that is no answer → what of it is run.
    """
    texts = {c.number: c.source if c.exercise else own.get(c.number, "") for c in cells}
    of_lesson = {source for sources in lesson.given.values() for source in sources}
    trees = {n: tree for n, text in texts.items()
             if text and text not in of_lesson and (tree := parsed(text))}  # fmt: skip
    needs = Needs([node for tree in trees.values() for node in tree.body])
    gives = {n: frozenset().union(*map(given, tree.body)) for n, tree in trees.items()}
    places: dict[str, tuple[int, ...]] = {}
    end: set[str] = set()
    for exercise in lesson.exercises:
        if exercise.id not in answers.cells:
            continue
        name = answers.names[exercise.id]
        used = needs.names([name])

        def changed(after: int, until: float, used: frozenset[str] = used) -> bool:
            return any(after < n <= until and names & used for n, names in gives.items())

        found = places[exercise.id] = _places(exercise, answers, changed)
        if changed(max(found), float("inf")):
            end.add(exercise.id)
    called = frozenset(answers.names.values())
    others = (gives[n] for n in gives if n in own)
    return Tries(places, frozenset(end), called & frozenset().union(*others))


def _places(
    exercise: Exercise, answers: Answers, changed: Callable[[int, float], bool]
) -> tuple[int, ...]:
    """Return the numbers of the cells after which an exercise is checked.

    ``changed``: whether the cells between two cells may have changed the answer. The learner may
    have copied the answer cell, and an older text may stand below the check of the right one.
    """
    numbers = [cell.number for cell in answers.cells[exercise.id]]
    first, last = min(numbers), max(numbers)
    asked = answers.checked.get(exercise.id, ())
    later = [n for n in asked if n >= last]
    earlier = [n for n in asked if first <= n < last]
    later = later or [last]
    found = {later[0], *earlier[:1], *earlier[-1:]}
    found |= {later[-1]} if changed(later[0], later[-1]) else set()
    found |= {last} if changed(last, later[0]) else set()
    return tuple(sorted(found))
