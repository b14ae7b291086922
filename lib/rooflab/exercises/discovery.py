"""Where the engines find a lesson: ``course/lessonNN/``, by its name. No engine imports one."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import rooflab

_HOME = Path(rooflab.__file__).parent
_BEFORE = ("exercises/lessons", "conclusions")  # where lessons were up to 0.2.0


@cache
def lessons() -> tuple[str, ...]:
    """Return the numbers of the lessons, "00" first; ImportError for one in the old place."""
    for folder in _BEFORE:
        for old in sorted((_HOME / folder).glob("lesson[0-9][0-9].py")):
            raise ImportError(
                f"{old} is where lessons were up to rooflab 0.2.0. They live in rooflab/course/"
                f"{old.stem}/ now: exercises.py, sentences.py and guesses.py, with an __init__.py"
            )
    folders = (path.parent.name for path in _HOME.glob("course/lesson[0-9][0-9]/__init__.py"))
    return tuple(sorted(name[-2:] for name in folders))


@cache
def of_lesson(number: str, part: str, table: str) -> Any:
    """Return a table of one lesson, ``EXERCISES`` of its part "exercises"; () where it has none."""
    name = f"rooflab.course.lesson{number}"
    if number not in lessons() or find_spec(f"{name}.{part}") is None:
        return ()
    return getattr(import_module(f"{name}.{part}"), table, ())
