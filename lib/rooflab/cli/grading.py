"""``rooflab grade``: a class, from the files handed in to grades and feedback."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated

import typer

from rooflab.cli.terminal import complain, console, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from rooflab.grade.limits import Limits
    from rooflab.grade.locked import Locked, Outcome
    from rooflab.grade.results import Results, Row

SHOWN = 20  # lines about files that could not be graded
UNSAFE = "Graded without a sandbox: what was handed in could read and change anything here."
MOST_JOBS = 8  # unless --jobs says otherwise


def grade(
    paths: Annotated[
        list[Path], typer.Argument(help="Notebooks, or folders of them.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for grades and feedback.")],
    seed: Annotated[
        int | None, typer.Option("--seed", help="Draws the hidden cases; a secret by default.")
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Submissions at a time.")] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds for a submission.")] = 45.0,
    unsafe: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Let what was handed in do anything.")
    ] = False,
) -> None:
    """Grade notebooks in a sandbox: grades.csv, results.json and a page for every student.

    Interrupted? Nothing is lost: the same command goes on where it was.
    """
    from rooflab.grade import files, given, report_class, table
    from rooflab.grade.journal import seed_for
    from rooflab.grade.limits import Limits
    from rooflab.grade.pipeline import grade as graded
    from rooflab.grade.results import Results

    _positive(jobs, timeout)
    found = _existing(files.found(paths))
    _folder(out)
    hidden = {out, given.folder(), *(path.parent for path in found)}
    workshop = partial(_workshop, unsafe, hidden)
    limits, notice = Limits(wall=timeout), UNSAFE if unsafe else ""
    drawn = seed_for(out, seed)
    jobs = jobs or min(os.cpu_count() or 1, MOST_JOBS)
    try:
        with _progress(len(found)) as progress:
            rows = graded(found, out, drawn, workshop, limits=limits, jobs=jobs, progress=progress)
        results = Results.of(drawn, rows)
        results.write(out)
        table.write(results, out)
        report_class.write(results, out, notice)
    except KeyboardInterrupt:
        complain("stopped; nothing is lost: the same command goes on from here")
        _leave(130)
    _summary(results, out, notice)


def _positive(jobs: int | None, timeout: float) -> None:
    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs={jobs} must be 1 or more")
    if not 1 <= timeout < float("inf"):
        raise ValueError(f"--timeout={timeout} must be 1 second or more")


def _existing(found: Sequence[Path]) -> list[Path]:
    """Refuse a command line that names nothing at all; single missing files get their row."""
    if not any(os.path.lexists(path) for path in found):
        raise ValueError(f"PATHS={str(found[0])!r} names no file; give notebooks or folders")
    return list(found)


def _folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        told = error.strerror or error
        raise ValueError(f"--out={str(out)!r} cannot be a folder to write to ({told})") from None


@contextmanager
def _workshop(
    unsafe: bool, hidden: Iterable[Path]
) -> Iterator[Callable[[Locked, Limits], Outcome]]:
    from rooflab.grade.run import Workshop

    with Workshop(unsafe=unsafe, hidden=hidden) as shop:
        yield shop.run


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Row], None]]:
    """A progress bar on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda row: None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit="file", file=sys.stderr, dynamic_ncols=True) as bar:
        yield lambda row: (bar.set_postfix_str(f"{row.points} of {row.max}"), bar.update())[0]


def _leave(code: int) -> None:
    """End this process now; what runs in sandboxes ends with it."""
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(code)


def _summary(results: Results, out: Path, notice: str) -> None:
    """Print the outcome: how many, how well, and a line for each file with a problem."""
    from rooflab.grade.names import clean

    graded = [row for row in results.rows if row.verdicts]
    count = len(results.rows)
    say(f"{count} file{'' if count == 1 else 's'}, {len(graded)} graded, seed {results.seed}.")
    if graded:
        share = mean(row.points / row.max for row in graded)
        say(f"On average {100 * share:.0f} % of the points.")
    lines = console()
    troubled = [row for row in results.rows if row.error]
    for row in troubled[:SHOWN]:
        # One line each, whatever is in a file's name.
        lines.print(f"{clean(row.file, 200)}: {row.error}", soft_wrap=True)
    if len(troubled) > SHOWN:
        say(f"… and {len(troubled) - SHOWN} more; grades.csv names them.")
    if notice:
        say(notice)
    say(f"{out / 'index.html'}")
