"""Attacks on what makes the grader kind, each through ``rooflab grade``, honest ones between.

What an answer does is seen in the real sandbox. What slows the grader's own reading, or is only
written into its tables and pages, needs none.
"""

from __future__ import annotations

import csv
import json
import re

import pytest
from typer.testing import CliRunner

from rooflab.cli import app
from tests.grade.attacks.lenience import ATTACKS, PAGES, SLOW
from tests.grade.support import in_process
from tests.grade.support.notebooks import code, put, solution

EVERY = 16  # attacks between two honest hand-ins


def hand_in(exercise, answer, above):
    """A small notebook: the cells above, then the answer; no checks but the learner's."""
    cells = [one if isinstance(one, tuple) else (one, None) for one in above]
    cells += [(answer, exercise)] if answer else []
    marks = [{"rooflab": {"exercise": id}} if id else {} for _, id in cells]
    made = [code(source, **mark) for (source, _), mark in zip(cells, marks, strict=True)]
    lesson = {"rooflab": {"lesson": exercise[:2]}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": lesson, "cells": made}


def graded(folder, attacks, run):
    """The folder of grades: of ``attacks``, of honest ones before, between and behind."""
    for number, attack in enumerate(attacks):
        put(folder / "in" / f"attack-{number:02}.ipynb", hand_in(*attack))
        if number % EVERY == 0:
            put(folder / "in" / f"attack-{number:02}-honest.ipynb", solution("00"))
    put(folder / "in" / "z-honest.ipynb", solution("00"))
    words = [str(folder / "in"), "--out", str(folder / "out"), "--timeout", "6"]
    with pytest.MonkeyPatch.context() as patch:
        in_process.instead_of_the_sandbox(patch, run)
        done = CliRunner().invoke(app, ["grade", *words])  # an honest one needs half a second
    assert done.exit_code == 0, done.output
    return folder / "out"


def assert_none_paid(out, attacks):
    told = json.loads((out / "results.json").read_text("utf-8"))["submissions"]
    rows = {row["file"].rpartition("/")[2].removesuffix(".ipynb"): row for row in told}
    honest = [row for name, row in rows.items() if "honest" in name]
    assert len(honest) == 2 + (len(attacks) - 1) // EVERY
    assert all(row["points"] == row["max"] > 0 for row in honest)
    paid = {}
    for number, (name, (exercise, *_)) in enumerate(attacks.items()):
        row = rows[f"attack-{number:02}"]
        verdict = row["exercises"].get(exercise, {"points": 0, "reason": "not there"})
        if verdict["points"] or "grader itself" in (row["error"] or ""):
            paid[name] = verdict["reason"]
    assert not paid


def test_no_points_and_no_neighbour_lost(runner, tmp_path):
    assert_none_paid(graded(tmp_path, ATTACKS.values(), runner.run), ATTACKS)


def test_reading_takes_no_time_and_tables_and_pages_stay_what_they_are(tmp_path):
    for number, (student, answer) in enumerate(PAGES.values()):
        notebook = hand_in("00-time", answer, [])
        notebook["metadata"]["rooflab"]["student"] = student
        put(tmp_path / "in" / f"page-{number:02}.ipynb", notebook)
    put(tmp_path / "in" / "=1+1.ipynb", hand_in("00-time", "def time(*a): return 0", []))
    out = graded(tmp_path, SLOW.values(), in_process.run)
    assert_none_paid(out, SLOW)
    rows = [*csv.reader((out / "grades.csv").read_text("utf-8").splitlines())]
    assert all(len(row) == len(rows[0]) and max(map(len, row)) < 2000 for row in rows)
    assert not [cell for row in rows for cell in row if cell[:1] in tuple("=+-@\t")]
    honest = next(row for row in rows if row[-1].endswith("z-honest.ipynb"))
    assert honest[2] == honest[3]
    strange = [row for row in rows if re.search(r"page-\d\d\.ipynb$|1\+1\.ipynb$", row[-1])]
    assert [row[2] for row in strange] == ["0"] * (len(PAGES) + 1)
    pages = [*out.rglob("*.html")]
    assert len(pages) == len(rows) and {page.parent for page in pages} == {out, out / "students"}
    for page in pages:
        words = page.read_text("utf-8")
        assert not re.search(r"<script|<img src=x|[\x00\x1b\u202e]", words), page
