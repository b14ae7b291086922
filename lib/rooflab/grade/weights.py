"""What an exercise is worth in a course, put on rows that are graded already.

Rows are kept with the lessons' own points, so that other points need no second run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rooflab.exercises.course import weighed
from rooflab.grade.results import Row


def weigh(row: Row, points: Mapping[str, int]) -> Row:
    """Return ``row`` with ``points`` (exercise id → points) where they say something."""
    verdicts = {id: weighed(verdict, points) for id, verdict in row.verdicts.items()}
    return replace(row, verdicts=verdicts)
