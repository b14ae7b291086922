"""Put a learner's answers into a locked notebook: a new one, of which every cell is accounted for.

Its order is the lesson's. An answer may rely on the lesson's imports, constants and functions, on
the learner's own, and on the learner's earlier answers; nothing that measures or draws is run.
Behind each answer stands a check cell with cases that were drawn for this class.

Byte golf and timing whose trace something else of the learner's could forge (gate.py) come first,
each from the statements that it needs: a magic or a plot in another answer costs no points then.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Iterable

import nbformat
from nbformat import NotebookNode

from rooflab.exercises.exercise import Exercise
from rooflab.grade.alone import alone_in, relied_on
from rooflab.grade.gate import forged_in
from rooflab.grade.given import CHECKED, Lesson
from rooflab.grade.intake import CodeCell, Submission
from rooflab.grade.kept import kept
from rooflab.grade.locked import ANSWER, CHECK, GIVEN, OWN, Locked, check_source, lock_source

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
MOST_CELLS = 20  # of one exercise: answer cells, and the learner's own around them


def merge(
    submission: Submission, lesson: Lesson, seed: int | None, nonce: str | None = None
) -> Locked:
    """Return the locked notebook of ``submission``.

    ``seed``: the class's; None draws the public cases of ``rl.check``. ``nonce``: a secret of this
    run, drawn if it is None. An exercise whose answer cell is gone has no cells and no cases.
    """
    nonce = nonce or secrets.token_hex(16)
    answers, around = _sorted(submission.cells, lesson)
    cases = {e.id: e.draw(secret(seed, e.id)) for e in lesson.exercises if e.id in answers}
    locked = Locked(
        notebook=nbformat.v4.new_notebook(metadata={"kernelspec": dict(KERNEL)}),
        lesson=lesson.number,
        student=submission.student or "",
        cases=cases,
        nonce=nonce,
        flags=(*submission.remarks, *_flags(submission, lesson, answers)),
    )
    names = _names(submission, lesson)
    locked.notebook.cells = _cells(locked, lesson, (answers, around, {}), names)
    if refused := forged_in(locked):
        alone = alone_in(submission.cells, {id: names[id] for id in refused})
        locked.notebook.cells = _cells(locked, lesson, (answers, around, alone), names)
    return locked


def secret(seed: int | None, exercise: str) -> object:
    """Return the seed of an exercise's hidden cases; a class's seed 0 is not the public seed 0."""
    if seed is None:
        from rooflab.exercises.check import PUBLIC_SEED

        return PUBLIC_SEED
    return hashlib.sha256(f"rooflab grade {seed} {exercise}".encode()).hexdigest()


def _sorted(
    cells: tuple[CodeCell, ...], lesson: Lesson
) -> tuple[dict[str, list[CodeCell]], dict[str, list[str]]]:
    """Return the answer cells of each exercise, and what the learner wrote around them.

    What stands before the first answer belongs to "" and runs first; what stands behind an answer
    runs behind it: a function of the learner's own may lie on either side of the answer that
    calls it.
    """
    answers: dict[str, list[CodeCell]] = defaultdict(list)
    around: dict[str, list[str]] = defaultdict(list)
    wanted = relied_on(cells, lesson.order)
    last = ""
    for cell in cells:
        if cell.exercise in lesson.order:
            last = cell.exercise
            answers[last].append(cell)
        elif text := kept(
            cell.source, lambda node, here=cell.number: (here, node.lineno) in wanted
        ):
            around[last].append(text)
    return dict(answers), dict(around)


class _Book:
    """The cells of a locked notebook, as they are made."""

    def __init__(self, locked: Locked, lesson: Lesson, names: dict[str, str]) -> None:
        self.locked, self.names = locked, names
        self.cells: list[NotebookNode] = []
        self.done: set[str] = set()
        self.of_lesson = {source for sources in lesson.given.values() for source in sources}

    def add(self, source: str, role: str, exercise: str | None = None) -> None:
        mark = {"role": role} | ({"exercise": exercise} if exercise else {})
        self.cells.append(_cell(source, mark, len(self.cells)))

    def give(self, sources: Iterable[str]) -> None:
        """Add what stands around the answers, but for copies of the lesson's own cells."""
        for source in sources:
            if source not in self.done:
                self.done.add(source)
                self.add(source, GIVEN if source in self.of_lesson else OWN)

    def check(self, exercise: Exercise) -> None:
        if exercise.id in self.locked.cases:
            word, cases = self.locked.word(exercise.id), self.locked.cases[exercise.id]
            name = self.names[exercise.id]
            source = check_source(word, exercise.id, exercise.kind, cases, name)
            self.add(source, CHECK, exercise.id)


def _cells(
    locked: Locked,
    lesson: Lesson,
    parts: tuple[dict[str, list[CodeCell]], dict[str, list[str]], dict[str, str]],
    names: dict[str, str],
) -> list[NotebookNode]:
    """``parts``: the answers, what is around them, and the exercises that are run alone, first."""
    answers, around, alone = parts
    book = _Book(locked, lesson, names)
    for exercise in lesson.exercises if alone else ():
        book.give(lesson.given.get(exercise.id, ()))
        if exercise.id in alone:
            book.add(alone[exercise.id], OWN)
            book.check(exercise)
    for number, exercise in enumerate(lesson.exercises):
        book.give(lesson.given.get(exercise.id, ()))
        if number == 0:
            book.give(around.get("", ())[-MOST_CELLS:])
        if exercise.derives and exercise.id in locked.cases:
            book.add(lock_source(exercise.derives), GIVEN)
        for cell in answers.get(exercise.id, ())[-MOST_CELLS:]:
            book.add(cell.source, ANSWER, exercise.id)
        book.give(around.get(exercise.id, ())[-MOST_CELLS:])
        if exercise.id not in alone:
            book.check(exercise)
    return book.cells


def _cell(source: str, mark: dict[str, str], number: int) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, id=f"cell-{number}", metadata={"rooflab": mark})


def _names(submission: Submission, lesson: Lesson) -> dict[str, str]:
    """Return what each answer is called: in the lesson, else in the learner's own check cell."""
    asked = (CHECKED.match(cell.source) for cell in submission.cells)
    own = {match[1]: match[2] for match in asked if match}
    return {id: lesson.names[id] or own.get(id, "answer") for id in lesson.order}


def _flags(submission: Submission, lesson: Lesson, answers: dict[str, list[CodeCell]]) -> list[str]:
    flags = [f"answer cell {each} missing" for each in lesson.order if each not in answers]
    flags += [
        f"{len(cells)} answer cells {each}: they ran in their order, so the last one counts"
        for each, cells in answers.items()
        if len(cells) > 1
    ]
    known = {*lesson.order, None}
    strange = dict.fromkeys(c.exercise for c in submission.cells if c.exercise not in known)
    flags += [f"{each}: no exercise of lesson {lesson.number}; left out" for each in strange][:5]
    return flags
