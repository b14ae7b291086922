"""Put a learner's answers into a locked notebook: a new one, made cell by cell.

The cells keep the learner's order. An answer may rely on the lesson's imports, constants and
functions, on the learner's own, and on the learner's earlier answers. Nothing that measures or
draws is run. An answer is checked where the learner's own check is, or right after its cell, with
cases that were drawn for this class. If later cells could change it, it is checked once more at the
end (answer_cells.py), so that no points depend on the order in which the learner left the cells.

An answer that is to be derived is run with the library locked.
"""

from __future__ import annotations

import ast
import hashlib
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import nbformat
from nbformat import NotebookNode

from rooflab.exercises.exercise import Exercise
from rooflab.exercises.handed_in import missing_elsewhere
from rooflab.exercises.registry import retired
from rooflab.grade.answer_cells import Answers, Tries, answers_in, owners, tries_of
from rooflab.grade.intake import CodeCell, Submission
from rooflab.grade.lesson_notebook import Lesson
from rooflab.grade.locked_notebook import (
    ANSWER,
    CHECK,
    END,
    FOLLOW,
    GIVEN,
    OWN,
    Locked,
    check_source,
    lock_source,
)
from rooflab.grade.notebook_code import (
    Needs,
    absent,
    early,
    kept,
    modules_of,
    names,
    parsed,
    read,
    shell_line,
)
from rooflab.grade.verdicts import mine_source, right


def relied_on(cells: Sequence[CodeCell], order: Collection[str]) -> frozenset[tuple[int, int]]:
    """Return cell number and line of the statements around the answers that these need."""
    trees = [(cell, tree) for cell in cells if (tree := parsed(cell.source))]
    names = {name for cell, tree in trees if cell.exercise in order for name in read(tree)}
    around = [
        (cell, node) for cell, tree in trees if cell.exercise not in order for node in tree.body
    ]
    wanted = {id(node) for node in Needs([node for _, node in around]).of(names)}
    return frozenset(
        (cell.number, node.lineno)
        for cell, node in around
        if id(node) in wanted and not absent(node)
    )


def foreign(
    cells: Iterable[CodeCell], names: Mapping[str, str], answered: Collection[str]
) -> list[str]:
    """Return a remark on each answer that needs a module which the course does not install.

    ``names``: exercise → name of its answer; ``answered``: the exercises that have one.
    """
    nodes = [n for cell in cells if (tree := parsed(cell.source)) for n in tree.body]
    if not any(modules_of(part) for node in nodes for part in ast.walk(node)):
        return []
    needs = Needs(nodes)
    found = []
    for id in answered:
        parts = (part for node in needs.of([names[id]]) for part in ast.walk(node))
        if why := missing_elsewhere(frozenset().union(*map(modules_of, parts))):
            found.append(f"{id}: {why}")
    return found


KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
SHELL = "{}: line {} runs another program: where it is graded there is no network, no file of yours"
MOST_CELLS = 20  # of one exercise: answer cells, and the learner's own around them


def merge(submission: Submission, lesson: Lesson, seed: int | None) -> Locked:
    """Return the locked notebook of ``submission``.

    ``seed``: the class's; None draws the public cases of ``rl.check``. An exercise whose answer
    cell is gone has no cells and no cases.
    """
    answers = answers_in(submission.cells, lesson)
    cases = {e.id: e.draw(secret(seed, e.id)) for e in lesson.exercises if e.id in answers.cells}
    locked = Locked(
        notebook=nbformat.v4.new_notebook(metadata={"kernelspec": dict(KERNEL)}),
        lesson=lesson.number,
        cases=cases,
        nonce=secrets.token_hex(16),
        names={id: answers.names[id] for id in cases},
        flags=(
            *submission.remarks,
            *answers.remarks,
            *_flags(submission, lesson, answers),
            *foreign(submission.cells, answers.names, answers.cells),
        ),
    )
    cells = _marked(submission.cells, answers)
    own = _own(cells, lesson)
    tries = tries_of(cells, own, lesson, answers)
    book = _Builder(locked, lesson, answers)
    book.give(lesson.given.get(lesson.order[0], ()))
    if source := mine_source(lesson, cells):
        book.add(source, GIVEN)
    for cell in cells:
        book.put(cell, own.get(cell.number, ""), tries.at(cell.number))
    _at_the_end(book, tries)
    locked.notebook.cells = book.cells
    return locked


def secret(seed: int | None, exercise: str) -> object:
    """Return the seed of an exercise's hidden cases; a class's seed 0 is not the public seed 0."""
    if seed is None:
        from rooflab.exercises.check import PUBLIC_SEED

        return PUBLIC_SEED
    return hashlib.sha256(f"rooflab grade {seed} {exercise}".encode()).hexdigest()


def _marked(cells: Iterable[CodeCell], answers: Answers) -> list[CodeCell]:
    """Return the cells with the exercise that each answers; one that answers two stands once."""
    found = {cell.number: cell for mine in reversed(answers.cells.values()) for cell in mine}
    return [found.get(cell.number) or replace(cell, exercise=None) for cell in cells]


def _own(cells: Sequence[CodeCell], lesson: Lesson) -> dict[int, str]:
    """Return what is run of the cells that are no answers: number of the cell → text.

    Of each gap between answers, the last MOST_CELLS.
    """
    wanted = relied_on(cells, lesson.order)
    own: dict[int, str] = {}
    gap: list[int] = []
    for cell in cells:
        if cell.exercise:
            gap = []
        elif text := kept(
            cell.source, lambda node, here=cell.number: (here, node.lineno) in wanted
        ):
            own[cell.number] = text
            gap.append(cell.number)
            if len(gap) > MOST_CELLS:
                del own[gap.pop(0)]
    return own


class _Builder:
    """Makes the cells of a locked notebook, one after the other."""

    def __init__(self, locked: Locked, lesson: Lesson, answers: Answers) -> None:
        self.locked, self.lesson, self.answers = locked, lesson, answers
        self.owned = owners(answers.cells)
        self.exercises = {exercise.id: exercise for exercise in lesson.exercises}
        self.cells: list[NotebookNode] = []
        self.done: set[str] = set()
        self.of_lesson = {source for sources in lesson.given.values() for source in sources}
        self.shut: tuple[str, ...] = ()

    def add(self, source: str, role: str, exercise: str | None = None, number: int = 0) -> None:
        mark = {"role": role} | ({"exercise": exercise} if exercise else {})
        mark |= {"try": number} if number else {}
        number = len(self.cells)
        self.cells.append(
            nbformat.v4.new_code_cell(source, id=f"cell-{number}", metadata={"rooflab": mark})
        )

    def give(self, sources: Iterable[str]) -> None:
        """Add cells of the lesson, each once."""
        for source in sources:
            if source not in self.done:
                self.done.add(source)
                self.add(source, GIVEN)

    def own(self, source: str) -> None:
        """Add what stands around the answers, but for copies of the lesson's own cells."""
        if source in self.of_lesson:
            self.give([source])
            return
        self.lock(())
        self.add(source, OWN)

    def lock(self, names: tuple[str, ...]) -> None:
        """Lock these functions of the library, and no others, until the next check."""
        if names != self.shut:
            self.add(lock_source(names), GIVEN)
            self.shut = names

    def answer(
        self, exercise: Exercise, cells: Iterable[CodeCell], role: str = ANSWER, number: int = 0
    ) -> None:
        self.lock(exercise.derives)
        for cell in cells:
            mark = exercise.id if role == ANSWER else None
            mine = self.owned.get(cell.number, [exercise.id])
            if first := early(cell.source, [self.answers.names[id] for id in mine]):
                self.add(first, role, mark, number)
            self.add(cell.source, role, mark, number)

    def check(self, exercise: Exercise, number: int = 0) -> None:
        if exercise.id in self.locked.cases:
            self.lock(exercise.derives)
            word, cases = self.locked.word(exercise.id), self.locked.cases[exercise.id]
            name = self.answers.names[exercise.id]
            source = check_source(word, exercise.id, exercise.kind, cases, name, number > 0)
            self.add(source, CHECK, exercise.id, number)
            self.shut = ()

    def put(self, cell: CodeCell, own: str, tries: Iterable[tuple[str, int]]) -> None:
        """Add a learner's cell with what the lesson gives before it and what is checked after it.

        ``own``: what of it is run, where it is no answer.
        """
        order = self.lesson.order
        mine = self.owned.get(cell.number, [])
        for id in order[: max(map(order.index, mine), default=-1) + 1]:
            self.give(self.lesson.given.get(id, ()))
        if cell.exercise and cell in self.answers.cells[cell.exercise][-MOST_CELLS:]:
            self.answer(self.exercises[cell.exercise], [cell])
        if own:
            self.own(own)
        for id, number in tries:
            self.check(self.exercises[id], number)


def _at_the_end(book: _Builder, tries: Tries) -> None:
    """Check again what later cells may have mended, then what an earlier answer may have spoiled.

    Last, right answers take the place of wrong earlier ones, which have cost their points already.
    """
    cells, called, order = book.answers.cells, book.answers.names, book.lesson.order
    table = {id: exercise for id, exercise in book.exercises.items() if id in cells}
    for id in filter(tries.end.__contains__, table):
        if table[id].kind == "value":  # it was made before what it needs was there
            book.answer(table[id], cells[id], OWN)
        book.check(table[id], END)
    at = {id: [cell.number for cell in cells[id]] for id in table}  # some may share their cell
    built = {
        id: [other for other in table if at[other] != at[id] and called[other] in reads]
        for id in table if (reads := frozenset().union(*(names(c.source) for c in cells[id])))
    }  # fmt: skip
    for id, others in built.items():
        below = [other for other in others if cells[other][-1].number > cells[id][-1].number]
        if below or any(called[other] in tries.reused for other in others):
            for other in (*others, id):
                book.answer(table[other], cells[other], OWN)
            book.check(table[id], END + 1)
    for id, others in built.items():
        # Only for earlier ones: before its own last try, no right answer may stand in for one.
        earlier = [other for other in others if order.index(other) < order.index(id)]
        if texts := [text for other in earlier if (text := right(other, called[other]))]:
            book.lock(())
            book.add("\n\n\n".join(texts), GIVEN)
            book.answer(table[id], cells[id], OWN, FOLLOW)
            book.check(table[id], FOLLOW)


def _flags(submission: Submission, lesson: Lesson, found: Answers) -> list[str]:
    answers = found.cells
    flags = [f"answer cell {each} missing" for each in lesson.order if each not in answers]
    flags += [
        f"{len(cells)} answer cells {each}: the last one counts, or a right one that was checked"
        for each, cells in answers.items()
        if len(cells) > 1
    ]
    flags += [
        SHELL.format(each, line)
        for each, cells in answers.items()
        for cell in cells
        if (line := shell_line(cell.source))
    ]
    known = {*lesson.order, None}
    strange = dict.fromkeys(c.exercise for c in submission.cells if c.exercise not in known)
    other = f"no exercise of lesson {lesson.number}; left out"
    flags += [f"{each}: {retired(each) or other}" for each in strange][:5]
    return flags
