"""``rl.check``: the verdict on an answer, in the notebook."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from rooflab.exercises import course, session
from rooflab.exercises.collect import collect, describe
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.judge import judge
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict

PUBLIC_SEED = 0  # a grader draws other cases


def check(id: str, answer: object = ...) -> Verdict:
    """Judge ``answer``, a value or a function, to exercise ``id``, as in
    ``check("01-product", product)``.

    Returns a Verdict that says what is wrong with the first failing case and, when the mistake is
    a known one, names it. Never raises: an unknown id, an unanswered cell (``...``) and an answer
    that fails are verdicts too.
    """
    try:
        found = exercise(id)
    except (TypeError, ValueError) as error:
        return Verdict(str(id)[:60] if isinstance(id, str) else "?", False, 0, 0, str(error))
    return session.keep(course.weighed(_verdict(found, answer), course.here().points))


def _verdict(found: Exercise, answer: object) -> Verdict:
    try:
        cases = found.draw(PUBLIC_SEED)
        observations = collect(found.kind, cases, answer)
        verdict = judge(found, cases, observations)
        if found.kind == "timing":
            from rooflab.exercises.timing import drawn

            verdict = replace(verdict, picture=drawn(found, cases, observations))
    except Exception as error:  # a fault of ours must not stop the learner's notebook
        reason = f"the checker itself failed ({describe(error)}); please report it"
        return Verdict(found.id, False, 0, found.points, reason)
    if found.kind == "timing" and verdict.passed:
        from rooflab.exercises.on_gpu import confirm

        verdict = confirm(found, answer, verdict)
    return import_module("rooflab.grade.refusal").noted(found, answer, cases, verdict)
