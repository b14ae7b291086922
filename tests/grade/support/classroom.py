"""A class, made by a script: honest, partly right, every attack, every bad file, all mixed.

``hand_in(classroom(seed=1), folder)`` writes it; ``faults`` says what a grader did wrong with it.
The same seed makes the same class.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rooflab.exercises.observe.lock import DERIVE
from tests.grade.support.bad_files import LESSON, MISHANDLED, REFUSED, mishandled
from tests.grade.support.notebooks import put
from tests.grade.support.pupils import (
    ATTACKS,
    MISTAKES,
    Answered,
    attacked,
    honest,
    nothing,
    partly,
    targets,
)

HONEST, PARTLY, NOTHING, ATTACK, BAD, ODD = "honest", "partly", "nothing", "attack", "bad", "odd"
LESSONS = ("00", "01", "02", "03")
NAMES = (
    "Ann", "Bo", "Cem", "Đorđe", "Éloïse", "Fatima", "Gül", "Håkon", "Ioana", "János", "Kwame",
    "Lê", "Małgorzata", "Núria", "Ömer", "Ngozi", "Σοφία", "Юлия", "נועה", "مريم", "小明", "陽菜",
)  # fmt: skip


@dataclass(frozen=True)
class HandedIn:
    """One file of the class: ``kind`` of pupil, which attack or fault (``story``), its lesson."""

    file: str
    kind: str
    story: str
    lesson: str
    seed: str
    student: str | None = None

    def answered(self, folder: Path) -> Answered | None:
        """The notebook and what must come of it; None for what must be refused."""
        if self.kind == BAD:
            return None
        if self.kind == ODD:
            return mishandled(self.story)
        if self.kind == ATTACK:
            at = random.Random(self.seed).choice(targets(self.lesson))
            return attacked(self.lesson, self.story, at, str(folder.resolve()))
        if self.kind == PARTLY:
            return partly(self.lesson, random.Random(self.seed))
        return honest(self.lesson) if self.kind == HONEST else nothing(self.lesson)


def classroom(
    count: int = 200,
    seed: int = 0,
    *,
    lessons: Sequence[str] = LESSONS,
    attacks: Sequence[str] = tuple(ATTACKS),
    bad: Sequence[str] = (*REFUSED, *MISHANDLED),
) -> list[HandedIn]:
    """Return a class of ``count``: each of ``attacks`` and ``bad`` once, else honest and partly.

    Raises ValueError when there is no room for the honest ones.
    """
    draw = random.Random(f"class {seed}")
    kinds = [(ATTACK, each) for each in attacks]
    kinds += [(BAD if each in REFUSED else ODD, each) for each in bad]
    left = count - len(kinds)
    if left < 2:
        raise ValueError(f"count={count} must be {len(kinds) + 2} or more: {len(kinds)} are bad")
    kinds += [((NOTHING if n % 16 == 9 else PARTLY) if n % 2 else HONEST, "") for n in range(left)]
    kinds = [(kind, story, lessons[n % len(lessons)]) for n, (kind, story) in enumerate(kinds)]
    draw.shuffle(kinds)
    found = []
    for number, (kind, story, lesson) in enumerate(kinds):
        lesson = LESSON if kind in (BAD, ODD) else lesson
        name = draw.choice(NAMES) if kind in (HONEST, PARTLY) and draw.random() < 0.6 else None
        student = f"{name} {number}" if name else None
        one = HandedIn(f"{number:03}.ipynb", kind, story, lesson, f"{seed}/{number}", student)
        found.append(one)
    return found


def hand_in(pupils: Sequence[HandedIn], folder: Path) -> Path:
    """Write the class into ``folder`` and return that."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in pupils:
        if (answered := one.answered(folder)) is None:
            REFUSED[one.story](folder / one.file)
            continue
        if one.student:
            answered.notebook["metadata"].setdefault("rooflab", {})["student"] = one.student
        put(folder / one.file, answered.notebook)
    return folder


def faults(pupils: Sequence[HandedIn], folder: Path, results: Mapping[str, Any]) -> list[str]:
    """Return what is wrong in a results.json of the class, one line a fault; best: nothing.

    "wrongly passed": points where there must be none; "lost": none where there must be all.
    """
    rows = {Path(row["file"]).name: row for row in results["submissions"]}
    found = [f"{one.file}: no row" for one in pupils if one.file not in rows]
    found += [f"{file}: nobody handed that in" for file in rows.keys() - {p.file for p in pupils}]
    for one in pupils:
        if one.file in rows:
            told = f"{one.file} ({one.kind}, {one.story or one.lesson})"
            found += [f"{told}: {fault}" for fault in _of_row(rows[one.file], one, folder)]
    return found


def _of_row(row: Mapping[str, Any], one: HandedIn, folder: Path) -> list[str]:
    answered = one.answered(folder)
    if answered is None:
        refused = row["points"] == row["max"] == 0 and row["exercises"] == {} and row["error"]
        return [] if refused else ["wrongly passed: it had to be refused with a reason"]
    marks = row["exercises"]
    found = [f"lost: no verdict on {id}" for id in answered.passes - marks.keys()]
    for id, mark in marks.items():
        if id in answered.fails and mark["points"]:
            found.append(f"wrongly passed: {id}")
        if id in answered.passes and mark["points"] != mark["max"]:
            found.append(f"lost: {id}: {mark['reason']}")
        mistake = (answered.mistakes or {}).get(id)
        if mistake and f"({mistake}: " not in mark["reason"]:
            found.append(f"not named: {id} had to be {mistake!r}: {mark['reason']}")
    if one.kind == ATTACK and one.story.endswith("(probe)"):
        told = [m["reason"] for id, m in marks.items() if id in answered.fails]
        found += [f"reached: {r}" for r in told if "gave ()" not in r and DERIVE not in r]
    if one.kind != ATTACK and row["error"]:
        found.append(f"lost: {row['error']}")
    return found


def tally(pupils: Sequence[HandedIn], found: Sequence[str]) -> dict[str, int]:
    """Count the class by kind, and its ``faults`` by what they begin with."""
    kinds = (HONEST, PARTLY, NOTHING, ATTACK, BAD, ODD)
    counted = {kind: sum(one.kind == kind for one in pupils) for kind in kinds}
    words = ("wrongly passed", "lost", "not named", "reached", "no row")
    return counted | {word: sum(f": {word}" in fault for fault in found) for word in words}


__all__ = ["MISTAKES", "HandedIn", "classroom", "faults", "hand_in", "tally"]
