"""From observations to a verdict: plain data in, plain data out; no learner's code runs here."""

from __future__ import annotations

from collections.abc import Sequence

from rooflab.exercises.compare import by_name, flaw, parts, same, show, truth
from rooflab.exercises.diagnosis import (
    IN_SINGLE,
    NEARLY,
    ROUNDED,
    STOPPED,
    Comparison,
    Diagnosis,
    diagnose,
)
from rooflab.exercises.exercise import COMPARED, Case, Exercise, Misconception, Observation
from rooflab.exercises.plaindata import Plain
from rooflab.exercises.verdict import UNANSWERED, Verdict

INPUT_DIGITS = 7  # a longer input is rounded in what a learner reads; ``case`` holds all of it

NOT_RIGHT = "that is not right"


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """Return the verdict on ``observations``, one a case (from :func:`collect`).

    They may come from a process that is not trusted: anything malformed fails its case.
    """
    observations = [_in_order(exercise, seen) for seen in observations]
    if len(observations) != len(cases):
        return failed(exercise, f"{len(observations)} of {len(cases)} cases came back")
    if all(o.get("missing") for o in observations):
        return failed(exercise, unanswered(exercise))
    if exercise.kind == "timing":
        from rooflab.exercises.timing import judge_timing

        return judge_timing(exercise, cases, observations)
    if exercise.kind == "golf":
        from rooflab.exercises.golfing import judge_golf

        return judge_golf(exercise, cases, observations)
    return _compared(exercise, cases, observations)


def _compared(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """The verdict on values: those of the reference are right, and those of ``exercise.also``."""
    right = "right" if len(cases) == 1 else f"all {len(cases)} cases right"
    for remark, function in (("", exercise.reference), *exercise.also):
        expected = [function(*case.values()) for case in cases]
        if not Comparison(exercise, cases, expected, observations).wrong:
            return passed(exercise, f"{right}; {remark}" if remark else right)
    expected = [exercise.reference(*case.values()) for case in cases]
    found = Comparison(exercise, cases, expected, observations)
    diagnosis = diagnose(found)
    seen = observations[diagnosis.case]
    return failed(
        exercise,
        complaint(found, diagnosis),
        case=cases[diagnosis.case],
        yours=show(seen["value"]) if "value" in seen else None,
        mistake=diagnosis.mistake,
    )


def _in_order(exercise: Exercise, seen: object) -> Observation:
    """An observation whose values stand in the order of ``exercise.returns``.

    A dictionary may also use the names that stand in the answer cell: "(intensity, itemsize)".
    Where one value is wanted, one that stands alone in a dictionary is that value.
    """
    if not isinstance(seen, dict):
        return {}
    value, alone = seen.get("value"), exercise.kind in COMPARED and not exercise.returns
    if alone and isinstance(value, dict) and len(value) == 1:
        return {**seen, "value": next(iter(value.values()))}
    if "value" not in seen or not exercise.returns:
        return seen
    written = exercise.signature.strip("()").split(", ") if exercise.kind == "value" else ()
    others = written if len(written) == len(exercise.returns) else ()
    return {**seen, "value": by_name(seen["value"], exercise.returns, others)}


def passed(exercise: Exercise, reason: str) -> Verdict:
    """Return a verdict with full points."""
    points, insight = exercise.points, exercise.insight or None
    return Verdict(exercise.id, True, points, points, reason, insight=insight)


def failed(
    exercise: Exercise,
    reason: str,
    *,
    case: Case | None = None,
    yours: str | None = None,
    mistake: Misconception | None = None,
) -> Verdict:
    """Return a verdict without points, with the named mistake's hint if there is one."""
    return Verdict(
        exercise.id, False, 0, exercise.points, reason,
        case=dict(case) if case is not None else None,
        yours=yours,
        misconception=mistake.name if mistake else None,
        hint=mistake.hint if mistake else None,
    )  # fmt: skip


def unanswered(exercise: Exercise) -> str:
    """Return what an untouched answer cell is told."""
    lines = "1 line" if exercise.lines == 1 else f"{exercise.lines} lines"
    return f"{UNANSWERED}: {lines} to write"


def call_text(exercise: Exercise, case: Case) -> str:
    """Return the failing call as the learner would write it: ``flops(m=3, n=5, k=7)``."""
    if exercise.kind == "value":
        return "your answer"
    inputs = ", ".join(f"{name}={show(value, exact=INPUT_DIGITS)}" for name, value in case.items())
    return f"`{exercise.name}({inputs})`"


def complaint(found: Comparison, diagnosis: Diagnosis) -> str:
    """Say what is wrong with a case that fails, and with which part, never what would be right."""
    exercise, number, at = found.exercise, diagnosis.case, diagnosis.part
    case, right, seen = found.cases[number], found.expected[number], found.observations[number]
    call = call_text(exercise, case)
    if seen.get("missing"):
        return f"{call} returned None for this case"
    if "error" in seen:
        kind, _, told = str(seen["error"]).partition(": ")
        return f"{call} {told}" if kind == STOPPED else f"{call} raised {seen['error']}"
    if "unreadable" in seen or "value" not in seen:
        return f"{call}: {seen.get('unreadable', 'nothing came back')}"
    got, labels = seen["value"], exercise.returns
    subject = f"{call} is" if exercise.kind == "value" else f"{call} gave"
    pairs = parts(right, got)
    if pairs is None or (isinstance(got, list) and not isinstance(right, (list, tuple))):
        several = "keys" if isinstance(got, dict) else "values"
        wanted = f"{len(labels)} {several} are wanted: {', '.join(labels)}"
        wanted = wanted if labels else _kind(right)
        return f"{subject} {show(got)}; {wanted}"
    if at is None:  # another case has not the parts that are wanted
        at = next(n for n, pair in enumerate(pairs) if not same(*pair, exercise.allowed(case)))
    if labels and len(pairs) > 1:
        value = exercise.kind == "value"
        subject = f"{labels[at]}: {subject}" if value else f"the {labels[at]} of {subject}"
    mistake = diagnosis.mistake
    close = mistake is not None and mistake.name in (NEARLY, ROUNDED, IN_SINGLE)
    problem = _problem(exercise, found.cases, *pairs[at]) or (
        "nearly right" if close else NOT_RIGHT
    )
    return f"{subject} {show(pairs[at][1])}: {problem}"


def _problem(exercise: Exercise, cases: Sequence[Case], right: Plain, mine: Plain) -> str | None:
    """Say what kind of value is wanted, where ``mine`` is of another kind."""
    if isinstance(right, bool):
        return None if truth(mine) is not None else _kind(right)
    if isinstance(right, (int, float)) and (problem := flaw(mine)):
        return problem
    if isinstance(right, (list, tuple)):
        return None if parts(right, mine) else f"{len(right)} values are wanted here"
    if isinstance(mine, str) != isinstance(right, str) or isinstance(mine, (list, dict)):
        return _kind(right)
    if not isinstance(right, str):
        return None
    words = _vocabulary(exercise, cases)
    if any(same(word, mine, 0) for word in words):
        return None
    return f"one of these words is wanted: {', '.join(words)}"


def _vocabulary(exercise: Exercise, cases: Sequence[Case]) -> list[str]:
    """The words that an answer may hold.

    Where there are several cases they are the right ones of all cases: a wrong answer may hold a
    word that nobody asked for.
    """
    functions = [exercise.reference]
    if exercise.kind == "value":
        functions += [mistake.wrong for mistake in exercise.misconceptions]
    found = set()
    for case in cases:
        for function in functions:
            value = function(*case.values())
            several = value if isinstance(value, (list, tuple)) else [value]
            found |= {word for word in several if isinstance(word, str)}
    return sorted(found)


def _kind(expected: Plain) -> str:
    if isinstance(expected, bool):
        return "True or False is wanted"
    return "a text is wanted" if isinstance(expected, str) else "one number is wanted"
