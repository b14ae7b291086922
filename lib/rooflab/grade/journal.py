"""What is finished: one small file a submission, written in one step.

A kill at any moment leaves whole entries only, so that the next run repeats nothing that is there
and misses nothing that is not. An entry counts for the same bytes of the same file, graded with
the same seed and limits by the same exercises; anything else is graded anew.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from functools import cache
from pathlib import Path
from typing import Any

import rooflab
from rooflab.grade import given
from rooflab.grade.intake import Submission
from rooflab.grade.results import Row
from rooflab.measure.atomic import replace_file

FOLDER = "journal"
SEED = "seed.json"
_ROOMS = ("count", "predict", "exercises", "golf", "cuda", "grade")  # what a verdict hangs on
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
        told = [submission.file, submission.digest, self._settings, _course(str(given.folder()))]
        key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:24]
        return self.folder / f"{key}.json"


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
def _course(notebooks: str) -> str:
    """Return a digest of the code and the lessons that verdicts hang on."""
    package = Path(rooflab.__file__).parent
    found = [path for room in _ROOMS for path in (package / room).rglob("*.py")]
    found += [package / "predict" / "machines.yaml", *Path(notebooks).glob("*.ipynb")]
    digest = hashlib.sha256(rooflab.__version__.encode())
    for path in sorted(found):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
