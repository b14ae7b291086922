"""The time that an answer has: what it computes counts, and each costs its own points only."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from rooflab.exercises.observe.observation import WAITED
from rooflab.grade import worker
from rooflab.grade.inside.limits import Limits
from tests.grade.support.small import RIGHT, honest, locked

ENDLESS = "def f{0}(m, n):\n    while True:\n        pass"
NAP = "import time\ndef f{0}(m, n):\n    time.sleep({1})\n    return m * n"
LONG = """import time
def f0(m, n):
    begun = time.thread_time()
    while time.thread_time() < begun + 0.4: pass
    return m * n"""
SOON = Limits(wall=6, cell=2.5, cpu=30)


def test_three_endless_answers_cost_three_exercises(runner):
    sources = [ENDLESS.format(n) if n < 3 else honest(n) for n in range(5)]
    outcome = runner.run(locked(*sources), SOON)
    right = [id for id, seen in outcome.observations.items() if seen == RIGHT]
    assert right == ["01-e3", "01-e4"]
    assert outcome.stopped is None and len(outcome.observations) == 5


def test_a_pause_costs_nothing_and_one_without_end_is_told_so(runner):
    limits = Limits(wall=60, cell=0.3)  # 2 s by the clock
    outcome = runner.run(locked(NAP.format(0, 0.4), NAP.format(1, 100), honest(2)), limits)
    assert outcome.observations["01-e0"] == outcome.observations["01-e2"] == RIGHT
    errors = {one["error"] for one in outcome.observations["01-e1"]}
    assert errors == {f"KeyboardInterrupt{WAITED}"}


@pytest.mark.slow
def test_a_busy_machine_refuses_nobody(runner):
    """Two cases of 0.4 s each take more than their second by the clock where others compute too."""
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        outcome = runner.run(locked(LONG, ENDLESS.format(1)), Limits(wall=60, cell=1))
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert outcome.observations["01-e0"] == RIGHT
    assert outcome.observations["01-e1"] != RIGHT


def test_the_time_of_a_submission_grows_with_the_load(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    for load, wall in ((0.1, 45), (4, 45), (10, 135), (40, 450)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0, 0))
        assert Limits(wall=45).under_load() == replace(Limits(), wall=wall)


def test_a_cell_may_take_its_limit_where_little_else_is_to_come():
    reporter = worker.Reporter({"01-e0": "word"}, Limits(wall=45, cell=10), print, print)
    assert reporter._seconds(10) == 10 and 44 < reporter._seconds(60) <= 45
    words = dict.fromkeys(map(str, range(15)), "w")
    many = worker.Reporter(words, Limits(wall=45), print, print)
    assert many._seconds(10) == 10 and many._seconds(60) == pytest.approx(24, abs=0.5)
    many.end -= 25
    assert 1.4 < many._seconds(10) < 1.6, "half of the time is shared out"


def test_an_overall_limit_stays(runner):
    own = "import time\n" + ENDLESS.format(0) + "\nwhile True: time.sleep(0.1)"
    short = Limits(wall=2, cell=8, cpu=30)
    outcome = runner.run(locked(own, own.replace("f0", "f1")), short)
    assert "01-e1" in outcome.reasons and outcome.stopped == "stopped after 2 s"
