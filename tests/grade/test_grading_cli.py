"""``rooflab grade`` as a teacher types it."""

from __future__ import annotations

import json
import os
import sys

import pytest
from typer.testing import CliRunner

from rooflab.cli import app, grading
from rooflab.grade import launch, pipeline
from tests.grade.support import in_process
from tests.grade.support.notebooks import HALF, changed, put, solution

WRONG = {"01-product": HALF}


@pytest.fixture
def plain(monkeypatch):
    """The class is run in this process; none of its notebooks is hostile."""
    in_process.instead_of_the_sandbox(monkeypatch)


def rooflab(*arguments, code=0):
    result = CliRunner().invoke(app, ["grade", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


def results(out):
    return json.loads((out / "results.json").read_text("utf-8"))["submissions"]


def test_a_class_gets_grades_and_pages(plain, tmp_path):
    put(tmp_path / "in" / "ann.ipynb", solution("01"))
    put(tmp_path / "in" / "bob.ipynb", changed(WRONG))
    (tmp_path / "in" / "cem.ipynb").write_bytes(b"")
    said = rooflab(tmp_path / "in", "--out", tmp_path / "out", "--seed", 3, "--jobs", 2)
    assert "3 files, 2 graded, seed 3" in said and "cem.ipynb: the file is empty" in said
    assert [one["points"] for one in results(tmp_path / "out")] == [28, 24, 0]
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "results.json", "grades.csv", "index.html", "students", "journal",
    }  # fmt: skip


def test_paths_stay_as_they_were_given(plain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "in put" / "ä'.ipynb", solution("00"))
    rooflab("in put/ä'.ipynb", "--out", "out")
    assert results(tmp_path / "out")[0]["file"] == "in put/ä'.ipynb"
    assert results(tmp_path / "out")[0]["student"] == "ä'"


def test_a_pattern_that_names_nothing_is_an_error_and_a_missing_file_a_row(plain, tmp_path):
    said = rooflab(tmp_path / "*.ipynb", "--out", tmp_path / "out", code=2)
    assert "names no file" in said and not (tmp_path / "out").exists()
    path = put(tmp_path / "a.ipynb", solution("00"))
    rooflab(path, tmp_path / "b.ipynb", "--out", tmp_path / "out")
    assert results(tmp_path / "out")[1]["error"] == "there is no such file"


def test_a_folder_that_cannot_be_looked_into_is_a_row(plain, tmp_path, monkeypatch):
    put(tmp_path / "in" / "a.ipynb", solution("00"))
    put(tmp_path / "in" / "shut" / "b.ipynb", solution("00"))
    original = os.scandir

    def scandir(path):
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return original(path)

    monkeypatch.setattr(os, "scandir", scandir)
    rooflab(tmp_path / "in", "--out", tmp_path / "out")
    rows = results(tmp_path / "out")
    assert [row["points"] for row in rows] == [8, 0]
    assert rows[1]["file"].endswith("in/shut") and "folder" in rows[1]["error"]


def test_out_that_is_a_file_is_an_error(plain, tmp_path):
    path = put(tmp_path / "a.ipynb", solution("00"))
    assert "--out" in rooflab(path, "--out", path, code=2)


def test_without_a_sandbox_nothing_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "missing", lambda: "grading needs bubblewrap")
    path = put(tmp_path / "a.ipynb", solution("00"))
    assert "needs bubblewrap" in rooflab(path, "--out", tmp_path / "out", code=2)
    assert not (tmp_path / "out" / "results.json").exists()


def test_a_stop_says_how_to_go_on(plain, tmp_path, monkeypatch):
    left = []
    monkeypatch.setattr(grading, "_leave", lambda code: left.append(code) or sys.exit(code))

    def stop(locked, limits):
        if len(locked.cases) > 1:
            raise KeyboardInterrupt
        return in_process.run(locked)

    in_process.instead_of_the_sandbox(monkeypatch, stop)
    path = put(tmp_path / "a.ipynb", solution("00"))
    assert "nothing is lost" in rooflab(path, "--out", tmp_path / "out", code=130)
    assert left == [130]


def test_the_graders_own_fault_is_a_row_is_told_and_is_tried_again(plain, tmp_path, monkeypatch):
    def broken(locked, limits):
        if len(locked.cases) > 1:
            raise OSError("no room")
        return in_process.run(locked)

    in_process.instead_of_the_sandbox(monkeypatch, broken)
    path = put(tmp_path / "a.ipynb", solution("00"))
    assert "tries it again" in rooflab(path, "--out", tmp_path / "out")
    assert results(tmp_path / "out")[0]["points"] == 0
    in_process.instead_of_the_sandbox(monkeypatch)
    rooflab(path, "--out", tmp_path / "out")
    assert results(tmp_path / "out")[0]["points"] == 8


def test_a_full_disk_is_one_line_and_what_is_finished_is_kept(plain, tmp_path, monkeypatch):
    for number in range(3):
        put(tmp_path / "in" / f"{number}.ipynb", solution("00"))
    kept = []

    def add(self, submission, row):
        if kept:
            raise OSError(28, "No space left on device")
        kept.append(original(self, submission, row))

    original = pipeline.Journal.add
    monkeypatch.setattr(pipeline.Journal, "add", add)
    words = (tmp_path / "in", "--out", tmp_path / "out", "--jobs", 1)
    said = rooflab(*words, code=2)
    assert "No space left" in said and "goes on from here" in said and said.count("\n") == 1
    monkeypatch.undo()
    in_process.instead_of_the_sandbox(monkeypatch)
    assert len(list((tmp_path / "out" / "journal").glob("*.json"))) == 2  # the seed, the first
    rooflab(*words)
    assert [one["points"] for one in results(tmp_path / "out")] == [8, 8, 8]


def test_a_longer_time_is_also_processor_time(tmp_path, monkeypatch):
    """It is as many times longer as the machine has more to do than processors."""
    seen = []

    def run(locked, limits):
        seen.append(limits)
        return in_process.run(locked)

    in_process.instead_of_the_sandbox(monkeypatch, run)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    path = put(tmp_path / "a.ipynb", solution("00"))
    for seconds, load, wall, cpu in ((45, 1, 45, 60), (300, 1, 300, 300), (45, 5, 135, 60)):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0, 0))
        rooflab(path, "--out", tmp_path / f"{seconds}{load}", "--timeout", seconds)
        assert {(limits.wall, limits.cpu) for limits in seen} == {(wall, cpu)}
        seen.clear()
