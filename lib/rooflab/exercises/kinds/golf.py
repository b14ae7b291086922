"""Judge byte golf: the result must be right on every case, then the score at par.

What golf counted beside the learner's code proves nothing. The judge takes the NumPy calls that
came with it, runs them on arrays of its own, and believes only the result and the bytes of that.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation, call_of
from rooflab.exercises.observe.golf import LIMITS, TOTALS, arrays, digest, played, unpacked
from rooflab.exercises.observe.observation import describe, stopped
from rooflab.exercises.verdict import Verdict, failed, passed
from rooflab.labs.golf import HOLES
from rooflab.labs.golf.replay import function_of

AGREE = {"float32": 1e-4, "float64": 1e-9}  # relative, of the weighted sum of a block
ELSEWHERE = (
    "right on these arrays, but golf ran its NumPy calls once more on other arrays, and there they "
    "give something else. A number left NumPy on the way{}. Compute with numbers as NumPy gives "
    "them, or with float(…) and math; where one of them is to be chosen, write max(…) or "
    "np.maximum in place of an if"
)
LATE = "right, but its NumPy calls took too long when golf ran them once more; do fewer of them"
UNREAD = "right, but what came back of its NumPy calls cannot be read"
AGAIN = replace(LIMITS, seconds=2 * LIMITS.seconds)  # it was done in less once
SEED_BITS = 32  # of the judge's own arrays
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
    moved, size = sum(entry["moved"] for entry in trips), seen.get("size")
    positive = type(size) is int and size > 0 and all(entry["width"] > 0 for entry in trips)
    return positive and moved == counted


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """Return the verdict: the result must be right on every case, then the score at par."""
    replayed = []
    for case, seen in zip(cases, observations, strict=True):
        problem = _unfit(seen)
        if problem is None:
            other, given, again = once_more(case, seen)
            if _unfit(again) or _wrong(exercise, other, again, given):
                problem = _wrong(exercise, case, seen, arrays(case)) or _elsewhere(again)
            else:
                may = HOLES[case["hole"]].text.partition("write over ")[2].strip(".")
                problem = _dear(exercise, other, again) or _spoilt(exercise, seen, again, may)
            replayed.append((other, again))
        if problem:
            shown = (m for m in exercise.misconceptions if sound(seen) and m.shows(case, seen))
            mistake = next(shown, None) or _stumble(exercise, seen)
            where = f"{exercise.name} on {case['n']} numbers ({case['dtype']})"
            return failed(exercise, f"{where}: {problem}", case=dict(case), mistake=mistake)
    worst = max(replayed, key=lambda pair: score(*pair))
    said = f"{_bytes_said(*worst)}: score {score(*worst):.2f} (par {exercise.par})"
    return passed(exercise, f"right; {said}")


def _dear(exercise: Exercise, case: Case, seen: Observation) -> str | None:
    """Say what a right result cost, if that is not what it may cost."""
    mine = score(case, seen)
    if mine < LEAST:
        return "it moved fewer bytes than the result needs; golf cannot have seen everything"
    if mine > exercise.par:
        return f"right, but {_bytes_said(case, seen)}: score {mine:.2f}, par {exercise.par}"
    return None


def _spoilt(exercise: Exercise, seen: Observation, again: Observation, may: str) -> str | None:
    """Say which input a right result was written over, if it is none that ``may`` be."""
    written = {trip["name"] for trip in again["trips"] if trip["way"] == "write"}
    asked, inputs = [*call_of(exercise.signature).parameters], unpacked(seen["program"])["inputs"]
    places = [at for name, at, _ in inputs if type(at) is int and name in written]
    spoilt = next((asked[at] for at in places if asked[at] != may), None)
    return f"right, but {spoilt} is written over, and only {may} may be" if spoilt else None


def once_more(case: Case, seen: Observation) -> tuple[Case, tuple[Any, ...], Observation]:
    """Return a case with other arrays, these, and what golf sees of the program of ``seen``."""
    other = {**case, "seed": secrets.randbits(SEED_BITS)}
    given = arrays(other)
    try:
        program = unpacked(seen.get("program"))
        function, outside = function_of(program, len(given))
        left = [str(door) for door in program["left"]]
    except (ValueError, KeyError, TypeError, MemoryError, RecursionError) as error:
        return other, given, {"unreadable": f"{UNREAD}: {describe(error)}"}
    again, _ = played(other, function, (*given, *outside), AGAIN)
    return other, given, {**again, "left": left}


def _elsewhere(again: Observation) -> str:
    """Say why a right result cannot be had from its NumPy calls alone."""
    if "unreadable" in again:
        return str(again["unreadable"])
    if stopped(str(again.get("error", ""))):
        return LATE
    doors = again.get("left")
    return ELSEWHERE.format(f" ({doors[0]})" if isinstance(doors, list) and doors else "")


def _stumble(exercise: Exercise, seen: Observation) -> Misconception | None:
    """The usual mistake that raises what was raised."""
    told = str(seen.get("error", ""))
    found = ((name, hint) for raised, name, hint in exercise.errors if f" raised {raised}" in told)
    return next((Misconception(name, exercise.reference, hint) for name, hint in found), None)


def score(case: Case, seen: Observation) -> float:
    """Bytes that crossed the memory bus ÷ the least that any program must move."""
    return seen["bytes"] / (HOLES[case["hole"]].trips * seen["size"])


def _bytes_said(case: Case, seen: Observation) -> str:
    width = np.dtype(case["dtype"]).itemsize
    return f"{seen['bytes'] * width / seen['size']:.4g} bytes for every {case['dtype']} number"


def _unfit(seen: Observation) -> str | None:
    """Say why an observation holds no result."""
    if seen.get("missing"):
        return "it returned None; does it reach a return?"
    if "error" in seen:
        kind, _, told = str(seen["error"]).partition(": ")
        of_golf = kind in ("GolfError", "Untraceable", "Stopped")
        return told if of_golf else f"it raised {seen['error']}"
    if "unreadable" in seen:
        return str(seen["unreadable"])
    if not sound(seen) or not isinstance(seen.get("value"), dict):
        return "the trace that came back cannot be read"
    return None


def _wrong(exercise: Exercise, case: Case, seen: Observation, given: tuple[Any, ...]) -> str | None:
    """Say what is wrong with a result, never what would be right.

    ``given``: the arrays of the case, which may be written over.
    """
    right, mine = digest(exercise.reference(*given), case["seed"]), seen["value"]
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
