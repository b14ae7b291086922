"""Byte golf: run the learner's NumPy function on traced arrays, judge its result and its bytes.

A case names the hole, the size, the dtype and the seed of the arrays. An observation holds what
came out (shape, dtype, weighted sums of its blocks: every number counts, few travel) and what the
trace saw: how many bytes of the inputs, of temporaries and of the result went which way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rooflab.exercises.collect import observe
from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation
from rooflab.exercises.judge import failed, passed
from rooflab.exercises.plaindata import Plain
from rooflab.exercises.verdict import Verdict
from rooflab.labs.golf import HOLES, Limits, golf
from rooflab.labs.golf.ledger import Step
from rooflab.labs.golf.run import as_function, may_loop
from rooflab.labs.golf.trace import UNSEEN

BLOCKS = 256
AGREE = {"float32": 1e-4, "float64": 1e-9}  # relative, of the weighted sum of a block
LEAST = 1.0  # a lower score: something escaped the trace
LIMITS = Limits(steps=50_000, seconds=5.0, unseen=UNSEEN)  # of one case
_TOTALS = {"name": str, "way": str, "where": str, "width": int, "bytes": int, "moved": int,
           "times": int, "largest": int, "again": int}  # fmt: skip


def arrays(case: Case) -> tuple[Any, ...]:
    """Return the inputs of a case; the same ones on every machine."""
    return tuple(HOLES[case["hole"]].make(case["n"], case["dtype"], case["seed"]))


def run(case: Case, answer: Callable[..., object]) -> Observation:
    """Run ``answer`` on traced arrays; the observation adds "bytes", "trips" and "size".

    "calls": names of the NumPy functions that it called; "loops": whether a loop stands in it.
    """
    given = arrays(case)
    played: list[Any] = []
    seen = observe(lambda: played.append(golf(answer, *given, limits=LIMITS)) or True)
    if "value" not in seen:
        return seen
    game = played[0]
    if game.result is None or game.result is ...:
        return {"missing": True}
    came = observe(lambda: digest(game.result, case["seed"]))
    if str(came.get("error", "")).startswith("TypeError: "):  # digest's own
        came = {"unreadable": str(came["error"]).removeprefix("TypeError: ")}
    written, _ = as_function(answer)
    return {**came, "bytes": game.bytes, "trips": totals(game.steps, game.elements),
            "calls": sorted({step.call for step in game.steps}),
            "loops": written is not None and may_loop(written),
            "size": max(a.nbytes for a in given if isinstance(a, np.ndarray))}  # fmt: skip


def digest(result: object, seed: int) -> dict[str, Plain]:
    """Return shape, dtype and the weighted sums of up to 256 blocks of ``result``.

    Raises TypeError when it is no array of numbers.
    """
    kind = type(result).__name__
    try:
        found = np.asarray(result)
    except ValueError:
        raise TypeError(f"a {kind} came back whose parts differ in length; join them") from None
    if found.dtype.kind not in "fiub":
        raise TypeError(f"a {kind} came back; an array of numbers is wanted, or one number")
    weights = np.random.default_rng(seed).uniform(0.5, 1.5, found.size)
    with np.errstate(all="ignore"):  # what a wrong answer leaves unwritten may be anything
        blocks = np.array_split(weights * found.ravel(), min(BLOCKS, max(1, found.size)))
        sums = [float(block.sum()) for block in blocks]
    return {"shape": list(found.shape), "dtype": str(found.dtype), "sums": sums}


def totals(steps: Iterable[Step], elements: int) -> list[dict[str, Plain]]:
    """Sum the trips by array (all temporaries are "tmp"), way, place and width, as plain data.

    "moved": those of the "bytes" that crossed the bus; "times": how many trips; "largest": bytes
    of the largest; "width": bytes of a number; "again": trips of an array that the same call also
    read. Trips of more than half of the ``elements`` of a whole array have sums of their own.
    """
    sums: dict[tuple[str, str, str, int, bool], dict[str, Any]] = {}
    for step in steps:
        read = {trip.name for trip in step.operands if trip.way == "read"}
        for trip in step.operands:
            kind = "tmp" if trip.name.startswith("tmp") else trip.name
            width = np.dtype(trip.dtype).itemsize
            about = (kind, trip.way, trip.where, width)
            entry = sums.setdefault(
                (*about, 2 * trip.bytes >= elements * width),
                dict(zip(_TOTALS, (*about, 0, 0, 0, 0, 0), strict=True)),
            )
            entry["bytes"] += int(trip.bytes)
            entry["moved"] += int(trip.moved)
            entry["times"] += 1
            entry["largest"] = max(entry["largest"], int(trip.bytes))
            entry["again"] += trip.way == "write" and trip.name in read
    return list(sums.values())


def sound(seen: Observation) -> bool:
    """Whether the trace in an observation is one that golf may have written."""
    trips, counted = seen.get("trips"), seen.get("bytes")
    if not isinstance(trips, list) or type(counted) is not int:
        return False
    for entry in trips:
        if not isinstance(entry, dict) or set(entry) != set(_TOTALS):
            return False
        if any(type(entry[key]) is not kind for key, kind in _TOTALS.items()):
            return False
    moved = sum(entry["moved"] for entry in trips)
    size = seen.get("size")
    positive = type(size) is int and size > 0 and all(entry["width"] > 0 for entry in trips)
    return positive and moved == counted


def judge_golf(
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
