"""From observations to a verdict: plain data in, plain data out; no learner's code runs here."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType

from rooflab.exercises.compare import by_name
from rooflab.exercises.exercise import COMPARED, Case, Exercise, Observation
from rooflab.exercises.verdict import Verdict, failed, unanswered


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
    return _kind(exercise).judge(exercise, cases, observations)


def drawn(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> object | None:
    """Return the picture of what was observed, if that kind of exercise draws one."""
    draw = getattr(_kind(exercise), "drawn", None)
    return draw(exercise, cases, observations) if draw else None


def _kind(exercise: Exercise) -> ModuleType:
    """The module that judges exercises of that kind."""
    name = "compared" if exercise.kind in COMPARED else exercise.kind
    return importlib.import_module(f"rooflab.exercises.kinds.{name}")


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
