"""A check says when it judges an answer that is older than its cell."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from rooflab.exercises.check import RENAMED, STALE
from rooflab.exercises.handed_in import RUNS
from tests.support.rows import each_row

RIGHT = "def speed_limit(p, b, s):\n    return p / b * 1.5 * s"
CHECK = 'verdict = rl.check("01-speed-limit", speed_limit)'
CLAIM = 'verdict = rl.check("01-claim-1365", claim)'


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Run cells in an IPython of its own; return the note of the last verdict."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))

    def run(*cells):
        for cell in ("import rooflab as rl", *cells):
            shell.run_cell(cell, store_history=True)
        return shell.user_ns["verdict"].note

    yield run
    InteractiveShell.clear_instance()


BYTES = 'verdict = rl.check("02-numpy-bytes", bytes_moved)'
GIVES = "def given(n):\n    x = !ls\n    return n\n"
ANSWER = "def bytes_moved(n, s):\n    return 5 * n * s, 3 * n * s"


@each_row(
    ("def bytes_moved(n, s):\n    !ls\n    return 5 * n * s, 3 * n * s", BYTES),
    (GIVES + ANSWER.replace("n *", "given(n) *", 1), BYTES),
    ("files = !ls\nclaim = (682.7 if files else 0, 2)", CLAIM),
    ("import os\n" + ANSWER.replace("5 *", "len(os.popen('echo 5').read()) // 2 * 5 *"), BYTES),
)
def test_a_program_that_an_answer_runs_is_told(cell, check, notes, capfd):
    assert notes(cell, check) == f"Look out: {RUNS}."


@each_row(
    ("files = !ls\n" + ANSWER, BYTES),
    (GIVES + ANSWER, BYTES),
    ("import platform\n" + ANSWER.replace("5 *", "(5 if platform.system() else 5) *"), BYTES),
    ("files = !ls\nclaim = (682.7, 2)", CLAIM),
)
def test_a_program_beside_the_answer_is_not_told(cell, check, notes, capfd):
    assert notes(cell, check) is None


BROKEN = [
    "def speed_limit(p, b, s):\n    return p / b * (1.5 * s",  # no Python
    "1 / 0\ndef speed_limit(p, b, s):\n    return p",  # raised before the definition
    "def speed_limit(p, b, s):\nreturn p",
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_function_whose_cell_failed_since_is_told(notes, broken, capsys):
    assert notes(RIGHT, CHECK) is None
    assert notes(RIGHT, broken, CHECK) == STALE
    assert notes(RIGHT, broken, broken, "other = 3", CHECK) == STALE
    assert notes(broken, RIGHT, CHECK) is None


@pytest.mark.parametrize("broken", ["claim = (1, 2", "claim = 1 / 0, 2", "claim = claims + 1"])
def test_a_value_whose_cell_failed_since_is_told(notes, broken, capsys):
    assert notes("claim = (682.7, 2)", CLAIM) is None
    assert notes("claim = (682.7, 2)", broken, CLAIM) == STALE
    assert notes(broken, "claim = (682.7, 2)", CLAIM) is None


MISSPELT = RIGHT.replace("speed_limit", "sped_limit")
STUB = "def speed_limit(p, b, s): ..."


@pytest.mark.parametrize("first", [STUB, RIGHT])
def test_a_misspelt_name_is_told(notes, first):
    assert notes(first, MISSPELT, CHECK) == RENAMED.format("speed_limit", "sped_limit")
    assert notes(first, MISSPELT, "other = 3", CHECK) is not None
    assert notes(first, MISSPELT, RIGHT, CHECK) is None


@pytest.mark.parametrize(
    "cells",
    [
        [MISSPELT, RIGHT, CHECK],
        [RIGHT, "def sped_limit(p): return p", CHECK],  # has other arguments
        [RIGHT, "def speed(p, b, s): return p", CHECK],
        [RIGHT, RIGHT + "\n" + MISSPELT, CHECK],
        [RIGHT, "speed_limit.__doc__ = 'mine'", CHECK],
        [RIGHT + "\n" + CHECK],
        [RIGHT, "def other():\n    def speed_limit(): pass", CHECK],
        [RIGHT, "1 / 0", CHECK],
        ["speed_limit = lambda p, b, s: p / b * 1.5 * s", CHECK],
        ["import functools", "speed_limit = functools.partial(lambda p, b, s: p)", CHECK],
        ["claim = later", "later = 3", "claim = 5", "claim = later", CLAIM],
    ],
)
def test_otherwise_nothing_is_said(notes, cells, capsys):
    assert notes(*cells) is None
