"""All exercises by id."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from rooflab.count.validation import unknown
from rooflab.exercises.discovery import lessons, of_lesson
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.verdict import UNASKED


@cache
def exercises() -> Mapping[str, Exercise]:
    """Return every exercise of the course, id → Exercise, in the order of the lessons."""
    found = [one for number in lessons() for one in of_lesson(number, "exercises", "EXERCISES")]
    table = {one.id: one for one in found}
    if len(table) != len(found):
        raise ValueError("two exercises share an id")
    return MappingProxyType(table)


def exercise(exercise_id: object) -> Exercise:
    """Return the exercise ``exercise_id``; ValueError with suggestions when there is none."""
    if not isinstance(exercise_id, str):
        kind = type(exercise_id).__name__
        raise TypeError(f"id is of type {kind}; it must be a text such as '01-product'")
    key = exercise_id.strip().lower()
    for one in of_lesson(key[:2], "exercises", "EXERCISES"):
        if one.id == key:
            return one
    why = retired(key)
    raise ValueError(why) if why else unknown("exercise", exercise_id, exercises())


def retired(exercise_id: str) -> str:
    """Return what there is to say of an exercise that was asked once; "" for any other."""
    why = dict(of_lesson(exercise_id[:2], "exercises", "RETIRED")).get(exercise_id)
    return f"{UNASKED}: {why}" if why else ""


def lesson(number: object) -> tuple[Exercise, ...]:
    """Return the exercises of a lesson, ``"01"`` or ``1``."""
    found = tuple(of_lesson(str(number).strip().zfill(2), "exercises", "EXERCISES"))
    if not found:
        raise unknown("lesson", number, sorted({e.lesson for e in exercises().values()}))
    return found
