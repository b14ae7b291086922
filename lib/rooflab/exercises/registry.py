"""All exercises by id."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from rooflab.count.validation import unknown
from rooflab.exercises import lessons
from rooflab.exercises.exercise import Exercise


@cache
def exercises() -> Mapping[str, Exercise]:
    """Return every exercise of the course, id → Exercise, in the order of the lessons."""
    names = sorted(m.name for m in iter_modules(lessons.__path__) if m.name.startswith("lesson"))
    modules = [import_module(f"{lessons.__name__}.{name}") for name in names]
    found = [exercise for module in modules for exercise in module.EXERCISES]
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
