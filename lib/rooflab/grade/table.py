"""grades.csv: one row a file, for a spreadsheet.

A spreadsheet runs a cell that begins with ``=`` or its like as a formula, and names come from
outside; such a text gets an apostrophe in front, which spreadsheets do not show.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from rooflab.exercises.registry import exercises
from rooflab.grade.names import one_line
from rooflab.grade.results import Results
from rooflab.measure.atomic import replace_file

NAME = "grades.csv"
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
    replace_file(folder / NAME, text(results))


def safe(words: str) -> str:
    """Return ``words`` so that no spreadsheet takes them for a formula."""
    words = _LATER.sub(r"\1'", words)
    return f"'{words}" if words.lstrip(" \u00a0'\"")[:1] in tuple(_RUNS) else words
