"""Predict, then compare with what was measured: the graded kind that nothing is timed live for.

``predict`` is run on operations of a recorded machine and of accelerators that others timed. The
right answer of a case is the measured time; what is allowed beside it is the spread of its own
measurement (IQR ÷ median) plus a margin for what the model leaves out. Which operations may be
asked is a rule: lesson03_timed.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.lesson03_published import timed_elsewhere
from rooflab.exercises.lesson03_timed import (
    FEWEST,
    Timed,
    model,
    parts,
    recorded,
    sum_for_max,
)

Inputs = tuple[float, ...]


@cache
def timed() -> Mapping[Inputs, Timed]:
    """Every operation that can be asked, by what tells it apart from the others."""
    return {_key(*entry.case.values()): entry for entry in (*recorded(), *timed_elsewhere())}


def _key(flops: int, bytes: int, peak: float, *_: object) -> Inputs:
    return flops, bytes, peak


def _call_inside(*case: object) -> float:
    return max(parts(*case))


def _grouped(entries: Iterable[Timed], by: Callable[[Timed], str]) -> list[list[Timed]]:
    """``entries`` in groups of the same ``by``, the groups in the order of its values."""
    groups: dict[str, list[Timed]] = {}
    for entry in entries:
        groups.setdefault(by(entry), []).append(entry)
    return [groups[value] for value in sorted(groups)]


def _cases(rng: random.Random) -> list[Case]:
    """Recorded ones of each kind and one that takes call and work one after the other; products and
    streams elsewhere, each on a machine of its own; in any order."""
    kinds = _grouped(recorded(), lambda e: e.kind)
    drawn = [entry for group in kinds for entry in rng.sample(group, FEWEST)]
    drawn.append(rng.choice([e for e in recorded() if e.beyond(_call_inside) and e not in drawn]))
    for group in _grouped(timed_elsewhere(), lambda e: e.kind):
        machines = rng.sample(_grouped(group, lambda e: e.machine), FEWEST)
        drawn += [rng.choice(entries) for entries in machines]
    rng.shuffle(drawn)
    return [entry.case for entry in drawn]


def _measured(*inputs: object) -> float:
    return timed()[_key(*inputs)].seconds


def _allowed(*inputs: object) -> float:
    return timed()[_key(*inputs)].allowed


def _at(place: int) -> Callable[..., float]:
    """The model with the bandwidth of one level for everything."""
    return lambda f, n, p, bandwidth, capacity, call: call + max(f / p, n / bandwidth[place])


PREDICT = Exercise(
    "03-predict", "Predict what was measured", 3,
    "Predict the seconds of operations that were timed, from the roofs of their machines. Right is "
    "what comes as close to the clock as its spread and a quarter allow.",
    "predict(flops, bytes, peak, bandwidth, capacity, call)", _measured, cases=_cases, lines=2,
    margin=_allowed, derives=("predict", "Roofline", "HierarchicalRoofline"),
    insight="So near come two roofs and the time of a call to what others measured. Where your "
            "own clock is farther off, something else is going on.",
    misconceptions=(
        Misconception("the roof alone", lambda f, n, p, b, *_: max(f / p, n / b[-1]),
                      "that is the bound: the roof of the memory, and nothing else. Here the call "
                      "is paid as well, and operands that fit a cache come from there."),
        Misconception("the call is free", lambda *case: max(parts(*case)[1:]),
                      "some of these operations are so small that the call is most of their time."),
        Misconception("the call overlaps", _call_inside,
                      "no number is carried or computed before the call has chosen its routine."),
        Misconception("everything comes from memory", _at(-1),
                      "operands that fit a cache were in it: these are warm."),
        Misconception("everything comes from the nearest cache", _at(0),
                      "look at the bytes: most of these operands do not fit there."),
        Misconception("sum for max", sum_for_max,
                      "carrying and computing overlap: after the call, the longer of them counts."),
        Misconception("min for max", lambda *case: parts(*case)[0] + min(parts(*case)[1:]),
                      "the shorter of the two has to wait for the longer."),
        Misconception("only computing", lambda *case: sum(parts(*case)[:2]),
                      "at a low intensity the bytes take longer than the arithmetic."),
        Misconception("only carrying", lambda *case: parts(*case)[0] + parts(*case)[2],
                      "at a high intensity the arithmetic takes longer than the bytes."),
        Misconception("multiply-adds", lambda f, *rest: model(2 * f, *rest),
                      "`flops` counts 2 for each multiply-add already."),
    ),
)  # fmt: skip

EXERCISES = (PREDICT,)
