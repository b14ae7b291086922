"""The verdict on an answer, of which no more is run than decides it."""

from rooflab.exercises.exercise import COMPARED
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect


def quick_verdict(found, cases, answer):
    """The verdict on ``answer``: no case is run after one that fails, if no judge asks for it."""
    for some in [cases] if found.kind in COMPARED else [[case] for case in cases]:
        verdict = judge(found, some, collect(found.kind, some, answer))
        if not verdict.passed:
            break
    return verdict
