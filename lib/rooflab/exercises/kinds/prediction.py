"""Judge predictions of what others measured: how far they are off, over all rows of a table.

A prediction is off by a factor, p ÷ t or t ÷ p, whichever is above 1. Half of the rows must be
within ``exercise.par``, and nine of ten within ``FAR``. ``exercise.reference`` is the clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rooflab.count.si import times
from rooflab.exercises.compare import show
from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation
from rooflab.exercises.verdict import Verdict, failed, passed

FAR = 1.5  # times: within which nine of ten rows must be
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
        raised = f"raised {seen['error']}" if "error" in seen else f": {seen['unreadable']}"
        return failed(exercise, f"`{exercise.name}` {raised}".replace("` :", "`:"))
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
    return _failed_at(
        exercise, rows[at], values[at], said + wanted, mistake(exercise, rows, values)
    )


def _above_zero(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and value > 0


def _failed_at(
    exercise: Exercise, row: Sequence[float], value: object, reason: str,
    named: Misconception | None = None,
) -> Verdict:  # fmt: skip
    call = f"{exercise.name}({', '.join(map(str, row))})"
    case = dict(zip(("m", "n", "k"), row))
    text = f"{reason}: `{call}` gave {show(value)}"
    return failed(exercise, text, case=case, yours=show(value), mistake=named)


def mistake(
    exercise: Exercise, rows: Sequence[Sequence[float]], values: Sequence[float]
) -> Misconception | None:
    """Return the misconception whose predictions these are, give or take a tenth, or None."""

    def apart(wrong: Callable[..., float]) -> float:
        return quantiles([off(value, wrong(*row)) for row, value in zip(rows, values)])[1]

    ways = (
        (apart(way), one) for one in exercise.misconceptions for way in (one.wrong, *one.variants)
    )
    nearest, named = min(ways, key=lambda pair: pair[0])
    return named if nearest <= ALIKE else None
