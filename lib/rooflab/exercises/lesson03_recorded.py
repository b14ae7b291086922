"""Predict, then compare with what was measured: the graded kind that nothing is timed live for.

``predict`` is run on operations of a recorded machine. The right answer of a case is the recorded
median; what is allowed beside it is the recording's own spread (IQR ÷ median) plus a margin for
what the model leaves out. Fairness is a rule, not a choice by hand: an operation is asked only
where the model of the lesson (call + the longer of computing and carrying, from the level that
holds the operands) comes well within that margin, and, with computing and carrying about equally
long, where the clock can tell the longer of them from their sum. Lesson 03 says so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.measure.measurement import Measurement
from rooflab.measure.recording import recording
from rooflab.predict.estimate import mix_of
from rooflab.predict.machine import Machine
from rooflab.predict.routines import overhead

RECORDED = ("epyc-2core-vm",)
MARGIN = 0.25  # of the model: routines reach 75 to 100 % of a roof, and caches are not alone
WITHIN = 0.9  # an operation is asked where the model needs no more of the allowance than this
ROOM = 0.5  # of a cache: operands that fill more than half of it are partly elsewhere
BEYOND = 4  # times the last cache: from there on the operands really come from memory

Inputs = tuple[float, ...]


@dataclass(frozen=True)
class Timed:
    """A recorded operation: what the learner's function gets, and what the clock said."""

    case: Case
    kind: str
    seconds: float
    spread: float

    @property
    def allowed(self) -> float:
        """Relative distance from ``seconds`` that still counts as right."""
        return self.spread + MARGIN


def model(
    flops: int, bytes: int, peak: float, bandwidth: list[float], capacity: list[float], call: float
) -> float:
    """The lesson's model: the call, then the longer of computing and carrying, in seconds."""
    return call + max(flops / peak, bytes / bandwidth[_level(bytes, capacity)])


def _level(nbytes: int, capacity: list[float]) -> int:
    return next(place for place, room in enumerate(capacity) if nbytes <= room)


def _parts(
    flops: int, bytes: int, peak: float, bandwidth: list[float], capacity: list[float], call: float
) -> tuple[float, float, float]:
    """Seconds of the call, of computing and of carrying."""
    return call, flops / peak, bytes / bandwidth[_level(bytes, capacity)]


def _sum_for_max(*case: object) -> float:
    return sum(_parts(*case))


def _call_inside(*case: object) -> float:
    return max(_parts(*case))


@cache
def timed() -> Mapping[Inputs, Timed]:
    """Every recorded operation that can be asked, by what tells it apart from the others."""
    found = {}
    for name in RECORDED:
        kept = recording(name)
        for measured in kept.select(cache="warm"):
            entry = _entry(measured, kept.at(measured.threads))
            if entry is not None:
                found[_key(*entry.case.values())] = entry
    return found


def _key(flops: int, bytes: int, peak: float, *_: object) -> Inputs:
    return flops, bytes, peak


def _entry(measured: Measurement, m: Machine) -> Timed | None:
    """The measurement as a case, or None where the model would be unfair."""
    op = measured.op
    case = {
        "flops": op.flops, "bytes": op.bytes, "peak": float(m.peak(op.compute_dtype)),
        "bandwidth": [float(m.bandwidth(level, mix_of(op, m, level))) for level in m.levels],
        "capacity": [m.capacities[level] for level in m.levels], "call": overhead(op, m),
    }  # fmt: skip
    place = _level(op.bytes, case["capacity"])
    in_memory = place == len(m.levels) - 1
    if in_memory and op.bytes < BEYOND * case["capacity"][place - 1]:
        return None
    if not in_memory and op.bytes > ROOM * case["capacity"][place]:
        return None
    kind = _kind(place, in_memory, case)
    entry = Timed(case, kind, measured.median_s, measured.iqr_s / measured.median_s)
    fair = _off(model, entry) <= WITHIN * entry.allowed
    tells = kind != "both" or _off(_sum_for_max, entry) > entry.allowed / WITHIN
    return entry if fair and tells else None


def _off(formula: Callable[..., float], entry: Timed) -> float:
    """How far ``formula`` is from the measured time, as a share of it."""
    return abs(formula(*entry.case.values()) / entry.seconds - 1)


def _kind(place: int, in_memory: bool, case: Case) -> str:
    """Which side of the model an operation tries: call, compute, both, cache or memory."""
    carrying = case["bytes"] / case["bandwidth"][place]
    computing = case["flops"] / case["peak"]
    if case["call"] > 2 * max(carrying, computing):
        return "call"
    if min(carrying, computing) > 0.4 * max(carrying, computing):
        return "both"
    if computing > carrying:
        return "compute"
    return "memory" if in_memory else "cache"


def _cases(rng: random.Random) -> list[Case]:
    """Two of each kind, and one that takes call and work one after the other, in any order."""
    groups: dict[str, list[Timed]] = {}
    for entry in timed().values():
        groups.setdefault(entry.kind, []).append(entry)
    drawn = [entry.case for kind in sorted(groups) for entry in rng.sample(groups[kind], 2)]
    telling = [
        entry.case for entry in timed().values()
        if _off(_call_inside, entry) > entry.allowed / WITHIN and entry.case not in drawn
    ]  # fmt: skip
    drawn.append(rng.choice(telling))
    rng.shuffle(drawn)
    return drawn


def _measured(*inputs: object) -> float:
    return timed()[_key(*inputs)].seconds


def _allowed(*inputs: object) -> float:
    return timed()[_key(*inputs)].allowed


def _at(place: int) -> Callable[..., float]:
    """The model with the bandwidth of one level for everything."""
    return lambda f, n, p, bandwidth, capacity, call: call + max(f / p, n / bandwidth[place])


PREDICT = Exercise(
    "03-predict", "Predict what was measured", 3,
    "Predict the seconds of recorded operations from the measured roofs of their machine. Right is "
    "what comes as close to the clock as its spread and a quarter allow.",
    "predict(flops, bytes, peak, bandwidth, capacity, call)", _measured, cases=_cases, lines=2,
    margin=_allowed, derives=("predict", "Roofline", "HierarchicalRoofline"),
    misconceptions=(
        Misconception("the call is free", lambda *case: max(_parts(*case)[1:]),
                      "some of these operations are so small that the call is most of their time."),
        Misconception("the call overlaps", _call_inside,
                      "no number is carried or computed before the call has chosen its routine."),
        Misconception("everything comes from memory", _at(-1),
                      "operands that fit a cache were in it: these are warm."),
        Misconception("everything comes from the nearest cache", _at(0),
                      "look at the bytes: most of these operands do not fit there."),
        Misconception("sum for max", _sum_for_max,
                      "carrying and computing overlap: after the call, the longer of them counts."),
        Misconception("min for max", lambda *case: _parts(*case)[0] + min(_parts(*case)[1:]),
                      "the shorter of the two has to wait for the longer."),
        Misconception("only computing", lambda *case: sum(_parts(*case)[:2]),
                      "at a low intensity the bytes take longer than the arithmetic."),
        Misconception("only carrying", lambda *case: _parts(*case)[0] + _parts(*case)[2],
                      "at a high intensity the arithmetic takes longer than the bytes."),
        Misconception("multiply-adds", lambda f, *rest: model(2 * f, *rest),
                      "`flops` counts 2 for each multiply-add already."),
    ),
)  # fmt: skip

EXERCISES = (PREDICT,)
