"""``rooflab release``: a course pack for students, or the lessons for nbgrader."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.terminal import console, say, table

if TYPE_CHECKING:
    from rooflab.exercises.course import Course

FORMATS = ("pack", "nbgrader")
_POINTS = re.compile(r"([0-9]{2}-[a-z0-9-]+)=(-?[0-9]+)")
_DUE = re.compile(r"(?:([0-9]{1,2})=)?([0-9]{4}-[0-9]{2}-[0-9]{2})")


def release(
    out: Annotated[Path, typer.Option("--out", help="A new folder for it.")],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    lessons: Annotated[
        list[str] | None, typer.Option("--lessons", help="As in 01 02; all by default.")
    ] = None,
    points: Annotated[
        list[str] | None, typer.Option("--points", help="As in 01-product=3 00-peak=0.")
    ] = None,
    due: Annotated[
        list[str] | None, typer.Option("--due", help="As in 2026-12-01, or 01=2026-12-01.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="pack or nbgrader.")] = "pack",
    title: Annotated[str, typer.Option("--title", help="Name of your course.")] = "rooflab",
    seed: Annotated[
        int | None, typer.Option("--seed", help="nbgrader: draws the hidden cases.")
    ] = None,
) -> None:
    """Make a folder for a class: learners' notebooks without solutions, with points and due date.

    Grade what comes back with `rooflab grade PATHS --points DIR/course.json --out GRADES`.
    """
    from rooflab.grade import release as maker
    from rooflab.grade.release_nbgrader import export

    if form not in FORMATS:
        raise ValueError(f"--format={form!r} must be {' or '.join(FORMATS)}")
    words = [*(lessons or ()), *(points or ()), *(due or ()), *(more or ())]
    course = _course(words, title)
    if form == "pack":
        maker.pack(course, out)
    else:
        export(course, out, secrets.randbits(48) if seed is None else seed)
    report(course, out, form)


def _course(words: Sequence[str], title: str) -> Course:
    """Put the course together; lessons, points and dates are told apart by their form."""
    from rooflab.exercises.course import Course
    from rooflab.grade.release import chosen

    numbers, points, days = [], {}, []
    for word in (part for each in words for part in each.split(",") if part):
        if told := _POINTS.fullmatch(word):
            points[told[1]] = int(told[2])
        elif told := _DUE.fullmatch(word):
            days.append((told[1] and told[1].zfill(2), _date(told[2])))
        elif re.fullmatch(r"[0-9]{1,2}", word):
            numbers.append(word.zfill(2))
        else:
            raise ValueError(
                f"{word!r} is no lesson, as in 01, no points, as in 01-product=3, and no date, as "
                "in 2026-12-01 or 01=2026-12-01"
            )
    lessons = chosen(numbers)
    for number in [*(id[:2] for id in points), *(number for number, _ in days if number)]:
        if number not in lessons:
            raise ValueError(f"lesson {number} is not in this release: {', '.join(lessons)} are")
    if not title.strip() or not title.isprintable():
        raise ValueError(f"--title={title!r} must be one line of text")
    due = {number: day for told, day in days if not told for number in lessons}
    due |= {number: day for number, day in days if number}
    return Course(title.strip(), lessons, points, due)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"--due={text!r} must be a date that exists, as in 2026-12-01") from None


def report(course: Course, out: Path, form: str) -> None:
    """Say what was made and what to do with it."""
    from rooflab.exercises import registry
    from rooflab.grade.release_words import day, total

    rows = [
        (number, str(len(registry.lesson(number))), str(total(number, course)),
         day(course.due.get(number)))
        for number in course.lessons
    ]  # fmt: skip
    table(("lesson", "exercises", "points", "due on"), rows, right=(1, 2))
    if form == "nbgrader":
        say(f"For nbgrader: {out / 'README.md'} says how. Keep the folder to yourself.")
    else:
        say(f"Give {out} to your students as it is; {out / 'README.md'} is theirs.")
    say("What comes back is graded with:")
    told = f"rooflab grade PATHS --points {shlex.quote(str(out / 'course.json'))} --out GRADES"
    console().print(f"  {told}", soft_wrap=True)  # a command is one line, to be copied
