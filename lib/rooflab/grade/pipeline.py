"""A class, from files to rows: read, merge, run in the sandbox, judge, keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

from rooflab.exercises.collect import describe
from rooflab.exercises.judge import failed
from rooflab.grade import given, intake, verdicts
from rooflab.grade.intake import CodeCell, Refused, Submission
from rooflab.grade.journal import Journal
from rooflab.grade.limits import Limits
from rooflab.grade.locked import Locked, Outcome
from rooflab.grade.merge import merge
from rooflab.grade.names import clean
from rooflab.grade.results import Row

_RIGHT = "def gigabytes(nbytes):\n    return nbytes / 1e9, nbytes / 2**30"
LOST = "the runner was killed"
Runner = Callable[[Locked, Limits], Outcome]


def grade(
    files: Sequence[Path],
    out: Path,
    seed: int,
    workshop: Callable[[], AbstractContextManager[Runner]],
    *,
    limits: Limits,
    jobs: int = 1,
    progress: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Return one row for each of ``files``, in their order; finished ones are read from ``out``.

    ``workshop`` is entered only if there is something to run, and gives what runs a locked
    notebook (``Workshop.run``); ``progress`` is called in this thread with each row as it is done.
    A row always comes: what goes wrong with one file, or with the grader itself on one file, is
    that row's error. Raises RuntimeError when a known right answer does not pass in the workshop.
    """
    journal = Journal(out, {"seed": seed, "limits": asdict(limits)})
    rows: dict[int, Row] = {}
    left: dict[int, Submission] = {}

    def done(number: int, row: Row) -> None:
        rows[number] = row
        progress(row)

    for number, file in enumerate(files):
        read = intake.read(file)
        if isinstance(read, Refused):
            done(number, Row(read.file, error=read.reason))
        elif kept := journal.find(read):
            done(number, kept)
        else:
            left[number] = read
    if left:
        with workshop() as runner:
            prove(runner, limits)
            for number, row in _run(left, lambda s: one(s, seed, limits, runner), jobs):
                if not own_fault(row):
                    journal.add(left[number], row)
                done(number, row)
    return [rows[number] for number in range(len(files))]


def prove(runner: Runner, limits: Limits) -> None:
    """Run a known right answer first; RuntimeError if it does not pass.

    A sandbox that cannot run anything must not give a whole class zero points.
    """
    lesson = given.lesson("00")
    cells = (CodeCell(_RIGHT, 1, "00-gigabytes"),)
    locked = merge(Submission("", "", "00", "nobody", cells), lesson, seed=0)
    outcome = runner(locked, limits)
    verdict = verdicts.judge(locked, outcome, lesson)["00-gigabytes"]
    if not verdict.passed:
        raise RuntimeError(
            f"a known right answer does not pass here ({verdict.reason}); no grading"
        )


def one(submission: Submission, seed: int, limits: Limits, runner: Runner) -> Row:
    """Grade one submission. Raises nothing; the row of a fault of ours has ``error`` and zeros."""
    lesson = given.lesson(submission.lesson)
    try:
        locked = merge(submission, lesson, seed)
        outcome = runner(locked, limits)
        if outcome.stopped == LOST:  # our side of it died: once more, with a new one
            outcome = runner(locked, limits)
        found = verdicts.judge(locked, outcome, lesson)
        error = None if outcome.stopped is None else verdicts.told(outcome.stopped)
        printed = {id: text for id, text in outcome.printed.items() if id in found}
        remarks = tuple(clean(flag, 200) for flag in locked.flags)
        return _row(submission, error=error, verdicts=found, printed=printed, remarks=remarks)
    except Exception as fault:
        told = f"the grader itself failed ({verdicts.told(describe(fault))}); please report it"
        zeros = {e.id: failed(e, "not graded") for e in lesson.exercises}
        return _row(submission, error=told, verdicts=zeros)


def own_fault(row: Row) -> bool:
    """Whether the row's error is the grader's own; such a row is not kept, but tried again."""
    return row.error is not None and row.error.startswith("the grader itself failed")


def _row(submission: Submission, **found: object) -> Row:
    return Row(submission.file, submission.student, submission.lesson, **found)


def _run(
    left: Mapping[int, Submission], work: Callable[[Submission], Row], jobs: int
) -> Iterator[tuple[int, Row]]:
    """Yield (number, row) as rows are finished; ``jobs`` are under way at a time."""
    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        running = {pool.submit(work, submission): number for number, submission in left.items()}
        for future in as_completed(running):
            yield running[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # a stop key waits for nobody
