"""A runner for the tests: one a process, because a submission leaves nothing behind in it."""

from functools import cache

import pytest
from typer import testing

from rooflab.grade import launch
from rooflab.grade.launch import NotebookRunner
from tests.grade.support.notebooks import HALF, changed, put, solution
from tests.grade.support.small import one_long_case

testing._get_command = cache(testing._get_command)  # commands are put together once


@pytest.fixture(scope="session")
def runner():
    """A runner with the sandbox; where there is none, the reason is the skip's."""
    if why := launch.missing():
        pytest.skip(why)
    with NotebookRunner() as started:
        yield started


@pytest.fixture
def handed_in(tmp_path, monkeypatch):
    """Right, half right, another lesson, two with one stem, one torn."""
    one_long_case(monkeypatch)
    torn = tmp_path / "torn.ipynb"
    torn.write_text('{"cells": [', encoding="utf-8")
    return [
        put(tmp_path / "right.ipynb", solution("01")),
        put(tmp_path / "half.ipynb", changed({"01-product": HALF})),
        put(tmp_path / "mon" / "hw.ipynb", solution("00")),
        put(tmp_path / "fri" / "hw.ipynb", solution("03")),
        torn,
    ]
