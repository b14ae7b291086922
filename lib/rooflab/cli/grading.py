"""``rooflab grade`` and ``rooflab release``: a class's hand-ins, and what students are given."""

from __future__ import annotations

import math
import os
import re
import secrets
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.terminal import complain, console, say, table
from rooflab.count.si import several
from rooflab.grade.inside.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from rooflab.exercises.course import Course
    from rooflab.grade.pipeline import Runner
    from rooflab.grade.results import Results, Row

TIMEOUT = f"Seconds for a notebook, more on a busy machine; a cell may compute for {Limits.cell:g}."
SHOWN = 20  # lines about files that could not be graded
UNSAFE = "Graded without a sandbox: what was handed in could read and change anything here."
MOST_JOBS = 8  # unless --jobs says otherwise
MOST_ASKED = 1024  # that --jobs may say
LONGEST = 24 * 3600  # seconds that --timeout may say
KEPT = "what is finished is kept: the same command goes on from here"


def grade(
    paths: Annotated[
        list[Path], typer.Argument(help="Notebooks, or folders of them.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for grades and feedback.")],
    seed: Annotated[
        int | None, typer.Option("--seed", help="Draws the hidden cases; a secret by default.")
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Submissions at a time.")] = None,
    timeout: Annotated[float, typer.Option("--timeout", help=TIMEOUT)] = Limits.wall,
    points: Annotated[
        Path | None, typer.Option("--points", help="course.json of a release: what counts.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Run on a dask.distributed cluster.")
    ] = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Let what was handed in do anything.")
    ] = False,
) -> None:
    """Grade notebooks in a sandbox: grades.csv, results.json and a page for every student.

    Interrupted? Nothing is lost: the same command goes on where it was. Exit code 0: every file
    has its row.
    """
    from rooflab.exercises import course
    from rooflab.grade import intake, lesson_notebook, pipeline

    _within_bounds(jobs, timeout, scheduler)
    worth = course.read(points).points if points else {}
    found = intake.found(paths)
    if not any(map(os.path.lexists, found)):  # a single missing file gets its row
        raise ValueError(f"PATHS={str(found[0])!r} names no file; give notebooks or folders")
    _folder(out)
    hidden = {out, lesson_notebook.folder(), *(path.parent for path in found)}
    run, notice = _runs(scheduler, unsafe, hidden, jobs, timeout), UNSAFE if unsafe else ""
    try:
        with pipeline.alone(out, lambda: complain(f"waiting for another grader in {out}")):
            results = _results(run, found, out, seed, worth, notice)
    except KeyboardInterrupt:
        complain("stopped; nothing is lost: the same command goes on from here")
        _leave(130)
    except (OSError, pipeline.NoRunner) as error:  # a full disk; a cluster that is gone
        raise RuntimeError(f"{error}; {KEPT}") from None
    _summary(results, out, notice)


def _results(
    run: Callable[..., list[Row]], found: Sequence[Path], out: Path, seed: int | None,
    worth: Mapping[str, int], notice: str,
) -> Results:  # fmt: skip
    """Grade ``found`` and write everything."""
    from tqdm import tqdm

    from rooflab.grade import report
    from rooflab.grade import results as table
    from rooflab.grade.pipeline import seed_for

    drawn = seed_for(out, seed)
    # A bar on a terminal, nothing in a pipe.
    with tqdm(total=len(found), unit="file", dynamic_ncols=True, disable=None) as bar:

        def progress(row: Row) -> None:
            bar.set_postfix_str(f"{row.points} of {row.max}")
            bar.update()

        rows = run(found, out, drawn, progress=progress)
    results = table.Results.of(drawn, [table.weigh(row, worth) for row in rows])
    results.write(out)
    table.write(results, out)
    report.write(results, out, notice)
    return results


def _within_bounds(jobs: int | None, timeout: float, scheduler: str | None) -> None:
    if jobs is not None and not 1 <= jobs <= MOST_ASKED:
        raise ValueError(f"--jobs={jobs} must be from 1 to {MOST_ASKED}")
    if not 1 <= timeout <= LONGEST:
        raise ValueError(f"--timeout={timeout} must be from 1 to {LONGEST} seconds")
    if scheduler is not None and not scheduler.strip():
        raise ValueError(f"--scheduler={scheduler!r} must be an address, such as tcp://host:8786")


def _runs(
    scheduler: str | None, unsafe: bool, hidden: Iterable[Path], jobs: int | None, timeout: float
) -> Callable[..., list[Row]]:
    """Return pipeline.grade with its limits, and its runner on this machine or on a cluster."""
    from rooflab.grade import pipeline
    from rooflab.grade.cluster import MOST_SENT
    from rooflab.measure.backend import available_cores

    limits = Limits(wall=timeout, cpu=max(Limits.cpu, math.ceil(timeout)))
    usual = min(available_cores(), MOST_JOBS) if scheduler is None else MOST_SENT
    opens = partial(open_runner, scheduler, unsafe, hidden)
    return partial(pipeline.grade, open_runner=opens, limits=limits, jobs=jobs or usual)


def _folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        told = error.strerror or error
        raise ValueError(f"--out={str(out)!r} cannot be a folder to write to ({told})") from None


@contextmanager
def open_runner(scheduler: str | None, unsafe: bool, hidden: Iterable[Path]) -> Iterator[Runner]:
    """Open what runs a submission: on this machine, or on the workers of a cluster."""
    from rooflab.grade.cluster import cluster
    from rooflab.grade.launch import NotebookRunner

    kind = NotebookRunner if scheduler is None else partial(cluster, scheduler)
    with kind(unsafe=unsafe, hidden=hidden) as runner:
        yield runner.run


def _leave(code: int) -> None:
    """End this process now; what runs in sandboxes ends with it."""
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(code)


def _summary(results: Results, out: Path, notice: str) -> None:
    """Print the outcome: how many, how well, and a line for each file with a problem."""
    from rooflab.grade.display_names import clean
    from rooflab.grade.pipeline import own_fault

    graded = [row for row in results.rows if row.verdicts]
    count = len(results.rows)
    say(f"{several(count, 'file')}, {len(graded)} graded, seed {results.seed}.")
    if shares := [row.points / row.max for row in graded if row.max]:
        say(f"On average {100 * mean(shares):.0f} % of the points.")
    lines = console()
    troubled = [row for row in results.rows if row.error]
    for row in troubled[:SHOWN]:
        # One line each, whatever is in a file's name.
        lines.print(f"{clean(row.file, 200)}: {row.error}", soft_wrap=True)
    if len(troubled) > SHOWN:
        say(f"… and {len(troubled) - SHOWN} more; grades.csv names them.")
    if any(own_fault(row) for row in results.rows):
        complain("the grader itself failed on a file; the same command tries it again")
    if notice:
        say(notice)
    say(f"{out / 'index.html'}")


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

    if form not in FORMATS:
        raise ValueError(f"--format={form!r} must be {' or '.join(FORMATS)}")
    words = [*(lessons or ()), *(points or ()), *(due or ()), *(more or ())]
    course = _course(words, title)
    if form == "pack":
        maker.pack(course, out)
    else:
        maker.export(course, out, secrets.randbits(48) if seed is None else seed)
    report(course, out, form)


def _course(words: Sequence[str], title: str) -> Course:
    """Put the course together; lessons, points and dates are told apart by their form."""
    from rooflab.exercises.course import Course
    from rooflab.grade.release import chosen

    numbers, points, days = [], {}, []
    for word in (part for each in words for part in ([*filter(None, each.split(","))] or [each])):
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
    from rooflab.grade.release import day, total

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
