"""``rl.check``: the verdict on an answer, in the notebook."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from importlib import import_module

from rooflab.exercises import course, session
from rooflab.exercises.collect import describe
from rooflab.exercises.ending import BUTTON, Ending
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.history import RENAMED, STALE, misspelt, stale
from rooflab.exercises.judge import judge
from rooflab.exercises.registry import exercise, exercises
from rooflab.exercises.verdict import Verdict

PUBLIC_SEED = 0  # a grader draws other cases


class Interrupted(KeyboardInterrupt):
    """The stop button, passed on, so that the cells that wait behind this one stop too."""

    def _render_traceback_(self) -> list[str]:
        return ["KeyboardInterrupt: stopped; the cells that were waiting have not been run"]


def check(id: str, answer: object = ...) -> Verdict:
    """Judge ``answer``, a value or a function, to exercise ``id``, as in
    ``check("01-product", product)``.

    Returns a Verdict that says what is wrong with the first failing case and, when the mistake is
    a known one, names it. An answer that does not end is stopped after 10 s. Raises nothing but
    the KeyboardInterrupt of a stop button, after showing the verdict: an unknown id, an unanswered
    cell (``...``) and an answer that fails are verdicts too.

    On Linux a function runs in a copy of this process, which can be stopped whatever it does: what
    the function changes in the notebook stays as it was. On macOS and Windows, and while this
    process uses a GPU, it runs in this process: then one long call into C is stopped only when it
    returns.
    """
    try:
        found = exercise(id)
    except (TypeError, ValueError) as error:
        return Verdict(str(id)[:60] if isinstance(id, str) else "?", False, 0, 0, str(error))
    ending = Ending()
    verdict = session.keep(course.weighed(_verdict(found, answer, ending), course.here().points))
    if ending.pressed:
        _show(verdict)
        raise Interrupted from None
    return verdict


def _verdict(found: Exercise, answer: object, ending: Ending) -> Verdict:
    try:
        cases = found.draw(PUBLIC_SEED)
        observations = ending.observe(found.kind, cases, answer)
        verdict = judge(found, cases, observations)
        if found.kind == "timing":
            from rooflab.exercises.timing import drawn

            verdict = replace(verdict, picture=drawn(found, cases, observations))
    except Exception as error:  # a fault of ours must not stop the learner's notebook
        reason = f"the checker itself failed ({describe(error)}); please report it"
        return Verdict(found.id, False, 0, found.points, reason)
    if found.kind == "timing" and verdict.passed:
        verdict = _confirmed(found, answer, verdict, ending)
    if verdict.passed:  # what asks this needs a moment to load
        noted = import_module("rooflab.grade.refusal").noted
        verdict = noted(found, answer, cases, verdict, ending.observe)
    return _noted(verdict, answer)


def _confirmed(found: Exercise, answer: object, verdict: Verdict, ending: Ending) -> Verdict:
    """Run a timing on this machine's GPU too, if it has one and there is time left."""
    from rooflab.exercises.on_gpu import confirm

    seen = verdict
    with ending.watching():
        seen = confirm(found, answer, verdict)
    why = BUTTON if ending.pressed else ending.over
    return replace(verdict, note=f"Not compared on the GPU: it {why}.") if why else seen


def _noted(verdict: Verdict, answer: object) -> Verdict:
    """Add what is to know besides: that the answer's cell has failed since, or another name."""
    with contextlib.suppress(Exception):  # a note must not cost the verdict
        other = misspelt(answer, {found.name for found in exercises().values()})
        said = RENAMED.format(answer.__name__, other) if other else STALE if stale(answer) else ""
        return replace(verdict, note=" ".join(filter(None, (verdict.note, said))) or None)
    return verdict


def _show(verdict: Verdict) -> None:
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        print(verdict)
        return
    from IPython.display import display

    display(verdict)
