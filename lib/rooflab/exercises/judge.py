"""From observations to a verdict: plain data in, plain data out; no learner's code runs here."""

from __future__ import annotations

from collections.abc import Sequence

from rooflab.exercises.compare import flaw, only_rounded, other_unit, parts, same, show, truth
from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation
from rooflab.exercises.plaindata import Plain
from rooflab.exercises.verdict import UNANSWERED, Verdict

INPUT_DIGITS = 7  # a longer input is rounded in what a learner reads; ``case`` holds all of it

_SLIPS = (
    (other_unit, "another unit", "check the unit: is there a kilo, mega or giga in it, or a GiB "
     "for a GB, that nobody asked for?"),
    (only_rounded, "rounded", "return the number as it comes out; it need not be whole."),
)  # fmt: skip


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """Return the verdict on ``observations``, one a case (from :func:`collect`).

    They may come from a process that is not trusted: anything malformed fails its case.
    """
    observations = [seen if isinstance(seen, dict) else {} for seen in observations]
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
    mistake = named(exercise, cases, expected, observations)
    first = wrong[0]
    return failed(
        exercise,
        complaint(exercise, cases[first], expected[first], observations[first]),
        case=cases[first],
        yours=show(observations[first]["value"]) if "value" in observations[first] else None,
        mistake=mistake
        or _stumbled(exercise, observations[first])
        or _slipped(exercise, cases, expected, observations),
    )


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
    return Verdict(exercise.id, True, exercise.points, exercise.points, reason)


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
    """The mistake that raises what was raised, if the exercise knows one."""
    raised = str(seen.get("error", "")).partition(":")[0]
    return next(
        (Misconception(name, exercise.reference, hint) for kind, name, hint in exercise.errors
         if kind == raised), None,
    )  # fmt: skip


def _slipped(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> Misconception | None:
    """The slip that any numeric answer may have, where no mistake of the exercise fits."""
    rows = []
    for case, right, seen in zip(cases, expected, observations, strict=True):
        pairs = parts(right, seen["value"]) if "value" in seen else None
        if pairs is None:
            return None
        rows.append([(*pair, exercise.allowed(case)) for pair in pairs])
    for column in zip(*rows, strict=True):
        if all(same(*each) for each in column):
            continue
        for shows, name, hint in _SLIPS:
            if shows(column):
                return Misconception(name, exercise.reference, hint)
    return None


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
    best: tuple[int, Misconception] | None = None
    for mistake in exercise.misconceptions:
        changed = _changed(exercise, mistake, cases, expected, observations)
        if changed and (best is None or changed > best[0]):
            best = (changed, mistake)
    return best[1] if best else None


def _changed(
    exercise: Exercise,
    mistake: Misconception,
    cases: Sequence[Case],
    expected: Sequence[Plain],
    observations: Sequence[Observation],
) -> int:
    """Number of parts that ``mistake`` changes, if the learner's agree with it there; else 0."""
    rows = []
    for case, right, seen in zip(cases, expected, observations, strict=True):
        mine = parts(right, seen.get("value"))
        theirs = parts(right, mistake.wrong(*case.values()))
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
    return f"{exercise.name}({inputs})"


def complaint(exercise: Exercise, case: Case, expected: Plain, seen: Observation) -> str:
    """Say what is wrong with the first failing case, never what would be right."""
    call = call_text(exercise, case)
    if seen.get("missing"):
        return f"{call} returned None for this case"
    if "error" in seen:
        return f"{call} raised {seen['error']}"
    if "unreadable" in seen or "value" not in seen:
        return f"{call}: {seen.get('unreadable', 'nothing came back')}"
    got = seen["value"]
    pairs = parts(expected, got)
    labels = exercise.returns
    if pairs is None:
        wanted = (
            f"{len(labels)} values are wanted: {', '.join(labels)}" if labels else _kind(expected)
        )
        return f"{call} gave {show(got)}; {wanted}"
    verb = "is" if exercise.kind == "value" else "gave"
    for number, (right, mine) in enumerate(pairs):
        if same(right, mine, exercise.allowed(case)):
            continue
        subject = f"{call} {verb}"
        if labels and len(pairs) > 1:
            what = labels[number]
            subject = (
                f"{what}: {subject}" if exercise.kind == "value" else f"the {what} of {subject}"
            )
        problem = None
        if isinstance(right, bool):
            problem = None if truth(mine) is not None else _kind(right)
        elif isinstance(right, (int, float)):
            problem = flaw(mine)
        if problem is None and isinstance(mine, str) != isinstance(right, str):
            problem = _kind(right)
        return f"{subject} {show(mine)}: {problem or 'that is not right'}"
    return f"{call} {verb} {show(got)}: that is not right"


def _kind(expected: Plain) -> str:
    if isinstance(expected, bool):
        return "True or False is wanted"
    return "a text is wanted" if isinstance(expected, str) else "one number is wanted"
