"""A class, from files to rows: read, merge, run in the sandbox, judge, keep."""

from __future__ import annotations

import errno
import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

import rooflab
from rooflab.exercises.judge import judge as judge_here
from rooflab.exercises.observe.observation import describe
from rooflab.exercises.verdict import failed
from rooflab.grade import intake, lesson_notebook, verdicts
from rooflab.grade.display_names import clean
from rooflab.grade.inside.limits import Limits
from rooflab.grade.intake import CodeCell, Refused, Submission
from rooflab.grade.judge_process import Judge, judging
from rooflab.grade.locked_notebook import LOST, Locked, Outcome
from rooflab.grade.merge import merge
from rooflab.grade.results import Row
from rooflab.measure.store import replace_file

# The journal of what is finished: one small file a submission, written in one step.
#
# A kill at any moment leaves only whole entries, and the next run goes on after them. An entry
# counts for the same bytes of the same file, the same seed and limits, and the same exercises.
# Anything else is graded anew.


FOLDER = "journal"
SEED = "seed.json"
LOCK = "lock"
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # some network file systems have none
_TORN = re.compile(r"\.[0-9a-f]{8}\.new$")  # what replace_file leaves when it is killed
# The packages whose code a verdict depends on.
_ROOMS = ("count", "predict", "measure", "labs", "exercises", "course", "grade")
_BITS = 48  # of a drawn seed: exact in every reader of JSON


class Journal:
    """The finished submissions in ``out``/journal; ``settings``: plain data that entries depend on.

    The folder is made. Raises OSError when it cannot be written to.
    """

    def __init__(self, out: Path, settings: dict[str, Any]) -> None:
        self.folder = out / FOLDER
        self.folder.mkdir(parents=True, exist_ok=True)
        self._settings = settings

    def find(self, submission: Submission) -> Row | None:
        """Return the finished row of ``submission``; a damaged entry counts as none."""
        try:
            text = self._path(submission).read_text(encoding="utf-8")
            return Row.from_dict(json.loads(text))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def add(self, submission: Submission, row: Row) -> None:
        """Keep a finished row; on disk when this returns."""
        replace_file(self._path(submission), json.dumps(asdict(row), ensure_ascii=False) + "\n")

    def _path(self, submission: Submission) -> Path:
        told = [submission.file, submission.digest, self._settings, code_digest(),
                _asked(submission.lesson, str(lesson_notebook.folder()))]  # fmt: skip
        key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:24]
        return self.folder / f"{key}.json"


@contextmanager
def alone(out: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Be the only grader that writes into ``out``; ``waiting`` is called if another one is there.

    This one then waits, because what the other one finishes need not be run again. The folder is
    free when the other one ends, also by a kill. What it was just writing is removed.
    """
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    # The system itself releases this lock when its process ends. The fallback of filelock, a file
    # that says "locked", would stay behind after a kill.
    lock = FileLock(folder / LOCK, fallback_to_soft=False)
    try:
        try:
            lock.acquire(blocking=False)
        except Timeout:
            waiting()
            lock.acquire()
        with suppress(OSError):
            _sweep(out)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    try:
        yield
    finally:
        lock.release()


def _sweep(out: Path) -> None:
    """Remove what a killed grader left half written, in ``out`` and one folder below."""
    for path in [*out.glob("*.new"), *out.glob("*/*.new")]:
        if _TORN.search(path.name) and path.is_file():
            path.unlink()


def seed_for(out: Path, seed: int | None) -> int:
    """Return ``seed``, else the one that an interrupted run in ``out`` drew, else a new secret."""
    kept = out / FOLDER / SEED
    if seed is None:
        seed = secrets.randbits(_BITS)
        with suppress(OSError, ValueError):
            seed = int(kept.read_text(encoding="utf-8"))
    kept.parent.mkdir(parents=True, exist_ok=True)
    replace_file(kept, f"{seed}\n")
    return seed


@cache
def code_digest() -> str:
    """Return a digest of rooflab's version and of the code that verdicts depend on."""
    package = Path(rooflab.__file__).parent
    found = [
        path
        for room in _ROOMS
        for path in (package / room).rglob("*")
        if path.suffix in (".py", ".yaml", ".json")
    ]
    digest = hashlib.sha256(rooflab.__version__.encode())
    for path in sorted(found):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@cache
def _asked(number: str, notebooks: str) -> str:
    """Return a digest of what a lesson's notebook asks and gives, whoever ran and saved it."""
    lesson = lesson_notebook.lesson(number)
    told = [lesson.order, dict(lesson.given), dict(lesson.names), sorted(lesson.sources)]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


_RIGHT = (
    "def time(k, n, itemsize, peak, bandwidth):\n"
    "    return max(2 * n * itemsize / bandwidth, 2 * n * k / peak)"
)
Runner = Callable[[Locked, Limits], Outcome]
_Done = tuple[Submission | None, Row]  # no submission: the file is not there any more


class NoRunner(RuntimeError):
    """There is nothing left to run submissions on; a runner raises it, and grading ends."""


def grade(
    files: Sequence[Path],
    out: Path,
    seed: int,
    open_runner: Callable[[], AbstractContextManager[Runner]],
    *,
    limits: Limits,
    jobs: int = 1,
    progress: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Return one row for each of ``files``, in their order; finished ones are read from ``out``.

    ``open_runner`` is called only if there is something to run. It gives what runs a locked
    notebook, such as ``NotebookRunner.run``. ``progress`` is called in this thread with each row
    as it is done. Every file gets a row: what goes wrong with it, also in the grader itself, is
    that row's error. Raises RuntimeError when a known right answer does not pass, NoRunner when
    the runner is gone for good; what is finished is kept.
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
        return read, one(read, seed, limits, runner, judge)

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
        with open_runner() as runner, judging() as judge:
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
    lesson = lesson_notebook.lesson("00")
    cells = (CodeCell(_RIGHT, 1, "00-time"),)
    locked = merge(Submission("", "", "00", "nobody", cells), lesson, seed=0)
    outcome = runner(locked, limits.under_load())
    verdict = verdicts.judge_outcome(locked, outcome, lesson)["00-time"]
    if not verdict.passed:
        raise RuntimeError(
            f"a known right answer does not pass here ({verdict.reason}); no grading"
        )


def one(
    submission: Submission, seed: int, limits: Limits, runner: Runner, judge: Judge = judge_here
) -> Row:
    """Grade one submission; the row of a fault of ours has ``error`` and zeros.

    Raises nothing but what the runner raises as NoRunner.
    """
    lesson = lesson_notebook.lesson(submission.lesson)
    row = Row(submission.file, submission.student, submission.lesson)
    try:
        locked = merge(submission, lesson, seed)
        outcome = runner(locked, limits.under_load())
        found = verdicts.judge_outcome(locked, outcome, lesson, judge)
        error = None if outcome.stopped is None else verdicts.told(outcome.stopped)
        shown = {id: text for id, text in outcome.printed.items() if id in found}
        printed = {id: verdicts.without_addresses(text) for id, text in shown.items()}
        remarks = tuple(clean(flag, 200) for flag in locked.flags)
        return replace(row, error=error, verdicts=found, printed=printed, remarks=remarks)
    except NoRunner:
        raise
    except Exception as fault:
        told = f"the grader itself failed ({verdicts.told(describe(fault))}); please report it"
        zeros = {e.id: failed(e, "not graded") for e in lesson.exercises}
        return replace(row, error=told, verdicts=zeros)


def own_fault(row: Row) -> bool:
    """Whether the row's error is the grader's own; such a row is not kept, but tried again."""
    return row.error is not None and row.error.startswith("the grader itself failed")


def _run(
    left: Iterable[int], work: Callable[[int], _Done], jobs: int
) -> Iterator[tuple[int, Submission | None, Row]]:
    """Yield (number, submission, row) as rows are finished; ``jobs`` run at a time.

    A submission whose runner was killed is tried again at the end, alone. So it loses nothing by
    the fault of another one, and no other one loses anything by its fault.
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
    """Yield what is finished.

    When the runner is gone, first yield all that finished before, then raise NoRunner.
    """
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
