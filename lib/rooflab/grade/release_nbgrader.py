"""The lessons for nbgrader: source notebooks with its metadata, schema version 3.

An answer cell is a solution of nbgrader's, its check cell an autograder test worth the points. The
visible test is ``rl.check``; a hidden one draws other cases. Solutions stand between marks, and
nbgrader takes them out when it makes the students' version.
"""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from rooflab.exercises import registry
from rooflab.exercises.course import Course
from rooflab.grade import given, release_nbgrader_words, release_words
from rooflab.grade.given import CHECKED
from rooflab.grade.kept import parsed
from rooflab.grade.release import (
    in_one_step,
    notebook,
    write_course,
    write_notebook,
    write_text,
)
from rooflab.grade.release_notebook import cleared, exercise_of, noted

SCHEMA = 3
STUB = re.compile(r"(\s*)(?:.*= )?\.\.\.  # your code: (\d+) lines?")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
TEST = """\
checked = {call}
display(checked)
assert checked, checked.reason
### BEGIN HIDDEN TESTS
from rooflab.exercises.hidden import hidden

hidden("{id}", {name}, "{seed}")
### END HIDDEN TESTS"""


def export(course: Course, out: Path, seed: int) -> None:
    """Write nbgrader's course folder for ``course`` into the new or empty folder ``out``.

    ``seed`` draws the hidden cases; it stands in the source notebooks, never in the students'.
    """

    def fill(folder: Path) -> None:
        for number in course.lessons:
            learner = notebook(number)
            solved = notebook(number, given.folder() / "solutions")
            made = source(*(nbformat.read(p, as_version=4) for p in (learner, solved)),
                          number, course, seed)  # fmt: skip
            (folder / "source" / learner.stem).mkdir(parents=True)
            write_notebook(made, folder / "source" / learner.stem / learner.name)
            write_course(course, folder / "source" / learner.stem)  # travels along; checks read it
        write_course(course, folder)
        write_text(folder / "nbgrader_config.py", release_nbgrader_words.CONFIG)
        write_text(folder / "README.md", release_nbgrader_words.for_teachers(course))

    in_one_step(out, fill)


def source(
    learner: NotebookNode, solved: NotebookNode, number: str, course: Course, seed: int
) -> NotebookNode:
    """Return nbgrader's source notebook of a lesson, from the learner's and the solution copy."""
    solutions = {exercise_of(c): c.source for c in solved.cells if exercise_of(c)}
    made = noted(learner, number, course)
    made.cells = [_cell(cleared(cell), solutions, course, seed) for cell in made.cells]
    return made


def _cell(
    cell: NotebookNode, solutions: dict[str | None, str], course: Course, seed: int
) -> NotebookNode:
    exercise = exercise_of(cell)
    asked = CHECKED.match(cell.source) if cell.cell_type == "code" else None
    if exercise:
        cell.source = marked(cell.source, solutions[exercise])
        _mark(cell, exercise, solution=True)
    elif asked:
        id, name = asked.groups()
        secret = hashlib.sha256(f"rooflab release {seed} {id}".encode()).hexdigest()[:16]
        cell.source = TEST.format(call=asked[0], id=id, name=name, seed=secret)
        points = release_words.points_of(registry.exercise(id), course)
        _mark(cell, f"check-{id}", grade=True, locked=True, points=points)
    elif cell.cell_type == "code" and _imports(cell.source):
        _mark(cell, f"given-{cell.id}", locked=True)
    return cell


def _mark(cell: NotebookNode, grade_id: str, **flags: bool | int) -> None:
    flat = {"grade": False, "locked": False, "solution": False, "task": False}
    told = {"schema_version": SCHEMA, "grade_id": grade_id, **flat, **flags}
    cell.metadata["nbgrader"] = told


def marked(learner: str, solved: str) -> str:
    """Return an answer cell that holds the learner's line and, between marks, the solution.

    The line that the learner sees stays in front, so that the cell runs without the solution too.
    ValueError when the two cells are not of one source.
    """
    wanted, have = learner.split("\n"), solved.split("\n")
    made: list[str] = []
    place = 0
    for number, line in enumerate(wanted):
        stub = STUB.fullmatch(line)
        if stub is None:
            if have[place : place + 1] != [line]:
                raise ValueError(f"no line {line!r} in the solution")
            made.append(line)
            place += 1
            continue
        end = _end(have, place, int(stub[2]), wanted[number + 1 :])
        made += [line, stub[1] + BEGIN, *have[place:end], stub[1] + END]
        place = end
    if place != len(have):
        raise ValueError("the solution has more lines than its cell has room for")
    return "\n".join(made)


def _end(have: list[str], begin: int, lines: int, rest: list[str]) -> int:
    """Return where a solution of ``lines`` lines of code ends; ``rest`` follows in the cell."""
    stubs = [n for n, line in enumerate(rest) if STUB.fullmatch(line)]
    literal = rest[: stubs[0]] if stubs else rest
    for end in range(begin + 1, len(have) + 1):
        written = [s for line in have[begin:end] if (s := line.strip()) and not s.startswith("#")]
        last = not stubs and end + len(literal) != len(have)
        if len(written) == lines and have[end : end + len(literal)] == literal and not last:
            return end
    raise ValueError("the solution is not where the learner's cell has room for it")


def _imports(source: str) -> bool:
    tree = parsed(source)
    return tree is not None and bool(tree.body) and all(
        isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body
    )  # fmt: skip
