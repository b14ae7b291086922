"""Run an answer that predicts: once for each row of a case."""

from __future__ import annotations

from collections.abc import Callable

from rooflab.exercises.observe.observation import Case, Observation, observe


def run(case: Case, answer: Callable[..., object]) -> Observation:
    """Return what ``answer`` gives for each of the "rows" of ``case``, all in one value."""

    def every() -> list[object] | None:
        values = [answer(*row) for row in case["rows"]]
        return None if all(value is None for value in values) else values

    return observe(every)
