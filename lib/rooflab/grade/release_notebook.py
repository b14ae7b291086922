"""A learner's notebook for one class: when it is due, and what each exercise is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator

import nbformat
from nbformat import NotebookNode

from rooflab.exercises import registry
from rooflab.exercises.course import Course
from rooflab.grade import given, release_words

# What these cells show depends on the points, or on the person.
OWN = re.compile(r"rl\.(check|progress|my_guesses)\(")


def noted(learner: NotebookNode, number: str, course: Course) -> NotebookNode:
    """Return a copy of lesson ``number`` with notes of its due date and points.

    The first note stands below the title, one line above each answer cell. Nothing else changes,
    but the outputs that hold points or guesses are cleared, and an answer cell cannot be deleted.
    """
    made = nbformat.from_dict(learner)
    made.cells = list(_cells(learner, number, course))
    return made


def _cells(learner: NotebookNode, number: str, course: Course) -> Iterator[NotebookNode]:
    told: set[str] = set()
    order = given.lesson(number).order
    for place, cell in enumerate(learner.cells):
        exercise = exercise_of(cell)
        if exercise and exercise not in told:
            told.add(exercise)
            words = release_words.worth(registry.exercise(exercise), course)
            tags = [tag for tag in cell.metadata.get("tags", ()) if tag in ("core", "deep")]
            yield _note(words, f"points-{exercise}", tags)
        copy = cleared(cell) if OWN.search(cell.source) else nbformat.from_dict(cell)
        if exercise:
            copy.metadata["deletable"] = False  # a new cell in its place would have lost its mark
        yield copy
        if place == 0:
            yield _note(release_words.due_note(number, order, course), f"due-{number}", ["core"])


def exercise_of(cell: NotebookNode) -> str | None:
    """Return the exercise that a cell answers, None if it answers none."""
    if cell.cell_type != "code":
        return None
    return cell.metadata.get("rooflab", {}).get("exercise")


def cleared(cell: NotebookNode) -> NotebookNode:
    """Return a copy of a cell as if it had never run."""
    cell = nbformat.from_dict(cell)
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    return cell


def _note(text: str, identity: str, tags: list[str]) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(text, id=identity, metadata={"tags": tags})
