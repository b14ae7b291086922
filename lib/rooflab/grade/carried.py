"""A wrong earlier answer does not cost twice.

Some exercises are built from earlier answers: a claim is judged with one's own count of a product.
If the learner's answer calls the learner's own earlier function, and that one makes a *known*
mistake, the later answer is judged by what the right composition of that mistake gives. The mistake
has cost its points where it was made. An earlier answer that is wrong in a way nobody knows carries
nothing on: there is nothing to compare with, and "whatever I wrote before" must not be worth
points.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rooflab.exercises.exercise import Exercise, Observation
from rooflab.exercises.judge import judge
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict
from rooflab.grade.given import Lesson
from rooflab.grade.kept import names
from rooflab.grade.locked import ANSWER, Locked

NOTE = "The mistake in it has cost its points already, and costs none here."
Function = Callable[..., object]


@dataclass(frozen=True)
class Built:
    """``build`` makes the right answer from the answers to ``parts``, in that order."""

    parts: tuple[str, ...]
    build: Callable[..., Function]


def _claim(product: Function) -> Function:
    """The claim from one's own product, at the square of the question.

    Where its intensity is right the claim is the quotient of its own counts, which shows a count
    that is wrong; else it is its intensity.
    """
    square = (4096, 4096, 4096, 4, False)
    flops, nbytes, intensity = product(*square)
    right = exercise("01-product").reference(*square)[2]
    return lambda: (flops / nbytes if intensity == right else intensity, 2)


BUILT: Mapping[str, Built] = {
    "01-claim-1365": Built(("01-product",), _claim),
}


def carry(
    locked: Locked,
    lesson: Lesson,
    verdicts: Mapping[str, Verdict],
    observations: Mapping[str, Sequence[Observation]],
) -> dict[str, Verdict]:
    """Return ``verdicts`` with the points that known mistakes of earlier answers had cost."""
    table = {exercise.id: exercise for exercise in lesson.exercises}
    known = {id: _known(exercise, verdicts.get(id)) for id, exercise in table.items()}
    carried = dict(verdicts)
    for id, built in BUILT.items():
        wrong = [part for part in built.parts if part in verdicts and not verdicts[part].passed]
        wrong = [part for part in wrong if lesson.names[part] in _called(locked, id)]
        parts = [known.get(part) for part in built.parts]
        if id not in table or not wrong or None in parts or id not in observations:
            continue
        if verdicts[id].passed:
            continue
        instead = dataclasses.replace(table[id], reference=built.build(*parts))
        again = judge(instead, locked.cases[id], observations[id])
        if again.passed:
            own = " and ".join(lesson.names[part] for part in wrong)
            carried[id] = dataclasses.replace(again, reason=f"right with your own {own}", note=NOTE)
            known[id] = instead.reference
    return carried


def _known(exercise: Exercise, verdict: Verdict | None) -> Function | None:
    """What the learner's function is known to compute: the right thing, or a named mistake."""
    if verdict is None:
        return None
    if verdict.passed:
        return exercise.reference
    named = (m for m in exercise.misconceptions if m.name == verdict.misconception)
    return next((mistake.wrong for mistake in named), None)


def _called(locked: Locked, exercise: str) -> frozenset[str]:
    """Names that the learner's answer reads."""
    found: frozenset[str] = frozenset()
    for cell in locked.notebook.cells:
        mark = cell.metadata["rooflab"]
        if mark["role"] == ANSWER and mark.get("exercise") == exercise:
            found |= names(cell.source)
    return found
