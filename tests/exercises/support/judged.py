"""The verdict on an answer, of which no more is run than decides it."""

from __future__ import annotations

from rooflab.exercises.exercise import COMPARED, Case, Exercise
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.verdict import Verdict


def judged(found: Exercise, cases: list[Case], answer: object) -> Verdict:
    """The verdict on ``answer``: a judge that ends with the first case that fails gets no further."""
    for some in [cases] if found.kind in COMPARED else [[case] for case in cases]:
        verdict = judge(found, some, collect(found.kind, some, answer))
        if not verdict.passed:
            break
    return verdict
