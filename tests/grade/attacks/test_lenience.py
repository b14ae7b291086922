"""Attacks on what makes the grader kind, each through ``rooflab grade`` in the real sandbox."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys

import pytest

from rooflab.grade import launch
from tests.grade.attacks.lenience import ATTACKS, PAGES
from tests.grade.support.notebooks import code, put, solution

SECONDS = 900  # of all hand-ins, generously: what is slow here is a hole
EVERY = 8  # attacks between two honest hand-ins


def hand_in(exercise, answer, above):
    """A small notebook: the cells above, then the answer; no checks but the learner's."""
    cells = [one if isinstance(one, tuple) else (one, None) for one in above]
    cells += [(answer, exercise)] if answer else []
    marks = [{"rooflab": {"exercise": id}} if id else {} for _, id in cells]
    made = [code(source, **mark) for (source, _), mark in zip(cells, marks, strict=True)]
    lesson = {"rooflab": {"lesson": exercise[:2]}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": lesson, "cells": made}


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """All attacks as one class, with honest ones before, between and behind; what came of it."""
    if why := launch.missing():
        pytest.skip(why)
    folder, out = tmp_path_factory.mktemp("in"), tmp_path_factory.mktemp("out")
    for number, attack in enumerate(ATTACKS.values()):
        put(folder / f"attack-{number:02}.ipynb", hand_in(*attack))
        if number % EVERY == 0:
            put(folder / f"attack-{number:02}-honest.ipynb", solution("00"))
    for number, (student, answer) in enumerate(PAGES.values()):
        notebook = hand_in("00-time", answer, [])
        notebook["metadata"]["rooflab"]["student"] = student
        put(folder / f"page-{number:02}.ipynb", notebook)
    put(folder / "=1+1.ipynb", hand_in("00-time", "def time(*a): return 0", []))
    put(folder / "z-honest.ipynb", solution("00"))
    words = ["grade", str(folder), "--out", str(out), "--timeout", "6"]  # honest ones need half one
    command = [sys.executable, "-m", "rooflab", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-2000:]
    return out


def test_no_points_and_no_neighbour_lost(out):
    told = json.loads((out / "results.json").read_text("utf-8"))["submissions"]
    rows = {row["file"].rpartition("/")[2].removesuffix(".ipynb"): row for row in told}
    honest = [row for name, row in rows.items() if "honest" in name]
    assert len(honest) == 2 + (len(ATTACKS) - 1) // EVERY
    assert all(row["points"] == row["max"] > 0 for row in honest)
    paid = {}
    for number, (name, (exercise, *_)) in enumerate(ATTACKS.items()):
        row = rows[f"attack-{number:02}"]
        verdict = row["exercises"].get(exercise, {"points": 0, "reason": "not there"})
        if verdict["points"] or "grader itself" in (row["error"] or ""):
            paid[name] = verdict["reason"]
    assert not paid


def test_tables_and_pages_stay_what_they_are(out):
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
