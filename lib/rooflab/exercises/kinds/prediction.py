"""Judge predictions of what others measured: how far they are off, over all rows of a table.

A prediction is off by a factor, p ÷ t or t ÷ p, whichever is above 1. Half of the rows must be
within ``exercise.par``, and nine of ten within ``FAR``. ``exercise.reference`` is the clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rooflab.count.si import times
from rooflab.exercises.compare import show
from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation, call_of
from rooflab.exercises.verdict import Verdict, failed, passed

FAR = 1.5  # times: within which nine of ten rows must be
LEAST = 1e-12  # of what can be a time, in any unit; 1 over it is the most
ALIKE = 1.1  # times: so close to a mistake in nine of ten rows, an answer is that mistake


def quantiles(factors: Sequence[float]) -> tuple[float, float]:
    """Return the factor within which half of the rows are, and that of nine of ten."""
    ranked = sorted(factors)
    return ranked[math.ceil(0.5 * len(ranked)) - 1], ranked[math.ceil(0.9 * len(ranked)) - 1]


def off(one: float, other: float) -> float:
    """Return the factor between two numbers above 0, at least 1."""
    return max(one / other, other / one)


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """Return the verdict on the only case: a table of rows, and a prediction for each."""
    (case,), (seen,) = cases, observations
    rows, values = case["rows"], seen.get("value")
    if "error" in seen or "unreadable" in seen:
        why = f" raised {seen['error']}" if "error" in seen else f": {seen['unreadable']}"
        return failed(exercise, f"`{exercise.name}`{why}")
    if not isinstance(values, list) or len(values) != len(rows):
        return failed(exercise, f"one number is wanted for each of {len(rows)} calls")
    for row, value in zip(rows, values):
        if not _above_zero(value):
            return _failed_at(exercise, row, value, "one number above 0 is wanted")
    factors = [off(value, exercise.reference(*row)) for row, value in zip(rows, values)]
    half, most = quantiles(factors)
    said = f"of {len(rows)} products, half are within {times(half)} of the clock and nine of ten "
    said += f"within {times(most)}"
    if half <= exercise.par and most <= FAR:
        return passed(exercise, said)
    at = factors.index(max(factors))
    side = "short" if values[at] < exercise.reference(*rows[at]) else "long"
    wanted = f"; {times(exercise.par)} and {times(FAR)} are wanted. Furthest off, far too {side}"
    mistake = mistake_of(exercise, rows, values)
    return _failed_at(exercise, rows[at], values[at], said + wanted, mistake)


def _above_zero(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and LEAST < value < 1 / LEAST


def _failed_at(
    exercise: Exercise, row: Sequence[int], value: object, reason: str,
    mistake: Misconception | None = None,
) -> Verdict:  # fmt: skip
    text = f"{reason}: `{exercise.name}({', '.join(map(str, row))})` gave {show(value)}"
    case = dict(zip(call_of(exercise.signature).parameters, row))
    return failed(exercise, text, case=case, yours=show(value), mistake=mistake)


def mistake_of(
    exercise: Exercise, rows: Sequence[Sequence[int]], values: Sequence[float]
) -> Misconception | None:
    """Return the misconception that predicts these values, give or take a tenth, or None."""
    best: tuple[float, Misconception | None] = (ALIKE, None)
    for one in exercise.misconceptions:
        for way in (one.wrong, *one.variants):
            apart = quantiles([off(value, way(*row)) for row, value in zip(rows, values)])[1]
            best = (apart, one) if apart < best[0] else best
    return best[1]
