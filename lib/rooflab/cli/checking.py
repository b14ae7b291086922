"""``rooflab check``: how a notebook stands before it is handed in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.terminal import say, table
from rooflab.grade.inside.limits import Limits

if TYPE_CHECKING:
    from rooflab.exercises.verdict import Verdict


def check(
    notebook: Annotated[Path, typer.Argument(help="A lesson's notebook with your answers.")],
    seconds: Annotated[
        float,
        typer.Option(
            "--timeout",
            help=f"Seconds for one cell; your teacher's grader gives it {Limits.cell:g}.",
        ),
    ] = 60.0,
) -> None:
    """Check the answers in a notebook: points, what is wrong, a hint. Exit code 1 if any is.

    Runs them in a fresh kernel on this computer, without the cells that measure.
    """
    from rooflab.exercises import course
    from rooflab.grade import intake, lesson_notebook, local_kernel, verdicts
    from rooflab.grade.merge import merge

    if not seconds >= 1:
        raise ValueError(f"--timeout={seconds} must be 1 second or more")
    read = intake.read(notebook)
    if isinstance(read, intake.Refused):
        raise ValueError(f"{read.file}: {read.reason}")
    lesson = lesson_notebook.lesson(read.lesson)
    locked = merge(read, lesson, None)
    outcome = local_kernel.run(locked, notebook.resolve().parent, seconds)
    worth = course.beside(notebook.resolve().parent).points
    judged = verdicts.judge_outcome(locked, outcome, lesson)
    found = {id: course.weighed(verdict, worth) for id, verdict in judged.items()}
    say(lesson.title)
    for flag in locked.flags:
        if "missing" not in flag:  # the verdict says so
            say(f"Note: {flag}.")
    report(found)
    raise typer.Exit(0 if all(verdict.passed for verdict in found.values()) else 1)


def report(found: dict[str, Verdict]) -> None:
    """Print a table of the exercises, and below it what is wrong with each, with its hint."""
    words = {"✓": "right", "○": "not answered", "✗": "not right"}
    rows = [
        (v.mark, v.exercise, f"{v.points} of {v.max}" if v.max else "–", words[v.mark])
        for v in found.values()
    ]
    table(("", "exercise", "points", ""), rows, right=(2,), keep=(0, 1, 3))
    for verdict in found.values():
        if verdict.unanswered or (verdict.passed and not verdict.note):
            continue
        say(f"{verdict.mark} {verdict.exercise}: {verdict.reason}")
        if verdict.hint:
            say(f"  {verdict.misconception}: {verdict.hint}")
        if verdict.note:
            say(f"  {verdict.note}")
    have, most = (sum(getattr(v, name) for v in found.values()) for name in ("points", "max"))
    missing = [verdict.exercise for verdict in found.values() if verdict.unanswered]
    say(
        f"{have} of {most} points."
        + (f" Not answered yet: {', '.join(missing)}." if missing else "")
    )
