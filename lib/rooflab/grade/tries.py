"""Where each answer is checked: at the learner's own check, and where else it could be right.

A scratch cell may use the name of an answer again, before the check or behind it, and a helper may
stand below the answer that calls it. So an answer is tried as often as it may have changed, and
the first try that is right counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rooflab.exercises.exercise import Exercise
from rooflab.grade.answer_cells import Answers
from rooflab.grade.gate import TRACED
from rooflab.grade.given import Lesson
from rooflab.grade.intake import CodeCell
from rooflab.grade.kept import parsed
from rooflab.grade.needed import Needs, given


@dataclass(frozen=True)
class Tries:
    """``places``: exercise → numbers of the cells behind which it is checked; ``end``: exercises
    that later cells may change, which are checked once more at the end; ``lacking``: those that
    need what only a later cell gives; ``reused``: names of answers that other cells use again."""

    places: Mapping[str, tuple[int, ...]]
    end: frozenset[str]
    lacking: frozenset[str]
    reused: frozenset[str]

    def at(self, number: int) -> list[tuple[str, int]]:
        """The exercises that are checked behind a cell, each with the number of the try."""
        return [(id, at.index(number)) for id, at in self.places.items() if number in at]

    def first(self, id: str) -> int:
        """The cell behind which an exercise is checked first; 0 if it is not answered."""
        return self.places.get(id, (0,))[0]


def tries_of(
    cells: Sequence[CodeCell], own: Mapping[int, str], lesson: Lesson, answers: Answers
) -> Tries:
    """Return where the exercises of ``lesson`` are checked; ``own``: what is run between answers,
    by the number of its cell."""
    texts = {c.number: c.source if c.exercise else own.get(c.number, "") for c in cells}
    of_lesson = {source for sources in lesson.given.values() for source in sources}
    trees = {n: tree for n, text in texts.items()
             if text and text not in of_lesson and (tree := parsed(text))}  # fmt: skip
    needs = Needs([node for tree in trees.values() for node in tree.body])
    gives = {n: frozenset().union(*map(given, tree.body)) for n, tree in trees.items()}
    places: dict[str, tuple[int, ...]] = {}
    end: set[str] = set()
    lacking: set[str] = set()
    known = {name for text in of_lesson if (tree := parsed(text)) for s in tree.body
             for name in given(s)}  # fmt: skip
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
            above = known.union(*(names for n, names in gives.items() if n <= max(found)))
            below = frozenset().union(*(names for n, names in gives.items() if n > max(found)))
            if (below & used) - above:
                lacking.add(exercise.id)
    called = frozenset(answers.names.values())
    others = (gives[n] for n in gives if n in own)
    return Tries(places, frozenset(end), frozenset(lacking), called & frozenset().union(*others))


def _places(
    exercise: Exercise, answers: Answers, changed: Callable[[int, float], bool]
) -> tuple[int, ...]:
    """Return the numbers of the cells behind which an exercise is checked.

    ``changed``: whether what is between two cells may have changed the answer. An answer cell may
    have been copied, its older text still in it, below the check of the right one.
    """
    numbers = [cell.number for cell in answers.cells[exercise.id]]
    first, last = min(numbers), max(numbers)
    asked = answers.checked.get(exercise.id, ())
    later = [n for n in asked if n >= last]
    earlier = [n for n in asked if first <= n < last]
    if exercise.kind in TRACED:
        return (*later[:1], *earlier[-1:], last)[:1]
    later = later or [last]
    found = {later[0], *earlier[:1], *earlier[-1:]}
    found |= {later[-1]} if changed(later[0], later[-1]) else set()
    found |= {last} if changed(last, later[0]) else set()
    return tuple(sorted(found))
