"""From observations to a verdict: plain data in, plain data out; no learner's code runs here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rooflab.exercises.compare import (
    by_name,
    flaw,
    nearly,
    only_rounded,
    other_unit,
    parts,
    reordered,
    same,
    show,
    truth,
)
from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation
from rooflab.exercises.plaindata import Plain
from rooflab.exercises.verdict import UNANSWERED, Verdict

INPUT_DIGITS = 7  # a longer input is rounded in what a learner reads; ``case`` holds all of it

NEARLY, NOT_RIGHT = "nearly right", "that is not right"
STOPPED = "Stopped"  # kind of what a function is stopped by that does not end
_SLIPS = (
    (other_unit, "another unit", "check the unit: is there a kilo, mega or giga in it, or a GiB "
     "for a GB, that nobody asked for?"),
    (only_rounded, "rounded", "return the number as it comes out; it need not be whole or short."),
    (nearly, NEARLY, "was it computed in single precision or rounded on the way, or is something "
     "small left out?"),
)  # fmt: skip
_STUMBLES = (  # what is raised, the mistake that usually raises it, and its hint
    (r"Stopped:", "no end", "does its loop end? A loop needs a step that brings its end nearer."),
    (r"RecursionError", "no end", "the function calls itself, and never stops doing so."),
    (r"TypeError: .*'(function|builtin_function_or_method|method|type)'", "a function, not called",
     "one of the operands is a function; call it: f(…) is its result, f alone is not."),
    (r"AttributeError: 'numpy.ndarray' object", "an array for a list",
     "this is a NumPy array, which has other methods than a list; list(…) makes a list of it."),
    (r"ValueError: The truth value of an array", "an array for a number",
     "an array has many truth values; compare single numbers, or use np.maximum and the like."),
    (r"TypeError: .*(operand|can't multiply sequence|concatenate).*(list|non-int)",
     "a list for a number", "a list has no arithmetic; take numbers out of it, or use np.array(…)."),
)  # fmt: skip


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
    expected = [exercise.reference(*case.values()) for case in cases]
    right = "right" if len(cases) == 1 else f"all {len(cases)} cases right"
    wrong = _wrong(exercise, cases, expected, observations)
    if not wrong:
        return passed(exercise, right)
    for remark, function in exercise.also:
        others = [function(*case.values()) for case in cases]
        if not _wrong(exercise, cases, others, observations):
            return passed(exercise, f"{right}; {remark}")
    first = wrong[0]
    mistake = (
        _exchanged(exercise, cases, expected, observations)
        or named(exercise, cases, expected, observations)
        or _stumbled(exercise, observations[first])
        or _slipped(exercise, cases, expected, observations)
    )
    return failed(
        exercise,
        complaint(exercise, cases, first, expected, observations[first], mistake),
        case=cases[first],
        yours=show(observations[first]["value"]) if "value" in observations[first] else None,
        mistake=mistake,
    )


def _in_order(exercise: Exercise, seen: object) -> Observation:
    """An observation whose values stand in the order of ``exercise.returns``."""
    if not isinstance(seen, dict):
        return {}
    if "value" not in seen or not exercise.returns:
        return seen
    return {**seen, "value": by_name(seen["value"], exercise.returns)}


def _wrong(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> list[int]:
    """Numbers of the cases in which what came out is not ``expected``."""
    return [
        number
        for number, (right, seen) in enumerate(zip(expected, observations, strict=True))
        if not ("value" in seen and same(right, seen["value"], exercise.allowed(cases[number])))
    ]


def passed(exercise: Exercise, reason: str) -> Verdict:
    """Return a verdict with full points."""
    return Verdict(
        exercise.id,
        True,
        exercise.points,
        exercise.points,
        reason,
        insight=exercise.insight or None,
    )


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


def _stumbled(exercise: Exercise, seen: Observation) -> Misconception | None:
    """The mistake that raises what was raised: one that the exercise knows, or a common one."""
    raised = str(seen.get("error", ""))
    if seen.get("entered") is False and raised.startswith("TypeError"):
        hint = f"it is called as {exercise.signature}, with the arguments in this order."
        return Misconception("other arguments", exercise.reference, hint)
    known = [(f"{kind}\\b", name, hint) for kind, name, hint in exercise.errors]
    return next(
        (Misconception(name, exercise.reference, hint) for pattern, name, hint
         in (*known, *_STUMBLES) if re.match(pattern, raised)), None,
    )  # fmt: skip


def _rows(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> list[list[tuple[Plain, Plain, float]]]:
    """For each case (right, given, tolerance) of each part; empty where the shapes differ."""
    rows = []
    for case, right, seen in zip(cases, expected, observations, strict=True):
        pairs = parts(right, seen["value"]) if "value" in seen else None
        if pairs is None:
            return []
        rows.append([(*pair, exercise.allowed(case)) for pair in pairs])
    return rows


def _wrong_parts(
    rows: Sequence[Sequence[tuple[Plain, Plain, float]]],
) -> list[tuple[tuple[Plain, Plain, float], ...]]:
    columns = zip(*rows, strict=True)
    return [column for column in columns if not all(same(*each) for each in column)]


def _exchanged(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> Misconception | None:
    """The slip of right values in another order, unless a mistake explains all of them."""
    rows = _rows(exercise, cases, expected, observations)
    if not reordered(rows):
        return None
    best = _closest(exercise, cases, expected, observations)
    if best and best[0] >= len(_wrong_parts(rows)):
        return None
    hint = f"these are the right values in another order: {', '.join(exercise.returns)}."
    return Misconception("another order", exercise.reference, hint)


def _slipped(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> Misconception | None:
    """The slip that any answer of numbers may have, where no mistake of the exercise fits."""
    rows = _rows(exercise, cases, expected, observations)
    if not rows:
        return _several(exercise, cases[0], observations[0])
    first = next(iter(_wrong_parts(rows)), None)
    return next(
        (Misconception(name, exercise.reference, hint) for shows, name, hint in _SLIPS
         if first and shows(first)), None,
    )  # fmt: skip


def _several(exercise: Exercise, case: Case, seen: Observation) -> Misconception | None:
    """The slip of an answer of several numbers where one is wanted."""
    mine = seen.get("value")
    if exercise.returns or not isinstance(mine, list) or len(mine) < 2:
        return None
    if len(mine) in [len(given) for given in case.values() if isinstance(given, list)]:
        hint = "one value is wanted: which point tells it, or which of them together?"
        return Misconception("a value for each point", exercise.reference, hint)
    hint = "one value is wanted: which of these is it?"
    return Misconception("several for one", exercise.reference, hint)


def unanswered(exercise: Exercise) -> str:
    """Return what an untouched answer cell is told."""
    lines = "1 line" if exercise.lines == 1 else f"{exercise.lines} lines"
    return f"{UNANSWERED}: {lines} to write"


def named(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> Misconception | None:
    """Return the misconception that gives the learner's values on every case.

    Only the parts of an answer that a misconception changes count, so that a second slip in
    another part does not hide it; of several that match, the one that changes most parts wins.
    """
    best = _closest(exercise, cases, expected, observations)
    return best[1] if best else None


def _closest(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> tuple[int, Misconception] | None:
    """The misconception that explains most parts of the answer, and how many."""
    best: tuple[int, Misconception] | None = None
    ways = [(m, wrong) for m in exercise.misconceptions for wrong in (m.wrong, *m.variants)]
    for mistake, wrong in ways:
        changed = _changed(exercise, wrong, cases, expected, observations)
        if changed and (best is None or changed > best[0]):
            best = (changed, mistake)
    return best


def _changed(
    exercise: Exercise,
    wrong: Callable[..., object],
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> int:
    """Number of parts that ``wrong`` changes, if the learner's agree with it there; else 0."""
    rows = []
    for case, right, seen in zip(cases, expected, observations, strict=True):
        mine = parts(right, seen.get("value"))
        theirs = parts(right, wrong(*case.values()))
        if mine is None or theirs is None or "value" not in seen:
            return 0
        rows.append([(r, w, m) for (r, w), (_, m) in zip(theirs, mine, strict=True)])
    changed = 0
    for column in zip(*rows, strict=True):
        if all(same(right, wrong, exercise.tolerance) for right, wrong, _ in column):
            continue
        if not all(same(wrong, mine, exercise.tolerance) for _, wrong, mine in column):
            return 0
        changed += 1
    return changed


def call_text(exercise: Exercise, case: Case) -> str:
    """Return the failing call as the learner would write it: ``flops(m=3, n=5, k=7)``."""
    if exercise.kind == "value":
        return "your answer"
    inputs = ", ".join(f"{name}={show(value, exact=INPUT_DIGITS)}" for name, value in case.items())
    return f"`{exercise.name}({inputs})`"


def complaint(
    exercise: Exercise,
    cases: Sequence[Case],
    number: int,
    expected: Sequence[Plain],
    seen: Observation,
    mistake: Misconception | None,
) -> str:
    """Say what is wrong with case ``number``, the first that fails, never what would be right."""
    case, right = cases[number], expected[number]
    call = call_text(exercise, case)
    if seen.get("missing"):
        return f"{call} returned None for this case"
    if "error" in seen:
        kind, _, told = str(seen["error"]).partition(": ")
        return f"{call} {told}" if kind == STOPPED else f"{call} raised {seen['error']}"
    if "unreadable" in seen or "value" not in seen:
        return f"{call}: {seen.get('unreadable', 'nothing came back')}"
    got, labels = seen["value"], exercise.returns
    verb = "is" if exercise.kind == "value" else "gave"
    pairs = parts(right, got)
    if pairs is None or (isinstance(got, list) and not isinstance(right, (list, tuple))):
        wanted = f"{len(labels)} values are wanted: {', '.join(labels)}" if labels else _kind(right)
        return f"{call} {verb} {show(got)}; {wanted}"
    wrong = [at for at, pair in enumerate(pairs) if not same(*pair, exercise.allowed(case))]
    at = wrong[0]
    subject = f"{call} {verb}"
    if labels and len(pairs) > 1:
        value = exercise.kind == "value"
        subject = f"{labels[at]}: {subject}" if value else f"the {labels[at]} of {subject}"
    problem = _problem(exercise, cases, *pairs[at])
    close = mistake is not None and mistake.name in (NEARLY, "rounded")
    return f"{subject} {show(pairs[at][1])}: {problem or (NEARLY if close else NOT_RIGHT)}"


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
    """The words that an answer may hold, right or wrong."""
    found = set()
    for case in cases:
        for function in (exercise.reference, *(m.wrong for m in exercise.misconceptions)):
            value = function(*case.values())
            several = value if isinstance(value, (list, tuple)) else [value]
            found |= {word for word in several if isinstance(word, str)}
    return sorted(found)


def _kind(expected: Plain) -> str:
    if isinstance(expected, bool):
        return "True or False is wanted"
    return "a text is wanted" if isinstance(expected, str) else "one number is wanted"
