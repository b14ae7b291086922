"""``rl.progress("02")``: points so far in a lesson, and what is missing, without a button.

What it shows is what the check cells said in this kernel; nothing is run again.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from rooflab.count.validation import unknown
from rooflab.exercises import check, registry
from rooflab.exercises.course import here
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.verdict import COLOURS, Verdict

_COLOURS = {**COLOURS, "·": COLOURS["○"]}
_RESTART = "A restart of the kernel forgets what was checked; run the check cells again."
_HAND_IN = "What is graded is the file: save it before you hand it in."


@dataclass(frozen=True)
class Line:
    """One exercise of the lesson and its most points; no ``verdict`` before its check cell was
    run."""

    exercise: Exercise
    verdict: Verdict | None
    max: int

    @property
    def mark(self) -> str:
        """✓ right, ✗ not right, ○ not answered, · not checked."""
        return "·" if self.verdict is None else self.verdict.mark

    @property
    def points(self) -> int:
        """Points so far."""
        return self.verdict.points if self.verdict else 0

    @property
    def score(self) -> str:
        """Points so far of most; a dash where there are none to be had."""
        return f"{self.points} of {self.max}" if self.max else "–"

    @property
    def said(self) -> str:
        """What the verdict is, in a few words."""
        words = {"✓": "right", "○": "not answered yet", "·": "not checked yet"}
        if self.verdict is None or self.mark != "✗":
            return words[self.mark]
        named = self.verdict.misconception
        return f"not right: {named}" if named else "not right"


@dataclass(frozen=True)
class Progress:
    """A lesson's exercises with the latest verdict on each. Shows itself as a table."""

    lesson: str
    lines: tuple[Line, ...]

    @property
    def points(self) -> int:
        """Points so far in this kernel."""
        return sum(line.points for line in self.lines)

    @property
    def max(self) -> int:
        """Points of the whole lesson."""
        return sum(line.max for line in self.lines)

    @property
    def missing(self) -> tuple[str, ...]:
        """Ids of the exercises that are not right yet."""
        return tuple(line.exercise.id for line in self.lines if line.mark != "✓")

    @property
    def _heading(self) -> str:
        right = len(self.lines) - len(self.missing)
        return (
            f"Lesson {self.lesson}: {self.points} of {self.max} points, "
            f"{right} of {len(self.lines)} exercises right"
        )

    @property
    def _ending(self) -> Iterator[str]:
        if all(line.verdict is None for line in self.lines):
            yield "No check cell was run in this kernel yet."
        elif any(line.verdict is None for line in self.lines):
            yield _RESTART
        yield _HAND_IN if self.missing else f"Nothing is missing. {_HAND_IN}"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [(line.mark, line.exercise.id, line.score, line.said) for line in self.lines]

    def __repr__(self) -> str:
        rows = self._rows()
        wide = max(len(row[1]) for row in rows)
        most = max(len(row[2]) for row in rows)
        table = [
            f"{mark} {id:<{wide}}  {points:>{most}}  {said}" for mark, id, points, said in rows
        ]
        return "\n".join([self._heading, *table, *self._ending])

    def _repr_html_(self) -> str:
        cell = 'style="text-align:left;padding:.15em 1em .15em 0"'
        body = "".join(
            f'<tr><td style="color:{_COLOURS[line.mark]};padding:.15em .6em">'
            f"<b>{line.mark}</b></td>"
            f"<td {cell}>{n} · {html.escape(line.exercise.title)} "
            f"<code>{line.exercise.id}</code></td>"
            f"<td {cell}>{points}</td><td {cell}>{html.escape(said)}</td></tr>"
            for n, (line, (_, _, points, said)) in enumerate(
                zip(self.lines, self._rows(), strict=True), 1
            )
        )
        head = "".join(f'<th scope="col" {cell}>{name}</th>' for name in ("exercise", "points", ""))
        ending = "<br>".join(self._ending)
        return (
            f'<div style="border-left:4px solid {_COLOURS["·" if self.missing else "✓"]};'
            f'padding:.3em .8em"><b>{self._heading}</b>{self._bar()}'
            f'<table style="margin:.4em 0;color:inherit;font:inherit">'
            f"<tr><th></th>{head}</tr>{body}</table>{ending}</div>"
        )

    def _bar(self) -> str:
        share = 100 * self.points / self.max
        return (
            '<div style="max-width:28em;height:.5em;margin:.4em 0;border:1px solid #6B6B6B">'
            f'<div style="width:{share:.3g}%;height:100%;background:{COLOURS["✓"]}"></div></div>'
        )


def progress(lesson: str | int) -> Progress:
    """Return how far one is in ``lesson``.

    Parameters
    ----------
    lesson : str or int
        "02", 2 or "02_bytes".

    Returns
    -------
    Progress
        Every exercise of the lesson with the latest verdict of this kernel and its points: those of
        the course's ``course.json`` where there is one.

    Examples
    --------
    >>> lesson = rl.progress(1)
    >>> lesson.lesson, lesson.max, lesson.missing[0]
    ('01', 28, '01-product')
    """
    told = re.match(r"\d{1,2}(?=_|$)", str(lesson).strip())
    if told is None:
        raise unknown("lesson", lesson, sorted({e.lesson for e in registry.exercises().values()}))
    asked = registry.lesson(told[0])
    points = here().points
    seen = check.verdicts()
    lines = (Line(e, seen.get(e.id), points.get(e.id, e.points)) for e in asked)
    return Progress(asked[0].lesson, tuple(lines))
