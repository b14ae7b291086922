"""``rooflab check`` as a learner types it; what may stop it in a real kernel."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import rooflab as rl
from rooflab.cli import app, checking
from rooflab.exercises.verdict import Verdict
from rooflab.grade import local_kernel
from tests.grade.support import in_process
from tests.grade.support.notebooks import HALF, REPOSITORY, changed, put, solution
from tests.support.rows import each_row


def check(*arguments, code):
    result = CliRunner().invoke(app, ["check", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert max(len(line) for line in result.stdout.splitlines() or [""]) <= 80
    return result.output


@pytest.fixture
def here(monkeypatch):
    """Answers run in this process."""
    monkeypatch.setattr(local_kernel, "run", lambda locked, *_: in_process.run(locked))


def test_all_right_is_exit_code_0(here, tmp_path):
    said = check(put(tmp_path / "hw.ipynb", solution("00")), code=0)
    assert "The free lunch" in said and "8 of 8 points" in said and "✗" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["hw.ipynb"]


def test_a_notebook_as_it_comes_is_not_answered_yet(here):
    notebook = next((REPOSITORY / "notebooks").glob("00_*.ipynb"))
    said = check(notebook, code=1)
    assert "0 of 8 points" in said and "Not answered yet: 00-bandwidth" in " ".join(said.split())


def test_what_is_wrong_is_said_with_its_hint(tmp_path):
    notebook = changed({
        "01-product": HALF,
        "01-witnesses": "def witnesses(n, itemsize)\n    return 2 * n",
        "01-name": "def name(flops, nbytes, itemsize):\n    while True:\n        pass",
        "01-three-intensities": "def intensities(n):\n    return rl.gemv(n, n).intensity, 1, 1",
    })  # fmt: skip
    said = " ".join(check(put(tmp_path / "hw.ipynb", notebook), "--timeout", "2", code=1).split())
    for told in (
        "✗ 01-product:", "multiply-adds: you counted multiply-adds", "✗ 01-name: it took longer",
        "there is no witnesses: its answer cell raised SyntaxError", "derive this yourself",
        "a right product in place of yours", "15 of 28 points",
    ):  # fmt: skip
        assert told in said, told


def test_a_kernel_that_dies_ends_the_check(tmp_path):
    notebook = changed({"00-time": "import os\nos._exit(1)"}, "00")
    said = check(put(tmp_path / "hw.ipynb", notebook), code=1)
    assert "3 of 8 points" in said and " ".join(said.split()).count("the kernel died") == 2


def test_the_cases_are_those_of_the_notebooks_own_check(here, tmp_path):
    source = "def speed_limit(peak, bandwidth, itemsize):\n    return peak / bandwidth"
    notebook = put(tmp_path / "hw.ipynb", changed({"01-speed-limit": source}))
    said = " ".join(check(notebook, code=1).split())
    assert rl.check("01-speed-limit", lambda peak, bandwidth, _: peak / bandwidth).reason in said


@each_row(("{", "not a notebook"), ("", "empty"), ('{"nbformat": 4, "cells": []}', "no exercise"))
def test_what_is_no_lesson_is_one_line_and_exit_code_2(raw, told, tmp_path):
    (tmp_path / "x.ipynb").write_text(raw, encoding="utf-8")
    said = check(tmp_path / "x.ipynb", code=2)
    assert told in said and len(said.strip().splitlines()) == 1
    assert "--timeout" in check(tmp_path / "x.ipynb", "--timeout", "0", code=2)


def test_notes_are_shown(capsys):
    checking.report({"01-name": Verdict("01-name", True, 1, 1, "right", note="on the stand-in")})
    assert "on the stand-in" in capsys.readouterr().out
