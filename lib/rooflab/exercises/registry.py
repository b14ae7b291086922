"""All exercises by id."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from rooflab.count.validation import unknown
from rooflab.exercises.exercise import Exercise

# As the lessons ask them; one that is not here stands at the end of its lesson.
_ORDER = """
    00-bandwidth 00-peak 00-time 00-lunch
    01-product 01-three-intensities 01-speed-limit 01-claim-1365 01-witnesses 01-name
    01-claims 01-cuda-axpy 01-cuda-gemv 01-cuda-gemm
    02-numpy-bytes 02-claim-warm 02-golf-axpy 02-golf-squares 02-golf-row-norm 02-claim-bias
    02-golf-bias-relu 02-golf-scale-add-scale 02-lines 02-pooling 02-balance
    03-time 03-thumb-rules 03-counterexample 03-log 03-ridge-grew 03-number-type
    03-worth-the-call 03-predict 03-catalogue 03-sparse-peak
    04-shapes 04-intensities 04-layer 04-predict 04-knee 04-last 04-convicts 04-swapped
    04-ceiling 04-gradients
    05-switch 05-decode 05-claim-batch 05-fill 05-gauges 05-claim-always 05-attention
    05-fewer-bits 05-experts 05-claim-flash
"""


@cache
def exercises() -> Mapping[str, Exercise]:
    """Return every exercise of the course, id → Exercise, in the order of the lessons."""
    from rooflab.exercises import (
        lesson00,
        lesson01,
        lesson01_claims,
        lesson01_cuda,
        lesson02,
        lesson02_claims,
        lesson02_deep,
        lesson02_golf,
        lesson03,
        lesson03_catalogue,
        lesson03_changes,
        lesson03_claims,
        lesson03_recorded,
        lesson04,
        lesson04_claims,
        lesson04_deep,
        lesson04_recorded,
        lesson05,
        lesson05_batch,
        lesson05_claims,
    )

    rooms = (
        lesson00,
        *(lesson01, lesson01_claims, lesson01_cuda),
        *(lesson02, lesson02_golf, lesson02_claims, lesson02_deep),
        *(lesson03, lesson03_changes, lesson03_claims, lesson03_catalogue, lesson03_recorded),
        *(lesson04, lesson04_claims, lesson04_deep, lesson04_recorded),
        *(lesson05, lesson05_batch, lesson05_claims),
    )
    place = {id: number for number, id in enumerate(_ORDER.split())}
    found = [exercise for room in rooms for exercise in room.EXERCISES]
    found.sort(key=lambda e: (e.lesson, place.get(e.id, len(place))))
    table = {exercise.id: exercise for exercise in found}
    if len(table) != len(found):
        raise ValueError("two exercises share an id")
    return MappingProxyType(table)


def exercise(exercise_id: object) -> Exercise:
    """Return the exercise ``exercise_id``; ValueError with suggestions when there is none."""
    if not isinstance(exercise_id, str):
        kind = type(exercise_id).__name__
        raise TypeError(f"id is of type {kind}; it must be a text such as '01-product'")
    key = exercise_id.strip().lower()
    if key not in exercises():
        raise unknown("exercise", exercise_id, exercises())
    return exercises()[key]


def lesson(number: object) -> tuple[Exercise, ...]:
    """Return the exercises of a lesson, ``"01"`` or ``1``."""
    key = str(number).strip().zfill(2)
    found = tuple(e for e in exercises().values() if e.lesson == key)
    if not found:
        raise unknown("lesson", number, sorted({e.lesson for e in exercises().values()}))
    return found
