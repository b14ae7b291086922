"""From an outcome to verdicts: plain data from a process that nobody trusts, judged out here."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Mapping, Sequence

from rooflab.exercises.collect import describe
from rooflab.exercises.exercise import Exercise, Observation
from rooflab.exercises.judge import failed
from rooflab.exercises.judge import judge as judge_one
from rooflab.exercises.verdict import Verdict
from rooflab.grade.carried import answer_names, carry
from rooflab.grade.gate import DERIVE
from rooflab.grade.given import Lesson
from rooflab.grade.locked import ENDED, FOLLOW, Locked, Outcome
from rooflab.grade.names import clean

LONGEST = 400  # characters of a reason
STOPPED = "KeyboardInterrupt"  # what a cell sees when its time is over
ENDLESS = "did not end in time and was stopped"
MISSING = "its answer cell is missing; was it deleted, or turned into text?"
EARLY = "Its cell stopped with {}; what it defines counted all the same."
LOCKED = (
    "Its cell also calls rooflab's own function, beside the answer. That is locked in the grade, so "
    "the cell stopped there. It cost nothing."
)
_RAISED = re.compile(r"[A-Z]\w*(Error|Exception|Interrupt|Exit)\b")
_CELL = re.compile(r"\(\S+\.py, line (\d+)\)")  # how Python names a notebook's cell
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")


def judge(locked: Locked, outcome: Outcome, lesson: Lesson) -> dict[str, Verdict]:
    """Return the verdict on every exercise of the lesson, in its order. Never raises.

    What came back is judged; what did not come back has no points, with the run's reason.
    """
    verdicts = {}
    called = answer_names(locked)
    for exercise in lesson.exercises:
        seen = outcome.observations.get(exercise.id)
        if exercise.id not in locked.cases:
            verdict = failed(exercise, MISSING)
        elif seen is None and min(outcome.again.get(exercise.id, ()), default=FOLLOW) >= FOLLOW:
            told = outcome.reasons.get(exercise.id) or outcome.stopped
            ends = (told, ENDED.format(told))
            at = next((id for id, one in verdicts.items() if told and one.reason in ends), None)
            late = at is not None and told == outcome.stopped
            told = f"not run: {told}, in {at}" if late else told
            verdict = failed(exercise, told or "nothing came back from its check")
        else:
            verdict = _best(exercise, locked, outcome, called.get(exercise.id, exercise.name))
        verdicts[exercise.id] = verdict
    with contextlib.suppress(Exception):  # it only adds points; without it the verdicts stand
        verdicts = carry(locked, lesson, verdicts, outcome.again)
    return {id: tidy(verdict) for id, verdict in verdicts.items()}


def _best(exercise: Exercise, locked: Locked, outcome: Outcome, name: str) -> Verdict:
    """Return the verdict on the first try that is right, else on the first that came back."""
    more = outcome.again.get(exercise.id, {})
    tries = [seen for number, seen in sorted(more.items()) if number < FOLLOW]
    if exercise.id in outcome.observations:
        tries.insert(0, outcome.observations[exercise.id])
    printed = outcome.printed.get(exercise.id, "")
    raised = _raised(printed)
    first = None
    for seen in tries:
        why = _undefined(seen, name, printed)
        found = failed(exercise, why) if why else _judged(exercise, locked, seen)
        if found.passed and raised and found.note is None:
            note = LOCKED if f": {DERIVE}: " in raised else EARLY.format(told(raised))
            found = dataclasses.replace(found, note=note)
        if found.passed:
            return found
        first = found if first is None else first
    return failed(exercise, "nothing came back from its check") if first is None else first


def _judged(exercise: Exercise, locked: Locked, seen: Sequence[Observation]) -> Verdict:
    try:
        return judge_one(exercise, locked.cases[exercise.id], seen)
    except Exception as error:  # malformed in a way that no honest answer is
        return failed(exercise, f"what came back cannot be judged ({describe(error)})")


def _undefined(seen: Sequence[Observation], name: str, printed: str) -> str | None:
    """Say what happened to an answer that does not exist: most often its cell raised an error."""
    lost = {"error": f"NameError: name {name!r} is not defined"}
    if not seen or any(one != lost for one in seen):
        return None
    last = _raised(printed)
    raised = f"its answer cell raised {last}" if last else "its answer cell does not make it"
    if last.startswith(STOPPED):
        raised = f"its answer cell {ENDLESS}"
    return f"there is no {name}: {raised}"


def _raised(printed: str) -> str:
    """The error in what an answer cell printed, "" if there is none."""
    return next((line for line in reversed(printed.splitlines()) if _RAISED.match(line)), "")


def tidy(verdict: Verdict) -> Verdict:
    """Return ``verdict`` with texts of one line, the same in every run, of bearable length."""
    reason = verdict.reason.replace(f"raised {STOPPED}", ENDLESS)
    verdict = dataclasses.replace(verdict, reason=reason)
    texts = {
        field: told(value)
        for field in ("reason", "yours", "misconception", "hint", "note")
        if isinstance(value := getattr(verdict, field), str)
    }
    return dataclasses.replace(verdict, **texts)


def told(text: str) -> str:
    """Return a text on one line, without control marks and without addresses in memory."""
    short = _CELL.sub(r"(line \1)", without_addresses(text[: 10 * LONGEST]))
    return clean(short, LONGEST)


def without_addresses(text: str) -> str:
    """Return what an object shows of itself, the same in every run: ``<function f at 0x…>``."""
    return _ADDRESS.sub("0x…", text)


def points(verdicts: Mapping[str, Verdict]) -> tuple[int, int]:
    """Return the points of a submission and how many there are."""
    return sum(v.points for v in verdicts.values()), sum(v.max for v in verdicts.values())
