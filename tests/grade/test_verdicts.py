"""What a learner reads about an answer that did not end."""

from __future__ import annotations

import pytest

from rooflab.grade import intake, lesson_notebook, verdicts
from rooflab.grade.locked_notebook import Outcome
from rooflab.grade.merge import merge
from tests.grade.support import in_process
from tests.grade.support.notebooks import put, solution
from tests.grade.support.small import RIGHT, SOON, honest, locked


@pytest.fixture
def ran(tmp_path):
    read = intake.read(put(tmp_path / "x.ipynb", solution("00")))
    lesson = lesson_notebook.lesson("00")
    merged = merge(read, lesson, 7)
    return merged, in_process.run(merged), lesson


def reason(ran, seen, printed=""):
    merged, outcome, lesson = ran
    observations = {**outcome.observations, "00-time": seen}
    changed = Outcome(observations, printed={"00-time": printed})
    return verdicts.judge_outcome(merged, changed, lesson)["00-time"].reason


def test_a_function_without_an_end_is_not_told_of_a_key_that_nobody_pressed(ran):
    count = len(ran[0].cases["00-time"])
    told = reason(ran, [{"error": "KeyboardInterrupt"}] * count)
    assert told.startswith("`time(k=") and told.endswith(verdicts.ENDLESS)


def test_nor_is_a_cell_without_an_end(ran):
    lost = [{"error": "NameError: name 'time' is not defined"}] * len(ran[0].cases["00-time"])
    told = reason(ran, lost, "so far\nKeyboardInterrupt: ")
    assert told == f"there is no time: its answer cell {verdicts.ENDLESS}"
    assert "answer cell raised ValueError: no" in reason(ran, lost, "ValueError: no")


def test_exit_costs_nothing_that_depends_on_how_busy_the_machine_is(runner):
    nap = "import time\ntime.sleep(0.3)\n"
    shuts = "get_ipython().kernel.do_shutdown(True)\n"
    answers = ("exit()\n" + honest(0), nap + honest(1), "quit()\n" + nap, shuts + nap, honest(4))
    outcome = runner.run(locked(*answers), SOON)
    assert [outcome.observations[f"01-e{n}"] == RIGHT for n in range(5)] == [1, 1, 0, 0, 1]
    assert not outcome.reasons and outcome.stopped is None
