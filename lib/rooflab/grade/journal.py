"""What is finished: one small file a submission, written in one step.

A kill at any moment leaves whole entries only, so that the next run repeats nothing that is there
and misses nothing that is not. An entry counts for the same bytes of the same file, graded with
the same seed and limits by the same exercises; anything else is graded anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import rooflab
from rooflab.grade import given
from rooflab.grade.intake import Submission
from rooflab.grade.results import Row
from rooflab.measure.atomic import replace_file

try:
    import fcntl
except ImportError:  # Windows: there two graders in one folder are not told apart
    fcntl = None

FOLDER = "journal"
SEED = "seed.json"
LOCK = "lock"
_TORN = re.compile(r"\.[0-9a-f]{8}\.new$")  # what replace_file leaves when it is killed
# What a verdict hangs on.
_ROOMS = ("count", "predict", "measure", "golf", "cuda", "exercises", "grade")
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
        replace_file(self._path(submission), json.dumps(row.to_dict(), ensure_ascii=False) + "\n")

    def _path(self, submission: Submission) -> Path:
        told = [submission.file, submission.digest, self._settings, code_digest(),
                _asked(submission.lesson, str(given.folder()))]  # fmt: skip
        key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:24]
        return self.folder / f"{key}.json"


@contextmanager
def alone(out: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Be the only grader that writes into ``out``; ``waiting`` is called if another one is there.

    The other one is waited for: what it finishes need not be run again. Its end, also by a kill,
    gives the folder free; what it was just writing is cleared away.
    """
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            _sweep(out)
        yield
    finally:
        os.close(descriptor)


def _sweep(out: Path) -> None:
    """Remove what a killed grader left half written, in ``out`` and one folder below."""
    for pattern in ("*.new", "*/*.new"):
        for path in out.glob(pattern):
            if _TORN.search(path.name) and path.is_file():
                path.unlink()


def seed_for(out: Path, seed: int | None) -> int:
    """Return ``seed``, else the one that an interrupted run in ``out`` drew, else a new secret."""
    kept = out / FOLDER / SEED
    if seed is None:
        try:
            found = json.loads(kept.read_text(encoding="utf-8"))
            seed = found if type(found) is int else None
        except (OSError, ValueError):
            seed = None
    if seed is None:
        seed = secrets.randbits(_BITS)
    kept.parent.mkdir(parents=True, exist_ok=True)
    replace_file(kept, f"{seed}\n")
    return seed


@cache
def code_digest() -> str:
    """Return a digest of rooflab's version and of the code that verdicts hang on."""
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
    lesson = given.lesson(number)
    told = [lesson.order, dict(lesson.given), dict(lesson.names), sorted(lesson.sources)]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
