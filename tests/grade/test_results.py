"""results.json, grades.csv, the journal: the same seed gives the same bytes, a kill loses nothing."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext

import pytest

from rooflab.grade import pipeline, table
from rooflab.grade.journal import FOLDER, Journal, seed_for
from rooflab.grade.limits import Limits
from rooflab.grade.locked import Outcome
from rooflab.grade.results import Results, Row
from tests.grade import in_process
from tests.grade.notebooks import REPOSITORY, changed, put, solution

LIMITS = Limits()
WRONG = {"01-flops": "def flops(m, n, k):\n    return m * n * k"}


def grade(files, out, seed=7, runner=in_process.run, **more):
    out.mkdir(exist_ok=True)
    return pipeline.grade(files, out, seed, lambda: nullcontext(runner), limits=LIMITS, **more)


@pytest.fixture
def handed_in(tmp_path):
    """Right, half right, another lesson, two with one stem, one torn."""
    torn = tmp_path / "torn.ipynb"
    torn.write_text('{"cells": [', encoding="utf-8")
    return [
        put(tmp_path / "right.ipynb", solution("01")),
        put(tmp_path / "half.ipynb", changed(WRONG)),
        put(tmp_path / "mon" / "hw.ipynb", solution("00")),
        put(tmp_path / "fri" / "hw.ipynb", solution("03")),
        torn,
    ]


def counting(calls):
    def run(locked, limits):
        if len(locked.cases) > 1:  # not the known right answer that is run first
            calls.append(locked.lesson)
        return in_process.run(locked)

    return run


def test_results_json_is_as_the_api_fixes_it(handed_in, tmp_path):
    Results.of(7, grade(handed_in, tmp_path / "out")).write(tmp_path / "out")
    data = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert set(data) == {"seed", "submissions"} and data["seed"] == 7
    for entry in data["submissions"]:
        assert list(entry) == [
            "file", "student", "lesson", "points", "max", "error", "exercises",
        ]  # fmt: skip
        for one in entry["exercises"].values():
            assert set(one) == {"points", "max", "reason"}
        assert entry["points"] == sum(one["points"] for one in entry["exercises"].values())
        assert entry["max"] == sum(one["max"] for one in entry["exercises"].values())
    right, half, monday, friday, torn = data["submissions"]
    assert (right["points"], right["max"], right["error"]) == (23, 23, None)
    assert half["points"] == 22 and half["exercises"]["01-flops"]["points"] == 0
    assert "you counted multiply-adds" in half["exercises"]["01-flops"]["reason"]
    assert [monday["student"], friday["student"]] == ["mon/hw", "fri/hw"]
    assert torn["error"] and (torn["points"], torn["max"], torn["exercises"]) == (0, 0, {})
    assert [entry["file"] for entry in data["submissions"]] == [p.as_posix() for p in handed_in]


def test_the_same_seed_gives_the_same_bytes_whatever_the_jobs(handed_in, tmp_path):
    texts = set()
    for number, jobs in enumerate((1, 3)):
        out = tmp_path / f"out{number}"
        Results.of(7, grade(handed_in, out, jobs=jobs)).write(out)
        texts.add((out / "results.json").read_bytes())
    assert len(texts) == 1


def test_what_is_finished_is_not_run_again(handed_in, tmp_path):
    calls = []
    first = grade(handed_in, tmp_path / "out", runner=counting(calls))
    assert len(calls) == 4
    assert grade(handed_in, tmp_path / "out", runner=None) == first, "no workshop is even opened"
    handed_in[0].write_text(json.dumps(changed(WRONG)), encoding="utf-8")
    again = grade(handed_in, tmp_path / "out", runner=counting(calls))
    assert len(calls) == 5 and again[0].points == 22 and again[1:] == first[1:]
    grade(handed_in, tmp_path / "out", seed=8, runner=counting(calls))
    assert len(calls) == 9


def test_a_damaged_entry_is_graded_again(handed_in, tmp_path):
    first = grade(handed_in, tmp_path / "out")
    entries = sorted((tmp_path / "out" / FOLDER).glob("*.json"))
    for entry, text in zip(entries, ("", '{"file": 3}', "[1]", '{"verdicts": {"x": {}}}')):
        entry.write_text(text, encoding="utf-8")
    assert grade(handed_in, tmp_path / "out") == first


def test_a_stop_keeps_what_was_finished(handed_in, tmp_path):
    seen = []

    def stop(row):
        seen.append(row)
        if len(seen) == 3:  # the torn one and two that ran
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(handed_in, tmp_path / "out", progress=stop)
    calls = []
    rows = grade(handed_in, tmp_path / "out", runner=counting(calls))
    assert len(calls) == 2 and [row.points for row in rows[:2]] == [23, 22]


KILLED = """
import os, signal, sys
from contextlib import nullcontext
from pathlib import Path
from rooflab.grade import pipeline
from rooflab.grade.limits import Limits
from tests.grade import in_process
files, out, left = sys.argv[1].split("|"), Path(sys.argv[2]), [int(sys.argv[3])]
def run(locked, limits):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return in_process.run(locked)
pipeline.grade([Path(f) for f in files], out, 7, lambda: nullcontext(run), limits=Limits())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_killed_again_and_again_it_gets_done(handed_in, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    told = "|".join(map(str, handed_in))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    finished = []
    for allowed in (1, 2, 3):  # the known right answer counts as one each time
        command = [sys.executable, "-c", KILLED, told, str(out), str(allowed)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
        finished.append(len(list((out / FOLDER).glob("*.json"))))
    assert finished[-1] < 4 and finished == sorted(finished)
    calls = []
    rows = grade(handed_in, out, runner=counting(calls))
    assert len(calls) == 4 - finished[-1]
    assert rows == grade(handed_in, tmp_path / "fresh")


def test_two_writers_leave_whole_entries(handed_in, tmp_path):
    ways = [threading.Thread(target=grade, args=(handed_in, tmp_path / "out")) for _ in range(3)]
    for way in ways:
        way.start()
    for way in ways:
        way.join()
    for entry in (tmp_path / "out" / FOLDER).iterdir():
        json.loads(entry.read_text("utf-8"))
    assert grade(handed_in, tmp_path / "out", runner=None)[0].points == 23


def test_the_graders_own_fault_is_a_row_and_is_tried_again(handed_in, tmp_path):
    def broken(locked, limits):
        if len(locked.cases) > 1:
            raise OSError("no space left")
        return in_process.run(locked)

    row = grade(handed_in[:1], tmp_path / "out", runner=broken)[0]
    assert "no space left" in row.error and (row.points, row.max) == (0, 23)
    assert grade(handed_in[:1], tmp_path / "out")[0].points == 23


def test_a_workshop_that_was_killed_gets_a_second_try(handed_in, tmp_path):
    lost = []

    def fragile(locked, limits):
        if len(locked.cases) > 1 and not lost:
            lost.append(True)
            return Outcome({}, {}, {}, pipeline.LOST)
        return in_process.run(locked)

    assert grade(handed_in[:1], tmp_path / "out", runner=fragile)[0].points == 23


def test_a_sandbox_that_runs_nothing_gives_nobody_zero(handed_in, tmp_path):
    with pytest.raises(RuntimeError, match="known right answer"):
        grade(handed_in, tmp_path / "out", runner=lambda *_: Outcome({}, {}, {}, "it is broken"))


def test_a_drawn_seed_stays_for_the_next_run(tmp_path):
    drawn = seed_for(tmp_path, None)
    assert seed_for(tmp_path, None) == drawn < 2**53
    assert seed_for(tmp_path, 3) == 3 == seed_for(tmp_path, None)
    assert seed_for(tmp_path / "other", None) != drawn
    (tmp_path / FOLDER / "seed.json").write_text("torn{", encoding="utf-8")
    assert isinstance(seed_for(tmp_path, None), int)


def test_a_folder_that_cannot_be_written_is_said_at_once(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OSError, match="out"):
        Journal(tmp_path / "out", {})


NAMES = ['=HYPERLINK("http://x")', "+1", "-1+2", "@SUM(A1)", "|x", " =1", "'=1", "＝1", 'a"b,c']


def test_no_name_is_a_formula_in_a_spreadsheet(tmp_path):
    rows = [Row(f"{n}.ipynb", named=name, error="=1+1") for n, name in enumerate(NAMES)]
    found = list(csv.DictReader(io.StringIO(table.text(Results.of(1, rows)))))
    assert len(found) == len(NAMES)
    for line in found[:-1]:
        assert line["student"].startswith("'") and line["error"] == "'=1+1"
    assert found[-1]["student"] == 'a"b,c'
    assert table.safe("Ann-Marie = x") == "Ann-Marie = x"


def test_the_table_has_a_column_an_exercise(handed_in, tmp_path):
    results = Results.of(7, grade(handed_in, tmp_path / "out"))
    found = list(csv.DictReader(io.StringIO(table.text(results))))
    assert found[1]["01-flops"] == "0" and found[1]["00-ridge"] == ""
    columns = [name for name in found[0] if name[:2].isdigit()]
    assert columns == sorted(columns, key=lambda name: name[:2]) and len(columns) == 30
    assert {line["points"] for line in found} == {"23", "22", "7", "18", "0"}
