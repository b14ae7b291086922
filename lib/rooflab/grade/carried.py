"""A wrong earlier answer does not cost twice.

Some exercises are built from earlier answers: a claim is judged with one's own count of a product.
If the answer calls an earlier one that is wrong, it is run once more at the end of the run, with a
right answer in the place of the wrong one (stand_ins.py). The mistake has cost its points where it
was made. A right one may be replaced too: one that counts in loops takes hours where the claim asks.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from rooflab.exercises.exercise import Observation
from rooflab.exercises.judge import judge
from rooflab.exercises.verdict import Verdict
from rooflab.grade.given import Lesson
from rooflab.grade.kept import names
from rooflab.grade.locked import ANSWER, CHECK, FOLLOW, Locked
from rooflab.grade.stand_ins import RIGHT

STOPPED = re.compile("was stopped|KeyboardInterrupt")  # in the reason of what did not end
NOTE = "The mistake in it has cost its points already, and costs none here."


def carry(
    locked: Locked,
    lesson: Lesson,
    verdicts: Mapping[str, Verdict],
    again: Mapping[str, Mapping[int, Sequence[Observation]]],
) -> dict[str, Verdict]:
    """Return ``verdicts`` with the points that mistakes of earlier answers had cost.

    ``again``: the further tries of a run, as in an Outcome.
    """
    table = {exercise.id: exercise for exercise in lesson.exercises}
    called = answer_names(locked)
    carried = dict(verdicts)
    for id, tries in again.items():
        if FOLLOW not in tries or verdicts[id].passed:
            continue
        read = _read(locked, id)
        parts = [part for part in RIGHT if part in called and part != id and called[part] in read]
        wrong = [called[part] for part in parts if not verdicts[part].passed]
        if not wrong and not STOPPED.search(verdicts[id].reason):
            continue
        found = judge(table[id], locked.cases[id], tries[FOLLOW])
        if found.passed:
            own = " and ".join(wrong or [called[part] for part in parts])
            told = f"right, with {'a right' if wrong else 'a quick'} {own} in place of yours"
            carried[id] = dataclasses.replace(found, reason=told, note=NOTE if wrong else None)
    return carried


def answer_names(locked: Locked) -> dict[str, str]:
    """Return what each answer is called: exercise → the name that its check cell asks for."""
    found = {}
    for cell in locked.notebook.cells:
        mark = cell.metadata["rooflab"]
        if mark["role"] == CHECK:
            asked = cell.source.rpartition("lambda: ")[2]
            found[mark["exercise"]] = asked.partition(",")[0].rstrip(")")
    return found


def _read(locked: Locked, exercise: str) -> frozenset[str]:
    """Names that the learner's answer reads."""
    found: frozenset[str] = frozenset()
    for cell in locked.notebook.cells:
        mark = cell.metadata["rooflab"]
        if mark["role"] == ANSWER and mark.get("exercise") == exercise:
            found |= names(cell.source)
    return found
