"""Put a learner's answers into a locked notebook: a new one, made cell by cell.

The cells keep the learner's order. An answer may rely on the lesson's imports, constants and
functions, on the learner's own, and on the learner's earlier answers. Nothing that measures or
draws is run. An answer is checked where the learner's own check is, or right after its cell, with
cases that were drawn for this class. If later cells could change it, it is checked once more at the
end (answer_cells.py), so that no points depend on the order in which the learner left the cells.

An answer that is to be derived is run with the library locked. Where other code of the learner
could get round that (gate.py), such an answer comes first, and only with the statements that it
needs. A magic or a plot in another answer then costs it no points.
"""

from __future__ import annotations

import ast
import hashlib
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import nbformat
from nbformat import NotebookNode

from rooflab.exercises.exercise import Exercise
from rooflab.grade import suspects
from rooflab.grade.answer_cells import Answers, Tries, answers_in, owners, tries_of
from rooflab.grade.gate import innocent, lent_beside
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
    given,
    in_place,
    kept,
    missing_elsewhere,
    modules_of,
    names,
    needed,
    parsed,
    read,
    text_of,
)
from rooflab.grade.suspects import borrowing, flaw
from rooflab.grade.verdicts import mine_source, right

# Which of the learner's statements are run around the answers, and which an answer is run with
# alone.


MOST_CODE = 300_000  # characters that are looked into: three times the longest honest notebook


def relied_on(cells: Sequence[CodeCell], order: Collection[str]) -> frozenset[tuple[int, int]]:
    """Return cell number and line of the statements around the answers that these need."""
    trees = _trees(cells)
    names = {name for cell, tree in trees if cell.exercise in order for name in read(tree)}
    around = [
        (cell, node) for cell, tree in trees if cell.exercise not in order for node in tree.body
    ]
    wanted = {id(node) for node in needed(names, [node for _, node in around])}
    return frozenset(
        (cell.number, node.lineno)
        for cell, node in around
        if id(node) in wanted and not absent(node)
    )


def alone_in(
    cells: Sequence[CodeCell],
    names: Mapping[str, str],
    checked: Mapping[str, int],
    owned: Mapping[int, Collection[str]],
) -> dict[str, str]:
    """Return the statements that an answer needs, as text, for each that can be run alone.

    ``names``: exercise → name of its answer. ``checked``: exercise → number of the cell after
    which it is checked; a statement below that gives a name another value is left out. ``owned``:
    number of a cell → the exercises that it answers. An answer that gets round the lock is not
    returned: it stays in its place, and gate.py says so.
    """
    trees = _trees(cells)
    found = {}
    for asked, name in names.items():
        above = [n for c, t in trees for n in t.body if c.number <= checked[asked]]
        named = frozenset().union(*map(given, above))
        below = [n for c, t in trees for n in t.body if c.number > checked[asked]]
        nodes = above + [n for n in below if not given(n) & named]
        wanted = {id(node) for node in needed([name], nodes)}
        parts = [text_of(c.source, [n for n in t.body if id(n) in wanted]) for c, t in trees]
        text = "\n".join(part for part in parts if part)
        own = [
            node
            for cell, tree in trees
            if asked in owned.get(cell.number, ())
            for node in tree.body
        ]
        if own and text and innocent(text):
            found[asked] = text
    return found


def _trees(cells: Sequence[CodeCell]) -> list[tuple[CodeCell, ast.Module]]:
    if sum(len(cell.source) for cell in cells) > MOST_CODE:
        return []
    return [(cell, tree) for cell in cells if (tree := parsed(cell.source)) is not None]


# Lines of an answer cell that are left out, because the answer does not need them.
#
# In an exercise that asks to derive what the library has, an answer that could get round the lock
# counts for nothing. A line that the answer does not need cannot help it, such as a test below it
# (``unittest.main(…)``) or an import that nothing uses. It is left out, and the answer counts.


Place = tuple[int, int, int]  # number of a cell, line, column


def needed_places(cells: Iterable[CodeCell], names: Iterable[str]) -> frozenset[Place]:
    """Return the places of the statements that give the answers ``names`` and what they need."""
    trees = [(cell.number, tree) for cell in cells if (tree := parsed(cell.source))]
    wanted = {id(node) for node in Needs([n for _, tree in trees for n in tree.body]).of(names)}
    return frozenset(
        _place(number, node) for number, tree in trees for node in tree.body if id(node) in wanted
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


def pruned(cell: CodeCell, needed: Collection[Place]) -> str:
    """Return the source of an answer cell without what gets round the lock and no answer needs."""
    tree = parsed(cell.source)
    if tree is None or suspects.COMMAND.search(cell.source):
        return cell.source
    stays = _without_flaws(cell, tree.body, needed)
    if len(stays) == len(tree.body):
        return cell.source
    return in_place(cell.source, stays)


def _without_flaws(
    cell: CodeCell, nodes: Sequence[ast.stmt], needed: Collection[Place]
) -> list[ast.stmt]:
    """``nodes`` that may run. A star import stays: nobody can tell which names it gives."""

    def stays(node: ast.stmt) -> bool:
        wanted = _place(cell.number, node) in needed or "*" in given(node)
        return wanted or flaw([node], borrowing) is None

    return [node for node in nodes if stays(node)]


def _place(number: int, node: ast.stmt) -> Place:
    return number, node.lineno, node.col_offset


KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
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
        student=submission.student or "",
        cases=cases,
        nonce=secrets.token_hex(16),
        flags=(
            *submission.remarks,
            *answers.remarks,
            *_flags(submission, lesson, answers),
            *foreign(submission.cells, answers.names, answers.cells),
        ),
    )
    parts = _parts(_marked(submission.cells, answers), lesson, answers)
    locked.notebook.cells = _cells(locked, lesson, parts, {})
    if wanted := lent_beside(locked):
        checked = {id: parts.tries.first(id) for id in wanted}
        called = {id: answers.names[id] for id in wanted}
        alone = alone_in(parts.cells, called, checked, owners(answers.cells))
        locked.notebook.cells = _cells(locked, lesson, parts, alone)
    return locked


def secret(seed: int | None, exercise: str) -> object:
    """Return the seed of an exercise's hidden cases; a class's seed 0 is not the public seed 0."""
    if seed is None:
        from rooflab.exercises.check import PUBLIC_SEED

        return PUBLIC_SEED
    return hashlib.sha256(f"rooflab grade {seed} {exercise}".encode()).hexdigest()


@dataclass(frozen=True)
class _Parts:
    """What a locked notebook is made of.

    ``cells``: the learner's, with the exercise that each answers; ``own``: number of a cell that is
    no answer → what of it is run; ``tries``: where each exercise is checked; ``needed``: places of
    the statements that the answers need.
    """

    cells: Sequence[CodeCell]
    answers: Answers
    own: Mapping[int, str]
    tries: Tries
    needed: frozenset[Place]


def _marked(cells: Iterable[CodeCell], answers: Answers) -> list[CodeCell]:
    """Return the cells with the exercise that each answers; one that answers two stands once."""
    found = {cell.number: cell for mine in reversed(answers.cells.values()) for cell in mine}
    return [found.get(cell.number) or replace(cell, exercise=None) for cell in cells]


def _parts(cells: Sequence[CodeCell], lesson: Lesson, answers: Answers) -> _Parts:
    """Find out what is run of the learner's other cells: the last MOST_CELLS in each gap."""
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
    needed = needed_places(cells, answers.names.values())
    return _Parts(cells, answers, own, tries_of(cells, own, lesson, answers), needed)


class _Builder:
    """Makes the cells of a locked notebook, one after the other."""

    def __init__(self, locked: Locked, lesson: Lesson, parts: _Parts) -> None:
        self.locked, self.lesson, self.answers = locked, lesson, parts.answers
        self.needed = parts.needed
        self.owned = owners(parts.answers.cells)
        self.cells: list[NotebookNode] = []
        self.done: set[str] = set()
        self.of_lesson = {source for sources in lesson.given.values() for source in sources}
        self.shut: tuple[str, ...] = ()

    def add(self, source: str, role: str, exercise: str | None = None, number: int = 0) -> None:
        mark = {"role": role} | ({"exercise": exercise} if exercise else {})
        mark |= {"try": number} if number else {}
        self.cells.append(_cell(source, mark, len(self.cells)))

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
            source = pruned(cell, self.needed) if exercise.derives else cell.source
            mine = self.owned.get(cell.number, [exercise.id])
            if first := early(source, [self.answers.names[id] for id in mine]):
                self.add(first, role, mark, number)
            self.add(source, role, mark, number)

    def check(self, exercise: Exercise, number: int = 0) -> None:
        if exercise.id in self.locked.cases:
            self.lock(exercise.derives)
            word, cases = self.locked.word(exercise.id), self.locked.cases[exercise.id]
            name = self.answers.names[exercise.id]
            source = check_source(word, exercise.id, exercise.kind, cases, name, number > 0)
            self.add(source, CHECK, exercise.id, number)
            self.shut = ()


def _cells(
    locked: Locked, lesson: Lesson, parts: _Parts, alone: Mapping[str, str]
) -> list[NotebookNode]:
    """``alone``: the exercises that are run alone, first, and the source of each."""
    book = _Builder(locked, lesson, parts)
    table = {exercise.id: exercise for exercise in lesson.exercises}
    for id in lesson.order if alone else ():
        book.give(lesson.given.get(id, ()))
        if id in alone:
            book.lock(table[id].derives)
            book.add(alone[id], OWN)
            book.check(table[id])
    book.give(lesson.given.get(lesson.order[0], ()))
    if source := mine_source(lesson, parts.cells):
        book.add(source, GIVEN)
    for cell in parts.cells:
        mine = book.owned.get(cell.number, [])
        for id in lesson.order[: max(map(lesson.order.index, mine), default=-1) + 1]:
            book.give(lesson.given.get(id, ()))
        if cell.exercise and cell in parts.answers.cells[cell.exercise][-MOST_CELLS:]:
            book.answer(table[cell.exercise], [cell])
        if text := parts.own.get(cell.number):
            book.own(text)
        for id, number in parts.tries.at(cell.number):
            if id not in alone:
                book.check(table[id], number)
    again = [e for e in lesson.exercises if e.id not in alone]
    _at_the_end(book, parts, again)
    return book.cells


def _at_the_end(book: _Builder, parts: _Parts, exercises: Sequence[Exercise]) -> None:
    """Check again what later cells may have mended, then what an earlier answer may have spoiled.

    Last, right answers take the place of wrong earlier ones, which have cost their points already.
    """
    cells, called = parts.answers.cells, parts.answers.names
    order = book.lesson.order
    table = {exercise.id: exercise for exercise in exercises if exercise.id in cells}
    for id in filter(parts.tries.end.__contains__, table):
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
        if below or any(called[other] in parts.tries.reused for other in others):
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


def _cell(source: str, mark: dict[str, str], number: int) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, id=f"cell-{number}", metadata={"rooflab": mark})


def _flags(submission: Submission, lesson: Lesson, found: Answers) -> list[str]:
    answers = found.cells
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
