"""Answers that do not end cost their own points: every other exercise keeps a share of the time."""

from rooflab.grade import worker
from rooflab.grade.inside.limits import Limits
from tests.grade.support.small import RIGHT, honest, locked

ENDLESS = "def f{0}(m, n):\n    while True:\n        pass"
SOON = Limits(wall=12, cell=5, cpu=30)


def test_five_endless_answers_cost_five_exercises(runner):
    sources = [ENDLESS.format(n) if n < 5 else honest(n) for n in range(10)]
    outcome = runner.run(locked(*sources), SOON)
    right = [f"01-e{n}" for n in range(5, 10)]
    assert [id for id, seen in outcome.observations.items() if seen == RIGHT] == right
    assert outcome.stopped is None and len(outcome.observations) == 10


def test_a_cell_may_take_its_limit_where_little_else_is_to_come():
    reporter = worker.Reporter({"01-e0": "word"}, Limits(wall=45, cell=10), print, print)
    assert reporter._seconds() == 10
    words = dict.fromkeys(map(str, range(15)), "w")
    many = worker.Reporter(words, Limits(wall=45), print, print)
    assert many._seconds() == 10
    many.end -= 25
    assert 1.4 < many._seconds() < 1.6, "half of the time is shared out"


def test_an_overall_limit_stays(runner):
    own = "import time\n" + ENDLESS.format(0) + "\nwhile True: time.sleep(0.1)"
    short = Limits(wall=2, cell=8, cpu=30)
    outcome = runner.run(locked(own, own.replace("f0", "f1")), short)
    assert "01-e1" in outcome.reasons and outcome.stopped == "stopped after 2 s"
