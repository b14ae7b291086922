"""What grading found, one row a file, and results.json as API.md fixes it.

The same seed gives the same bytes: no times, no addresses, no paths besides "file".
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rooflab.exercises.course import weighed
from rooflab.exercises.registry import exercises
from rooflab.exercises.verdict import Verdict
from rooflab.grade import display_names
from rooflab.grade.display_names import one_line
from rooflab.measure.store import replace_file

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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        """Return the row whose ``asdict`` is ``data``; TypeError or KeyError if it is none."""
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
        found = display_names.students([row.file for row in rows], [row.named for row in rows])
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


def weigh(row: Row, points: Mapping[str, int]) -> Row:
    """Return ``row`` with a course's own ``points`` (exercise id → points).

    Rows are kept with the lessons' points, so that other points need no second run.
    """
    verdicts = {id: weighed(verdict, points) for id, verdict in row.verdicts.items()}
    return replace(row, verdicts=verdicts)


# grades.csv: one row a file, for a spreadsheet.
#
# A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and names
# come from outside. Such a text gets an apostrophe in front, which spreadsheets do not show.


CSV_NAME = "grades.csv"
_RUNS = "=+-@\t\r\n|%＝＋－＠"  # the wide ones count as well in some languages' spreadsheets

# In some countries ; stands between cells, and what follows it is a cell of its own.
_LATER = re.compile(rf"([;\t\n\r])(?=[ \u00a0'\"]*[{re.escape(_RUNS)}])")


def text(results: Results) -> str:
    """Return the table: student, lesson, points, max, one column an exercise, error, file."""
    asked = {id for row in results.rows for id in row.verdicts}
    columns = [id for id in exercises() if id in asked]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "lesson", "points", "max", *columns, "error", "file"])
    for student, row in zip(results.students, results.rows, strict=True):
        points = [row.verdicts[id].points if id in row.verdicts else "" for id in columns]
        ends = [safe(row.error or ""), safe(one_line(row.file))]
        writer.writerow([safe(student), row.lesson or "", row.points, row.max, *points, *ends])
    return out.getvalue()


def write(results: Results, folder: Path) -> None:
    """Write grades.csv into ``folder`` in one step."""
    replace_file(folder / CSV_NAME, text(results))


def safe(words: str) -> str:
    """Return ``words`` so that no spreadsheet takes them for a formula."""
    words = _LATER.sub(r"\1'", words)
    return f"'{words}" if words.lstrip(" \u00a0'\"")[:1] in tuple(_RUNS) else words
