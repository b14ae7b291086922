"""A course that a teacher made of the lessons: what an exercise is worth there, and when it is due.

``rooflab release`` writes it as ``course.json``, with the notebooks in a folder below;
``rl.check``, ``rl.progress`` and ``rooflab check`` read it from there, ``rooflab grade`` where
``--points`` says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from rooflab.count.validation import unknown
from rooflab.exercises import registry
from rooflab.exercises.verdict import Verdict

NAME = "course.json"
SCHEMA = 1
MOST_POINTS = 1000
MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Course:
    """``points``: exercise id → points, where they are not the lesson's own, 0 for a voluntary one;
    ``lessons``: their numbers; ``due``: lesson → date."""

    title: str = "rooflab"
    lessons: tuple[str, ...] = ()
    points: Mapping[str, int] = field(default_factory=dict)
    due: Mapping[str, date] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for id, points in self.points.items():
            if id not in registry.exercises() and not registry.retired(id):
                raise unknown("exercise", id, registry.exercises())
            if type(points) is not int or not 0 <= points <= MOST_POINTS:
                raise ValueError(
                    f"points of {id}: {points!r} must be a whole number from 0 to {MOST_POINTS}"
                )
        for number in {id[:2] for id in self.points}:
            if not any(self.points.get(e.id, e.points) for e in registry.lesson(number)):
                raise ValueError(f"points: nothing in lesson {number} would be worth a point")

    def to_dict(self) -> dict[str, Any]:
        """Return the course as plain JSON data."""
        due = {number: day.isoformat() for number, day in sorted(self.due.items())}
        return {"schema": SCHEMA, **asdict(self), "lessons": list(self.lessons), "due": due}

    @classmethod
    def from_dict(cls, data: object) -> Course:
        """Return the course that :meth:`to_dict` wrote; ValueError says what is wrong with it."""
        if not isinstance(data, dict) or "points" not in data:
            raise ValueError('a table with "points" is wanted: {"points": {"01-product": 2}}')
        if data.get("schema", SCHEMA) != SCHEMA:
            raise ValueError(f"schema {data['schema']!r} is not known here; {SCHEMA} is")
        points, lessons, due = data["points"], data.get("lessons", []), data.get("due", {})
        if not isinstance(points, dict):
            raise ValueError('"points" must be a table, exercise id → points')
        if not isinstance(lessons, list):
            raise ValueError('"lessons" must be a list of their numbers: ["00", "01"]')
        if not isinstance(due, dict):
            raise ValueError('"due" must be a table, lesson → date')
        days = {number: _day(number, told) for number, told in due.items()}
        return cls(str(data.get("title", cls.title)), tuple(map(str, lessons)), points, days)


def _day(number: str, told: object) -> date:
    try:
        return date.fromisoformat(told)
    except (TypeError, ValueError):
        raise ValueError(f'"due" of {number}: {told!r} must be a date, "2026-12-01"') from None


def read(path: Path) -> Course:
    """Return the course in the file ``path``; ValueError that names the file and what is wrong."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("too large for a course")
        return Course.from_dict(json.loads(path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise ValueError(f"{str(path)!r} cannot be read ({error.strerror or error})") from None
    except (ValueError, TypeError, RecursionError) as error:
        told = "the text is not JSON" if isinstance(error, json.JSONDecodeError) else error
        raise ValueError(f"{str(path)!r} is no {NAME}: {told}") from None


def beside(folder: Path) -> Course:
    """Return the course whose notebooks lie in ``folder``: course.json there or one folder up.

    Without one, or with one that cannot be read, the lessons' own points count.
    """
    for place in (folder, folder.parent):
        if os.path.isfile(place / NAME):
            try:
                return read(place / NAME)
            except ValueError:
                return Course()
    return Course()


def here() -> Course:
    """Return the course of the working directory, which for a kernel is the notebook's folder."""
    try:
        return beside(Path.cwd())
    except OSError:  # the working directory is gone
        return Course()


def weighed(verdict: Verdict, points: Mapping[str, int]) -> Verdict:
    """Return ``verdict`` with what its exercise is worth in a course with these ``points``."""
    if verdict.exercise not in points or not verdict.max:
        return verdict
    most = points[verdict.exercise]
    return replace(verdict, points=round(most * verdict.points / verdict.max), max=most)
