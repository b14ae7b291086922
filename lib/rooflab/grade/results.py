"""What grading found, one row a file, and results.json as API.md fixes it.

The same seed gives the same bytes: no times, no addresses, no paths besides "file".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rooflab.exercises.verdict import Verdict
from rooflab.grade import names
from rooflab.measure.atomic import replace_file

NAME = "results.json"


@dataclass(frozen=True)
class Row:
    """One file of the class.

    ``named``: the student's name as the notebook gives it; ``error``: why nothing, or not all of
    it, could be graded; ``verdicts``: exercise id → verdict, empty for a refused file;
    ``printed``: exercise id → what the answer cell showed; ``remarks``: what was odd.
    """

    file: str
    named: str | None = None
    lesson: str | None = None
    error: str | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    printed: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        """Points that the submission has."""
        return sum(verdict.points for verdict in self.verdicts.values())

    @property
    def max(self) -> int:
        """Points that it could have; 0 for a refused file."""
        return sum(verdict.max for verdict in self.verdicts.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        """Return the row that :meth:`to_dict` wrote; TypeError or KeyError if it is none."""
        verdicts = {id: Verdict(**one) for id, one in data["verdicts"].items()}
        return cls(**{**data, "verdicts": verdicts, "remarks": tuple(data["remarks"])})


@dataclass(frozen=True)
class Results:
    """The class: its ``seed``, its ``rows`` in the order of the files, a name for each row."""

    seed: int
    rows: tuple[Row, ...]
    students: tuple[str, ...]

    @classmethod
    def of(cls, seed: int, rows: Sequence[Row]) -> Results:
        """Name the students: by the notebook, else by the file, made unique by folder."""
        found = names.students([row.file for row in rows], [row.named for row in rows])
        return cls(seed, tuple(rows), tuple(found))

    def to_dict(self) -> dict[str, Any]:
        """Return results.json as plain data."""
        return {
            "seed": self.seed,
            "submissions": [
                {
                    "file": row.file,
                    "student": student,
                    "lesson": row.lesson,
                    "points": row.points,
                    "max": row.max,
                    "error": row.error,
                    "exercises": {
                        id: {"points": one.points, "max": one.max, "reason": reason(one)}
                        for id, one in row.verdicts.items()
                    },
                }
                for student, row in zip(self.students, self.rows, strict=True)
            ],
        }

    def write(self, folder: Path) -> None:
        """Write results.json into ``folder`` in one step."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
        replace_file(folder / NAME, text + "\n")


def reason(verdict: Verdict) -> str:
    """Return one line: what the verdict says, with the named mistake and its hint."""
    if not verdict.hint:
        return verdict.reason
    return f"{verdict.reason} ({verdict.misconception}: {verdict.hint})"
