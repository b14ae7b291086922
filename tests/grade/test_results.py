"""results.json and grades.csv: the same seed gives the same bytes."""

from __future__ import annotations

import csv
import io
import json

import pytest

from rooflab.grade import results as table
from rooflab.grade.locked_notebook import Outcome
from rooflab.grade.results import Results, Row
from tests.grade.support.in_process import grade


def test_results_json_is_as_the_api_fixes_it(handed_in, tmp_path):
    Results.of(7, grade(handed_in, tmp_path / "out")).write(tmp_path / "out")
    data = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert set(data) == {"seed", "submissions"} and data["seed"] == 7
    for entry in data["submissions"]:
        assert list(entry) == ["file", "student", "lesson", "points", "max", "error", "exercises"]
        for one in entry["exercises"].values():
            assert set(one) == {"points", "max", "reason"}
        assert entry["points"] == sum(one["points"] for one in entry["exercises"].values())
        assert entry["max"] == sum(one["max"] for one in entry["exercises"].values())
    right, half, monday, friday, torn = data["submissions"]
    assert (right["points"], right["max"], right["error"]) == (28, 28, None)
    assert half["points"] == 24 and half["exercises"]["01-product"]["points"] == 0
    assert "you counted multiply-adds" in half["exercises"]["01-product"]["reason"]
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


def test_a_sandbox_that_runs_nothing_gives_nobody_zero(handed_in, tmp_path):
    with pytest.raises(RuntimeError, match="known right answer"):
        grade(handed_in, tmp_path / "out", runner=lambda *_: Outcome({}, {}, {}, "it is broken"))


NAMES = ['=HYPERLINK("http://x")', "+1", "-1+2", "@SUM(A1)", "|x", " =1", "'=1", "＝1", 'a"b,c']


def test_no_name_is_a_formula_in_a_spreadsheet(tmp_path):
    rows = [Row(f"{n}.ipynb", named=name, error="=1+1") for n, name in enumerate(NAMES)]
    found = list(csv.DictReader(io.StringIO(table.text(Results.of(1, rows)))))
    assert len(found) == len(NAMES)
    for line in found[:-1]:
        assert line["student"].startswith("'") and line["error"] == "'=1+1"
    assert found[-1]["student"] == 'a"b,c'
    assert table.safe("Ann-Marie = x") == "Ann-Marie = x"
    assert table.safe("Ann; Bob") == "Ann; Bob"
    assert table.safe("x; =1+1;.ipynb") == "x;' =1+1;.ipynb", "; parts the cells in some countries"


def test_the_table_has_a_column_an_exercise(handed_in, tmp_path):
    results = Results.of(7, grade(handed_in, tmp_path / "out"))
    found = list(csv.DictReader(io.StringIO(table.text(results))))
    assert found[1]["01-product"] == "0" and found[1]["00-peak"] == ""
    columns = [name for name in found[0] if name[:2].isdigit()]
    assert columns == sorted(columns, key=lambda name: name[:2]) and len(columns) == 24
    assert {line["points"] for line in found} == {"28", "24", "8", "22", "0"}
