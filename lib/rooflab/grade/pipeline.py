"""A class, from files to rows: read, merge, run in the sandbox, judge, keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, replace
from pathlib import Path

from rooflab.exercises.collect import describe
from rooflab.exercises.judge import failed
from rooflab.grade import given, intake, verdicts
from rooflab.grade.intake import CodeCell, Refused, Submission
from rooflab.grade.journal import Journal
from rooflab.grade.limits import Limits
from rooflab.grade.locked import LOST, Locked, Outcome
from rooflab.grade.merge import merge
from rooflab.grade.names import clean
from rooflab.grade.results import Row

_RIGHT = (
    "def time(k, n, itemsize, peak, bandwidth):\n"
    "    return max(2 * n * itemsize / bandwidth, 2 * n * k / peak)"
)
Runner = Callable[[Locked, Limits], Outcome]
_Done = tuple[Submission | None, Row]  # no submission: the file is not to be had any more


class NoRunner(RuntimeError):
    """There is nothing left to run submissions on; a runner raises it, and grading ends."""


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
    that row's error. Raises RuntimeError when a known right answer does not pass in the workshop,
    NoRunner when the workshop is gone for good; what is finished is kept.
    """
    journal = Journal(out, {"seed": seed, "limits": asdict(limits)})
    rows: dict[int, Row] = {}

    def done(number: int, row: Row) -> None:
        rows[number] = row
        progress(row)

    def work(number: int) -> _Done:
        read = intake.read(files[number])  # again: a whole class would fill the memory
        if isinstance(read, Refused):
            return None, Row(read.file, error=read.reason)
        return read, one(read, seed, limits, runner)

    left = []
    for number, file in enumerate(files):
        read = intake.read(file)
        if isinstance(read, Refused):
            done(number, Row(read.file, error=read.reason))
        elif kept := journal.find(read):
            done(number, kept)
        else:
            left.append(number)
    if left:
        with workshop() as runner:
            prove(runner, limits)
            for number, submission, row in _run(left, work, jobs):
                if submission is not None and not own_fault(row):
                    journal.add(submission, row)
                done(number, row)
    return [rows[number] for number in range(len(files))]


def prove(runner: Runner, limits: Limits) -> None:
    """Run a known right answer first; RuntimeError if it does not pass.

    A sandbox that cannot run anything must not give a whole class zero points.
    """
    lesson = given.lesson("00")
    cells = (CodeCell(_RIGHT, 1, "00-time"),)
    locked = merge(Submission("", "", "00", "nobody", cells), lesson, seed=0)
    outcome = runner(locked, limits)
    verdict = verdicts.judge(locked, outcome, lesson)["00-time"]
    if not verdict.passed:
        raise RuntimeError(
            f"a known right answer does not pass here ({verdict.reason}); no grading"
        )


def one(submission: Submission, seed: int, limits: Limits, runner: Runner) -> Row:
    """Grade one submission; the row of a fault of ours has ``error`` and zeros.

    Raises nothing but what the runner raises as NoRunner.
    """
    lesson = given.lesson(submission.lesson)
    try:
        locked = merge(submission, lesson, seed)
        outcome = runner(locked, limits)
        found = verdicts.judge(locked, outcome, lesson)
        error = None if outcome.stopped is None else verdicts.told(outcome.stopped)
        shown = {id: text for id, text in outcome.printed.items() if id in found}
        printed = {id: verdicts.without_addresses(text) for id, text in shown.items()}
        remarks = tuple(clean(flag, 200) for flag in locked.flags)
        return _row(submission, error=error, verdicts=found, printed=printed, remarks=remarks)
    except NoRunner:
        raise
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
    left: Iterable[int], work: Callable[[int], _Done], jobs: int
) -> Iterator[tuple[int, Submission | None, Row]]:
    """Yield (number, submission, row) as rows are finished; ``jobs`` are under way at a time.

    Whose runner was killed is tried again at the end, alone: a neighbour's fault then costs
    nobody anything, and a fault of its own costs nobody else.
    """
    lost = []
    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        running = {pool.submit(work, number): number for number in left}
        for number, submission, row in _finished(running):
            if row.error == LOST:
                lost.append(number)
            else:
                yield number, submission, row
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # a stop key waits for nobody
    for number in sorted(lost):
        submission, row = work(number)
        if row.error == LOST:
            row = replace(row, error=f"{LOST}, a second time with nothing beside it")
        yield number, submission, row


def _finished(running: dict[Future[_Done], int]) -> Iterator[tuple[int, Submission | None, Row]]:
    """Yield what is finished; when the runner is gone, first all that finished before, then
    raise."""
    gone = None
    for future in as_completed(running):
        try:
            done = future.result()
        except NoRunner as error:
            gone = error
            break
        yield running.pop(future), *done
    for future in [each for each in running if gone and not each.cancel()]:
        with suppress(NoRunner):
            yield running[future], *future.result()
    if gone:
        raise gone
