"""A lesson as the grader needs it: its exercises in order, and what stands around them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat

from rooflab.exercises import registry
from rooflab.exercises.exercise import Exercise
from rooflab.grade.notebook_code import kept
from rooflab.measure.settings import path_setting

ENV = "ROOFLAB_NOTEBOOKS"
CHECKED = re.compile(r'rl\.check\("([^"]+)", (\w+)\)')


@dataclass(frozen=True)
class Lesson:
    """``number``: "01"; ``order``: exercise ids as the lesson asks them; ``given``: exercise id →
    cells of the lesson that are run before its answer (imports, constants, functions); ``names``:
    exercise id → name of the answer, as the lesson's check cell has it; ``title``: its heading;
    ``sources``: its code cells but for the answers, as they stand there."""

    number: str
    order: tuple[str, ...]
    given: Mapping[str, tuple[str, ...]]
    names: Mapping[str, str]
    title: str
    sources: frozenset[str] = frozenset()

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """The exercises in the order of the lesson."""
        return tuple(registry.exercise(each) for each in self.order)


def folder() -> Path:
    """Where the learner's notebooks are: ROOFLAB_NOTEBOOKS, else beside the package's source.

    Never the working directory: there lies what students handed in.
    """
    return path_setting(ENV) or Path(__file__).resolve().parents[3] / "notebooks"


def lesson(number: str) -> Lesson:
    """Return lesson ``number``; ValueError when the course has no such exercises.

    Without a notebook of the lesson (the package alone is installed), the exercises come in the
    order of the registry, and ``import rooflab as rl`` is all that is given.
    """
    return _lesson(number, folder())


@cache
def _lesson(number: str, where: Path) -> Lesson:
    names = {exercise.id: exercise.name for exercise in registry.lesson(number)}
    wanted, title = list(names), f"Lesson {number}"
    files = sorted(where.glob(f"{number}_*.ipynb"))
    if not files:
        return Lesson(number, tuple(wanted), {wanted[0]: ("import rooflab as rl",)}, names, title)
    waiting: list[str] = []
    given: dict[str, tuple[str, ...]] = {}
    sources: set[str] = set()
    for cell in nbformat.read(files[0], as_version=4).cells:
        if cell.cell_type != "code":
            if cell.source.startswith(f"# {number} · "):
                title = f"Lesson {cell.source.splitlines()[0][2:]}"
            continue
        exercise = cell.metadata.get("rooflab", {}).get("exercise")
        if exercise in wanted and exercise not in given:
            given[exercise] = tuple(waiting)
            waiting = []
            continue
        sources.add(cell.source.strip())
        if asked := CHECKED.match(cell.source):
            names[asked[1]] = asked[2]
        elif text := kept(cell.source):
            waiting.append(text)
    order = (*given, *(each for each in wanted if each not in given))
    return Lesson(number, order, given, names, title, frozenset(sources))
