"""Judge byte golf: the result must be right on every case, then the score at par."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation
from rooflab.exercises.observe.golf import TOTALS, arrays, digest
from rooflab.exercises.verdict import Verdict, failed, passed
from rooflab.labs.golf import HOLES

AGREE = {"float32": 1e-4, "float64": 1e-9}  # relative, of the weighted sum of a block
LEAST = 1.0  # a lower score: something escaped the trace


def sound(seen: Observation) -> bool:
    """Whether the trace in an observation is one that golf may have written."""
    trips, counted = seen.get("trips"), seen.get("bytes")
    if not isinstance(trips, list) or type(counted) is not int:
        return False
    for entry in trips:
        if not isinstance(entry, dict) or set(entry) != set(TOTALS):
            return False
        if any(type(entry[key]) is not kind for key, kind in TOTALS.items()):
            return False
    moved = sum(entry["moved"] for entry in trips)
    size = seen.get("size")
    positive = type(size) is int and size > 0 and all(entry["width"] > 0 for entry in trips)
    return positive and moved == counted


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """Return the verdict: the result must be right on every case, then the score at par."""
    problems = [_flaw(exercise, case, seen) for case, seen in zip(cases, observations, strict=True)]
    scores = [
        None if problem else score(case, seen)
        for problem, case, seen in zip(problems, cases, observations, strict=True)
    ]
    for case, seen, problem, mine in zip(cases, observations, problems, scores, strict=True):
        if problem is None and mine is not None and mine > exercise.par:
            problem = f"right, but {_bytes_said(case, seen)}: score {mine:.2f}, par {exercise.par}"
        if problem is None and mine is not None and mine < LEAST:
            problem = "it moved fewer bytes than the result needs; golf cannot have seen everything"
        if problem:
            shown = (m for m in exercise.misconceptions if sound(seen) and m.shows(case, seen))
            mistake = next(shown, None) or _stumble(exercise, seen)
            where = f"{exercise.name} on {case['n']} numbers ({case['dtype']})"
            return failed(exercise, f"{where}: {problem}", case=dict(case), mistake=mistake)
    worst = max(zip(scores, range(len(cases)), strict=True))
    said = _bytes_said(cases[worst[1]], observations[worst[1]])
    return passed(exercise, f"right; {said}: score {worst[0]:.2f} (par {exercise.par})")


def _stumble(exercise: Exercise, seen: Observation) -> Misconception | None:
    """The usual mistake that raises what was raised."""
    told = str(seen.get("error", ""))
    found = ((name, hint) for raised, name, hint in exercise.errors if f" raised {raised}" in told)
    return next((Misconception(name, exercise.reference, hint) for name, hint in found), None)


def score(case: Case, seen: Observation) -> float:
    """Bytes that crossed the memory bus ÷ the least that any program must move."""
    return seen["bytes"] / HOLES[case["hole"]].minimum(*arrays(case))


def _bytes_said(case: Case, seen: Observation) -> str:
    width = np.dtype(case["dtype"]).itemsize
    return f"{seen['bytes'] * width / seen['size']:.4g} bytes for every {case['dtype']} number"


def _flaw(exercise: Exercise, case: Case, seen: Observation) -> str | None:
    """Say what is wrong with the result itself, never what would be right."""
    if seen.get("missing"):
        return "it returned None; does it reach a return?"
    if "error" in seen:
        kind, _, told = str(seen["error"]).partition(": ")
        return (
            told
            if kind in ("GolfError", "Untraceable", "Stopped")
            else f"it raised {seen['error']}"
        )
    if "unreadable" in seen:
        return str(seen["unreadable"])
    if not sound(seen) or not isinstance(seen.get("value"), dict):
        return "the trace that came back cannot be read"
    right = digest(exercise.reference(*arrays(case)), case["seed"])
    mine = seen["value"]
    one = right["shape"] == [] and one_number(mine.get("shape"))
    if mine.get("shape") != right["shape"] and not one:
        return f"the result has the shape {_shape(mine.get('shape'))}, not {_shape(right['shape'])}"
    if right["shape"] and mine.get("dtype") != right["dtype"]:
        return f"the result is {mine.get('dtype')}; the inputs are {case['dtype']}"
    return None if agree(right["sums"], mine.get("sums"), case) else "the numbers are not right"


def one_number(shape: object) -> bool:
    """Whether an array of ``shape`` holds one number: an array of one element does too."""
    return isinstance(shape, list) and all(length == 1 for length in shape)


def agree(right: Sequence[float], mine: object, case: Case) -> bool:
    """Whether every block's weighted sum agrees; a NaN agrees with nothing."""
    if not isinstance(mine, list) or len(mine) != len(right):
        return False
    if not all(type(number) is float for number in mine):
        return False
    room = AGREE[case["dtype"]] * np.maximum(np.abs(right), np.mean(np.abs(right)))
    return bool(np.all(np.abs(np.subtract(mine, right)) <= room))


def _shape(shape: object) -> str:
    return " × ".join(map(str, shape)) if isinstance(shape, list) and shape else "of one number"
